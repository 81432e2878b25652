package importer

import (
	"fossick/crawler"
	"fossick/internal/page"
)

// labels gives pages the labels that the set has for them. It is no judge: nothing is on
// topic, and no link is worth anything.
type labels struct{ web *web }

// ScorePage implements crawler.Scorer.
func (l *labels) ScorePage(p *page.Page, _ float64) crawler.Score {
	label := l.web.labelOf(p.URL)
	if label == "" {
		return crawler.Score{}
	}
	return crawler.Score{Label: label, Probability: 1, Rule: "the source of the import has it so"}
}

// ScoreLinks implements crawler.Scorer.
func (l *labels) ScoreLinks(dst []float64, p *page.Page, _ crawler.Score) []float64 {
	return append(dst, make([]float64, len(p.Links))...)
}
