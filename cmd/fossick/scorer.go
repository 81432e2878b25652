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

// Scorers of the crawler: package relevance scores, package classify labels.
// Neither knows the other, and the crawler knows neither.

// labeller labels pages by a topic's model.
type labeller struct {
	classifier *classify.Classifier
	class      int     // of the topic in the model
	cut        float64 // the model's decision threshold for it
}

// maxStoredRule is how many runes of a reason a page's record keeps: a rule of a
// lopsided tree can have a hundred conditions, those that hold first.
const maxStoredRule = 400

func newLabeller(t *models.Topic) (*labeller, error) {
	c, err := classify.New(t.Model)
	if err != nil {
		return nil, err
	}
	return &labeller{c, t.Model.Class(t.Name), t.Model.Threshold(t.Name)}, nil
}

// label writes the model's opinion of p into score and returns the probability
// of the topic.
func (l *labeller) label(p *page.Page, score *crawler.Score) float64 {
	result, why := l.classifier.ClassifyAndExplain(features.Doc(p.Fields()))
	score.Label, score.Probability, score.Rule = result.Label, result.Score, clean(why, maxStoredRule)
	probability := result.Probs[l.class]
	score.Relevant = probability >= l.cut
	return probability
}

// judge is the model's opinion of any text.
func (l *labeller) judge(d features.Doc) float64 {
	return l.classifier.Score(d, l.classifier.Model().Classes[l.class])
}

// paperScorer orders by R; the model, if there is one, only labels.
type paperScorer struct {
	degree    *relevance.Paper
	threshold float64 // of R, for relevance without a model
	labeller  *labeller
}

func (s *paperScorer) ScorePage(p *page.Page, parent float64) crawler.Score {
	r := s.degree.ScorePage(p, parent)
	score := crawler.Score{Value: r.Value, Relevant: r.Value >= s.threshold, Terms: storeTerms(r.Terms)}
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

// learnedScorer orders by what the model's labels teach while the crawl goes on.
type learnedScorer struct {
	learned  *relevance.Learned
	labeller *labeller
}

func newLearnedScorer(l *labeller) *learnedScorer {
	return &learnedScorer{relevance.NewLearned(l.judge, l.cut), l}
}

func (s *learnedScorer) ScorePage(p *page.Page, _ float64) crawler.Score {
	var score crawler.Score
	r := s.learned.ScorePage(p, s.labeller.label(p, &score))
	score.Value, score.Terms = r.Value, storeTerms(r.Terms)
	return score
}

func (s *learnedScorer) ScoreLinks(dst []float64, p *page.Page, score crawler.Score) []float64 {
	return s.learned.ScoreLinks(dst, p, score.Value)
}

func (s *learnedScorer) ScoreUnlinked(url string, _ float64) float64 {
	return s.learned.ScoreUnlinked(url)
}

func (s *learnedScorer) Rescore(key uint64) (float64, bool) { return s.learned.Rescore(key) }

func storeTerms(terms []relevance.Term) []store.Term {
	out := make([]store.Term, len(terms))
	for i, t := range terms {
		out[i] = store.Term(t)
	}
	return out
}
