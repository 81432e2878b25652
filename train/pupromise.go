package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"fossick/internal/stats"
)

// Promise says how well a model will do at its threshold, as far as good examples can
// tell, with 95 % intervals.
type Promise struct {
	Precision, Recall     float64
	PrecisionCI, RecallCI [2]float64
}

// told sums up.
func (p *pu) told(ctx context.Context) (*PU, error) {
	r := &PU{Given: len(p.given), Pool: len(p.pool), Share: p.share()}
	for _, i := range p.pool {
		switch {
		case p.use[i] && p.c.y[i] == p.topic:
			r.Taken++
		case p.use[i]:
			r.Reliable++
		}
	}
	margin := p.cut(p.scores)
	r.Promise = p.promise(p.scores, margin, len(p.given))
	if r.Precision+r.Recall > 0 {
		r.F1 = 2 * r.Precision * r.Recall / (r.Precision + r.Recall)
	}
	sites := p.sites()
	if r.Sites = len(sites); r.Sites < 2 {
		return r, nil
	}
	scores, err := p.elsewhere(ctx, sites)
	if err != nil {
		return nil, err
	}
	there := p.promise(scores, margin, r.Sites)
	r.Elsewhere = &there
	return r, nil
}

// sites returns the known sites of the given pages, in the order of their first page.
func (p *pu) sites() (sites []string) {
	for _, i := range p.given {
		if s := p.c.sites[i]; s != "" && !slices.Contains(sites, s) {
			sites = append(sites, s)
		}
	}
	return sites
}

// sitesApart is the most parts in which the given pages' sites are held out.
const sitesApart = 5

// elsewhere scores all pages by classifiers that had no page of their site, as far as
// the site is one of the given pages'. A page of another site is held out at random.
func (p *pu) elsewhere(ctx context.Context, sites []string) ([]float64, error) {
	n := min(sitesApart, len(sites))
	rng := rand.New(rand.NewPCG(uint64(p.opt.Seed), 0x517e))
	part := dealEvenly(make([]int, len(p.c.y)), 1, n, rng)
	all := slices.Concat(p.given, p.pool)
	for _, i := range all {
		if at := slices.Index(sites, p.c.sites[i]); at >= 0 {
			part[i] = at % n
		}
	}
	labelled := p.labelled()
	scores := make([]float64, len(p.scores))
	p.opt.step("judging by sites that are held out")
	err := parallel(ctx, p.c.room.folds(), n, func(ctx context.Context, k int) error {
		var in []int
		for _, i := range labelled {
			if part[i] != k {
				in = append(in, i)
			}
		}
		f, err := p.how.learner.fit(ctx, p.c, in, p.opt.fitting())
		if err != nil {
			return err
		}
		for _, i := range all {
			if part[i] == k {
				scores[i] = p.margin(f, i)
			}
		}
		return nil
	})
	return scores, err
}

// promise is what held-out scores say of a margin, of the pool's pages and the given
// ones together. Recall is the part of the given pages above it, and precision
//
//	on · recall / found
//
// on being the pages on topic and found all that are above. units is how many of the
// given pages are chance's: pages of one site that is held out are found or missed
// together.
func (p *pu) promise(scores []float64, margin float64, units int) Promise {
	hits, found := 0.0, 0.0
	for _, i := range p.given {
		if scores[i] >= margin {
			hits++
		}
	}
	for _, i := range p.pool {
		if scores[i] >= margin {
			found++
		}
	}
	found += hits
	given, pool := float64(len(p.given)), float64(len(p.pool))
	r := Promise{Recall: hits / given, Precision: 1, PrecisionCI: [2]float64{0, 1}}
	r.RecallCI = stats.Wilson(int(math.Round(r.Recall*float64(units))), units)
	if found > 0 {
		low, high := p.shareCI()
		right := func(share, recall float64) float64 { return min(1, (share*pool+given)*recall/found) }
		r.Precision = right(p.share(), r.Recall)
		r.PrecisionCI = [2]float64{right(low, r.RecallCI[0]), right(high, r.RecallCI[1])}
	}
	return r
}

// Of shareCI: draws, and the parts of them below and above the interval.
const (
	shareDraws = 1000
	shareTail  = 0.025
)

// shareCI is the 95 % interval of share that the choice of the given pages makes
// (bootstrap).
func (p *pu) shareCI() (low, high float64) {
	above := p.above()
	rng := rand.New(rand.NewPCG(uint64(p.opt.Seed), 0xc1))
	draws, again := make([]float64, shareDraws), make([]float64, len(above))
	for d := range draws {
		for k := range again {
			again[k] = above[rng.IntN(len(above))]
		}
		slices.Sort(again)
		draws[d] = shareOf(again)
	}
	slices.Sort(draws)
	at := int(math.Round(shareTail * shareDraws))
	return min(p.share(), draws[at]), max(p.share(), draws[shareDraws-1-at])
}
