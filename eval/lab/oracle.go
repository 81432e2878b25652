package lab

import (
	"fossick/crawler"
	"fossick/graph/orders"
	"fossick/internal/page"
)

// Oracles know the truth. They are no policies to use, but show how far there
// is to go. One is best-first with a perfect page classifier. One is a perfect
// judge of links, who still doesn't look further than one link.

// ParentOracle follows the links of pages that are truly on topic first, each
// class in order of discovery.
func ParentOracle() Policy {
	return Policy{"parent-oracle", true, func(r Run) (crawler.Options, error) {
		ordering, err := orders.OrderingByName("relevance")
		return crawler.Options{Scorer: oracle{r.Relevant, false}, Ordering: ordering}, err
	}}
}

// TargetOracle fetches targets that are truly on topic first, each class in order
// of discovery.
func TargetOracle() Policy {
	return Policy{"target-oracle", true, func(r Run) (crawler.Options, error) {
		ordering, err := orders.OrderingByName("relevance")
		return crawler.Options{Scorer: oracle{r.Relevant, true}, Ordering: ordering}, err
	}}
}

type oracle struct {
	relevant func(key uint64) bool
	target   bool
}

func (o oracle) ScorePage(p *page.Page, _ float64) crawler.Score {
	if o.relevant(page.Key(p.URL)) {
		return crawler.Score{Value: 1, Relevant: true}
	}
	return crawler.Score{}
}

func (o oracle) ScoreLinks(dst []float64, p *page.Page, s crawler.Score) []float64 {
	for i := range p.Links {
		score := s.Value
		if o.target {
			score = 0
			if o.relevant(page.Key(p.Links[i].URL)) {
				score = 1
			}
		}
		dst = append(dst, score)
	}
	return dst
}
