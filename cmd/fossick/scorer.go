package main

import (
	"fossick/classify"
	"fossick/crawler"
	"fossick/features"
	"fossick/models"
	"fossick/page"
	"fossick/relevance"
	"fossick/store"
)

// pageScorer is the crawler's Scorer: R from package relevance, the label from
// package classify. Neither knows the other, and the crawler knows neither.
type pageScorer struct {
	degree    *relevance.Paper
	threshold float64 // of R, for relevance without a model

	classifier *classify.Classifier // nil without a model
	class      int                  // of the topic in the model
	cut        float64              // the model's decision threshold for it
}

func newScorer(degree *relevance.Paper, t *models.Topic, threshold float64) (*pageScorer, error) {
	s := &pageScorer{degree: degree, threshold: threshold}
	if t.Model == nil {
		return s, nil
	}
	var err error
	if s.classifier, err = classify.New(t.Model); err != nil {
		return nil, err
	}
	s.class, s.cut = t.Model.Class(t.Name), t.Model.Threshold(t.Name)
	return s, nil
}

func (s *pageScorer) ScorePage(p *page.Page, parent float64) crawler.Score {
	r := s.degree.ScorePage(p, parent)
	score := crawler.Score{Value: r.Value, Relevant: r.Value >= s.threshold}
	for _, t := range r.Terms {
		score.Terms = append(score.Terms, store.Term{Name: t.Name, Value: t.Value, Note: t.Note})
	}
	if s.classifier != nil {
		result := s.classifier.Classify(features.Doc(p.Fields()))
		score.Label, score.Probability = result.Label, result.Score
		score.Relevant = result.Probs[s.class] >= s.cut
	}
	return score
}

func (s *pageScorer) ScoreLinks(dst []float64, p *page.Page, score crawler.Score) []float64 {
	return s.degree.ScoreLinks(dst, p, score.Value)
}
