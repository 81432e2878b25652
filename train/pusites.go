package train

import (
	"context"
	"math"
)

// evenSites is a linear classifier of terms weighed by the geometric mean of idf and log
// odds, in which each site of the topic's pages counts alike. Log odds of a few pages are
// half chance; idf does not ask what is on topic. A word that stands on all pages of one site is the
// site's. It is no better a sign of the topic than one that a single page of each has.
type evenSites struct {
	linear
	topic int // class
}

func (e evenSites) fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	f := c.weighed(pages, by.selection, true)
	f.settings["term_weights"] = "log odds and idf, sites alike"
	f.evenOut(c, pages, e.topic)
	for k, idf := range c.weighed(pages, by.selection, false).weighting.IDF {
		f.weighting.IDF[k] = float32(math.Sqrt(float64(f.weighting.IDF[k] * idf)))
	}
	return e.solve(ctx, c, f, pages, by)
}

// evenOut weighs each term by the log odds ratio of features.Counts.LogOdds, where the
// share of the topic's pages that have it is the mean of its sites' shares.
func (f *fitted) evenOut(c *corpus, pages []int, topic int) {
	shares, rest := f.siteShares(c, pages, topic), make([]float64, len(f.kept))
	var own float64
	for _, p := range pages {
		if c.y[p] == topic {
			own++
			continue
		}
		for _, t := range c.rows[p].Index {
			if k := f.number[t]; k >= 0 {
				rest[k]++
			}
		}
	}
	others := float64(len(pages)) - own
	if own == 0 || others == 0 {
		return
	}
	r := others / own
	for k, share := range shares {
		p, q := (share*own+1)/(own+2), (rest[k]+r)/(others+2*r)
		f.weighting.IDF[k] = float32(math.Abs(math.Log(p * (1 - q) / (q * (1 - p)))))
	}
}

// siteShares returns by term on what share of a class's pages it stands, each site
// counting alike; a page of an unknown site is one of its own.
func (f *fitted) siteShares(c *corpus, pages []int, class int) []float64 {
	of := map[string]float64{}
	sites := 0.0
	for _, p := range pages {
		if c.y[p] != class {
			continue
		}
		if of[c.sites[p]]++; c.sites[p] == "" || of[c.sites[p]] == 1 {
			sites++
		}
	}
	of[""] = 1
	shares := make([]float64, len(f.kept))
	for _, p := range pages {
		if c.y[p] != class {
			continue
		}
		for _, t := range c.rows[p].Index {
			if k := f.number[t]; k >= 0 {
				shares[k] += 1 / of[c.sites[p]] / sites
			}
		}
	}
	return shares
}
