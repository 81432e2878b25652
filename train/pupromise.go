package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"fossick/internal/stats"
)

// Promise estimates a model's quality at its threshold from examples and a pool, with 95 % intervals.
type Promise struct {
	Precision   float64    `json:"precision"`
	PrecisionCI [2]float64 `json:"precision_ci"`
	Recall      float64    `json:"recall"`
	RecallCI    [2]float64 `json:"recall_ci"`
}

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
	p.doubt = p.shareCI()
	r.Promise = p.promise(p.scores, margin, false)
	if r.Precision+r.Recall > 0 {
		r.F1 = 2 * r.Precision * r.Recall / (r.Precision + r.Recall)
	}
	sites := p.sites()
	if r.Sites = len(sites); r.Sites < 2 {
		return r, nil
	}
	var err error
	r.Elsewhere, err = p.elsewhere(ctx, sites, margin)
	return r, err
}

// recall returns the share of the given pages at or above a margin, and its effective number of draws: with
// bySite, pages of one site are found or missed together.
func (p *pu) recall(scores []float64, margin float64, bySite bool) (share, draws float64) {
	units := make([]stats.Cluster, len(p.given)) // by the first page of each site; others empty
	first := map[string]int{}
	for k, i := range p.given {
		at := k
		if site := p.c.sites[i]; bySite && site != "" {
			if _, known := first[site]; !known {
				first[site] = k
			}
			at = first[site]
		}
		units[at].Of++
		if scores[i] >= margin {
			units[at].Hits++
		}
	}
	return stats.Effective(units)
}

func passing(pages []int, scores []float64, margin float64) (n float64) {
	for _, i := range pages {
		if scores[i] >= margin {
			n++
		}
	}
	return n
}

// promise estimates recall and precision at a margin from the held-out scores of given and pool pages.
// Recall is the share of the given pages at or above the margin, and precision
//
//	on · recall / found
//
// where on counts the pages on topic, and found all pages at or above the margin.
func (p *pu) promise(scores []float64, margin float64, bySite bool) Promise {
	recall, draws := p.recall(scores, margin, bySite)
	found := passing(p.given, scores, margin) + passing(p.pool, scores, margin)
	r := Promise{Recall: recall, Precision: 1, RecallCI: ofModel(recall, draws), PrecisionCI: [2]float64{0, 1}}
	switch {
	case found == 0:
		return r
	case recall == 0:
		r.Precision = 0 // with an interval of [0, 1]
		return r
	}
	on := func(share float64) float64 { return share*float64(len(p.pool)) + float64(len(p.given)) }
	r.Precision = min(1, on(p.share())*recall/found)
	r.PrecisionCI[0] = r.Precision * together(on(p.doubt[0])/on(p.share()), r.RecallCI[0]/recall)
	r.PrecisionCI[1] = min(1, r.Precision*together(on(p.doubt[1])/on(p.share()), r.RecallCI[1]/recall))
	return r
}

// modelSpread is the standard deviation, in log odds, of a share between models of different examples. It
// was chosen on topics that no reported figure uses.
const modelSpread = 0.75

// ofModel returns the interval of a share of so many draws, widened by modelSpread because the finished
// model is not one of those that held the draws out.
func ofModel(share, draws float64) [2]float64 {
	if draws == 0 {
		return [2]float64{0, 1}
	}
	p := (share*draws + 1) / (draws + 2) // not 0 or 1
	return stats.Score(share, 1/(1/draws+p*(1-p)*modelSpread*modelSpread))
}

// together returns by which factor the end of the interval of a product lies off, if those of its factors
// lie off by a and b and err independently. a and b are both below 1, or both above.
func together(a, b float64) float64 {
	d := math.Hypot(math.Log(a), math.Log(b))
	if a*b < 1 {
		d = -d
	}
	return math.Exp(d)
}

// Settings of shareCI: its draws, and the share of them on either side of the interval.
const (
	shareDraws = 1000
	shareTail  = 0.025
)

// shareCI returns the 95 % interval of share over the choice of the given pages (bootstrap).
func (p *pu) shareCI() [2]float64 {
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
	return [2]float64{min(p.share(), draws[at]), max(p.share(), draws[shareDraws-1-at])}
}

// sites returns the known sites of the given pages, in order of first appearance.
func (p *pu) sites() (sites []string) {
	for _, i := range p.given {
		if s := p.c.sites[i]; s != "" && !slices.Contains(sites, s) {
			sites = append(sites, s)
		}
	}
	return sites
}

// Sites are held out in at most sitesApart parts, which each label the pool in apartRounds rounds.
const (
	sitesApart  = 5
	apartRounds = 2
)

// elsewhere estimates the quality on sites without a given page. It holds out the given pages' sites, a part
// at a time, as spies in all rounds, because the pool's labels depend on the pages that are given.
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
			q.scores[i] = q.runs[at%n].scores[i] // the run without given pages of the site
		}
	}
	there := q.promise(q.scores, margin, true)
	there.PrecisionCI = q.apart(there.PrecisionCI, sites, margin)
	return &there, nil
}

// apart derives the precision's interval elsewhere: pages off topic may all be there, or none.
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
