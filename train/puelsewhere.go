package train

import (
	"context"
	"slices"
)

// sites returns the known sites of the given pages, in the order of their first page.
func (p *pu) sites() (sites []string) {
	for _, i := range p.given {
		if s := p.c.sites[i]; s != "" && !slices.Contains(sites, s) {
			sites = append(sites, s)
		}
	}
	return sites
}

// sitesApart is the most parts in which the given pages' sites are held out, and
// apartRounds how often each parts the pool.
const (
	sitesApart  = 5
	apartRounds = 2
)

// elsewhere is the promise for sites without a given page. The sites of the given pages
// are held out, a part of them at a time: their pages are spies all the way, for what the
// pool's pages were taken for rests on the given ones. How much is on topic is known
// from the other spies, for whole sites hidden in the pool make it seem too much.
func (p *pu) elsewhere(ctx context.Context, sites []string, margin float64) (*Promise, error) {
	q := *p
	n := min(sitesApart, len(sites))
	q.spyOf, q.runs, q.scores = slices.Clone(p.spyOf), nil, make([]float64, len(p.scores))
	for k, i := range p.given {
		q.spyOf[i] = k % n
		if at := slices.Index(sites, p.c.sites[i]); at >= 0 {
			q.spyOf[i] = at % n
		}
	}
	for k := range n {
		q.runs = append(q.runs, q.hide(k))
	}
	p.opt.step("judging by sites that are held out")
	for round := range apartRounds {
		if err := q.judge(ctx); err != nil {
			return nil, err
		}
		q.partRuns(round)
	}
	if err := q.judge(ctx); err != nil {
		return nil, err
	}
	q.collect()
	for _, i := range p.pool {
		if at := slices.Index(sites, p.c.sites[i]); at >= 0 {
			q.scores[i] = q.runs[at%n].scores[i] // the run that knows no page of the site
		}
	}
	there := q.promise(q.scores, margin, true)
	there.PrecisionCI = q.apart(there.PrecisionCI, sites, margin)
	return &there, nil
}

// apart is what the interval of the precision of all pages leaves to those of other sites
// than some. All that is not on topic may be there, or all that is.
func (p *pu) apart(all [2]float64, sites []string, margin float64) [2]float64 {
	var here, there float64
	for _, i := range slices.Concat(p.given, p.pool) {
		switch {
		case p.scores[i] < margin:
		case slices.Contains(sites, p.c.sites[i]):
			here++
		default:
			there++
		}
	}
	if there == 0 {
		return [2]float64{0, 1}
	}
	return [2]float64{max(0, all[0]*(here+there)-here) / there, min(1, all[1]*(here+there)/there)}
}
