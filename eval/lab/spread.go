package lab

import (
	"fossick/eval"
	"fossick/internal/stats"
)

// Spread is over how many hosts a policy's crawls went, in the mean; see
// eval.Reach for what an effective number is.
type Spread struct {
	Hosts             Mean
	Relevant          Mean // hosts with a page on topic
	Sites             Mean
	Effective         Mean // number of hosts, of the pages fetched
	EffectiveRelevant Mean // number of hosts, of the pages on topic
	Capped            []Capped
}

// Capped is the harvest of the same crawls when no more than Cap pages of a host
// count, the first ones.
type Capped struct {
	Cap     int
	Pages   Mean // that count
	Harvest Mean
}

// caps are the caps that the harvest is counted by, in pages a host.
var caps = [...]int{1, 10, 100}

// spread measures crawls of at most limit pages each.
func spread(crawls []*Crawl, limit int) Spread {
	var s Spread
	reach := make([]eval.Reach, len(crawls))
	for i, c := range crawls {
		n := min(limit, len(c.URLs))
		reach[i] = eval.ReachOf(c.URLs[:n], c.Relevant[:n], caps[:])
	}
	over := func(of func(r eval.Reach) float64) Mean {
		x := make([]float64, len(reach))
		for i, r := range reach {
			x[i] = of(r)
		}
		return stats.MeanOf(x)
	}
	s.Hosts = over(func(r eval.Reach) float64 { return float64(r.Hosts) })
	s.Relevant = over(func(r eval.Reach) float64 { return float64(r.Relevant) })
	s.Sites = over(func(r eval.Reach) float64 { return float64(r.Sites) })
	s.Effective = over(func(r eval.Reach) float64 { return orZero(r.Effective) })
	s.EffectiveRelevant = over(func(r eval.Reach) float64 { return orZero(r.EffectiveRelevant) })
	for k, n := range caps {
		s.Capped = append(s.Capped, Capped{
			Cap: n, Pages: over(func(r eval.Reach) float64 { return float64(r.Capped[k].Pages) }),
			Harvest: over(func(r eval.Reach) float64 { return orZero(r.Capped[k].Harvest) }),
		})
	}
	return s
}

// orZero counts what no page tells of as none.
func orZero(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}
