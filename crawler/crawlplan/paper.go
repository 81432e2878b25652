package crawlplan

import (
	"fossick/crawler"
	"fossick/internal/page"
	"fossick/internal/usage"
	"fossick/relevance"
)

// degree is paper A's degree of relevance: relevance.Paper, or PaperMean.
type degree interface {
	ScorePage(p *page.Page, parent float64) relevance.Score
	ScoreLinks(dst []float64, p *page.Page, r float64) []float64
	ScoreUnlinked(parent float64) float64
}

// paperScorer orders by R; the model, if there is one, only labels.
type paperScorer struct {
	degree    degree
	threshold float64 // of R, for relevance without a model
	labeller  *Labeller
}

func (s *paperScorer) ScorePage(p *page.Page, parent float64) crawler.Score {
	r := s.degree.ScorePage(p, parent)
	score := crawler.Score{Value: r.Value, Relevant: r.Value >= s.threshold, Terms: Terms(r.Terms)}
	if s.labeller != nil {
		s.labeller.label(p, &score)
	}
	return score
}

func (s *paperScorer) ScoreLinks(dst []float64, p *page.Page, score crawler.Score) []float64 {
	return s.degree.ScoreLinks(dst, p, score.Value)
}

func (s *paperScorer) ScoreUnlinked(_ string, parent float64) float64 {
	return s.degree.ScoreUnlinked(parent)
}

// paperMeanScorer is one whose scores of waiting URLs change with each page that links
// to them.
type paperMeanScorer struct {
	paperScorer
	mean *relevance.PaperMean
}

func (s *paperMeanScorer) Rescore(key uint64) (float64, bool) { return s.mean.Rescore(key) }

func buildPaper(in Input) (crawler.Scorer, error) {
	p, err := relevance.NewPaper(in.Keywords, in.Rho)
	if err != nil {
		return nil, usage.Errorf("--rho: %w", err)
	}
	return &paperScorer{degree: p, threshold: in.Threshold, labeller: in.Labeller}, nil
}

func buildPaperMean(in Input) (crawler.Scorer, error) {
	p, err := relevance.NewPaperMean(in.Keywords, in.Rho)
	if err != nil {
		return nil, usage.Errorf("--rho: %w", err)
	}
	return &paperMeanScorer{paperScorer{degree: p, threshold: in.Threshold, labeller: in.Labeller}, p}, nil
}
