package known

import (
	"fossick/internal/page"
	"fossick/relevance"
)

// BestFirst gives a link what the page that has it is worth (Cho, Garcia-Molina and
// Page 1998; the baseline of Menczer, Pant and Srinivasan 2004). Among several pages
// the best counts: see frontier's ordering by relevance.
type BestFirst struct{}

// ScorePage returns the similarity.
func (BestFirst) ScorePage(_ *page.Page, similarity float64) relevance.Score {
	return relevance.Score{Value: similarity, Terms: []relevance.Term{{Name: "similarity", Value: similarity, Note: "to the topic; the score of its links"}}}
}

// ScoreLinks appends the page's similarity for every link.
func (BestFirst) ScoreLinks(dst []float64, p *page.Page, similarity float64) []float64 {
	for range p.Links {
		dst = append(dst, similarity)
	}
	return dst
}
