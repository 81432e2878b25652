package main

import (
	"sync"

	"fossick/classify"
	"fossick/crawler"
	"fossick/features"
	"fossick/internal/printable"
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
	class      int       // of the topic in the model
	cut        float64   // the model's decision threshold for it
	large      sync.Once // of atLarge
	atLarge    *relevance.Background
	taught     sync.Once // of lessons
	lessons    *relevance.Lesson
	memo       *memo // of what it said before; nil where each text comes once
}

// maxStoredRule is how many runes of a reason a page's record keeps: a rule of a
// lopsided tree can have a hundred conditions, those that hold first.
const maxStoredRule = 400

func newLabeller(t *models.Topic) (*labeller, error) {
	c, err := classify.NewReading(t.Model, relevance.Words())
	if err != nil {
		return nil, err
	}
	return &labeller{classifier: c, class: t.Model.Class(t.Name), cut: t.Model.Threshold(t.Name)}, nil
}

// label writes the model's opinion of p into score and returns the probability
// of the topic.
func (l *labeller) label(p *page.Page, score *crawler.Score) float64 {
	if l.memo != nil {
		return l.memo.label(l, p, score)
	}
	result, why := l.classifier.ClassifyAndExplain(features.Doc(p.Fields()))
	return l.note(score, result, why)
}

// note writes what the model says into score.
func (l *labeller) note(score *crawler.Score, r classify.Result, why string) (probability float64) {
	score.Label, score.Probability, score.Rule = r.Label, r.Score, printable.Cut(why, maxStoredRule)
	probability = r.Probs[l.class]
	score.Relevant = probability >= l.cut
	return probability
}

// judge is the model's opinion of any text.
func (l *labeller) judge(d features.Doc) float64 {
	if l.memo != nil {
		return l.memo.judge(l, d)
	}
	return l.score(d)
}

func (l *labeller) score(d features.Doc) float64 {
	return l.classifier.Score(d, l.classifier.Model().Classes[l.class])
}

// heed lets a page count as on topic by what people's labels made of the model's
// probability.
func (l *labeller) heed(score *crawler.Score, probability, corrected float64) {
	if l != nil && corrected != probability {
		score.Relevant = corrected >= l.cut
	}
}

// policyScorer orders by a policy of package relevance. Without a model a page's
// similarity to the topic is the share of the keywords that it has.
type policyScorer struct {
	policy    relevance.Policy
	labeller  *labeller
	keywords  *relevance.Keywords
	threshold float64     // of the similarity, for relevance without a model
	words     *wordScorer // of a policy that learns words, where pages come once
}

func (s *policyScorer) ScorePage(p *page.Page, parent float64) crawler.Score {
	s.start(p, parent)
	if s.words != nil {
		return s.words.scorePage(s.labeller, p)
	}
	var score crawler.Score
	var similarity float64
	if s.labeller != nil {
		similarity = s.labeller.label(p, &score)
	} else {
		similarity = float64(len(s.keywords.Found(p))) / float64(s.keywords.Len())
		score.Relevant = similarity >= s.threshold
	}
	r := s.policy.ScorePage(p, similarity)
	score.Value, score.Terms, score.Account = r.Value, storeTerms(r.Terms), r.Account
	s.labeller.heed(&score, similarity, r.Value)
	return score
}

func (s *policyScorer) ScoreLinks(dst []float64, p *page.Page, score crawler.Score) []float64 {
	return s.policy.ScoreLinks(dst, p, score.Value)
}

func (s *policyScorer) ScoreUnlinked(url string, parent float64) float64 {
	if u, ok := s.policy.(relevance.Unlinked); ok {
		return u.ScoreUnlinked(url)
	}
	return parent
}

// rescoringScorer is one whose scores of waiting URLs change.
type rescoringScorer struct {
	policyScorer
	rescorer relevance.Rescorer
}

func (s *rescoringScorer) Rescore(key uint64) (float64, bool) { return s.rescorer.Rescore(key) }

// Expect is for scorers that are quicker for it.
func (s *rescoringScorer) Expect(keys []uint64) {
	if e, ok := s.rescorer.(interface{ Expect(keys []uint64) }); ok {
		e.Expect(keys)
	}
}

// learnedScorer learns from what people say as well.
type learnedScorer struct {
	rescoringScorer
	learned *relevance.Learned
}

// Promise is for what a crawl journals.
func (s *learnedScorer) Promise(key uint64) (float64, bool) { return s.learned.Promise(key) }

func (s *learnedScorer) Mark(marks []crawler.Marked) {
	said := make([]relevance.Marked, len(marks))
	for i, m := range marks {
		said[i] = relevance.Marked(m)
	}
	s.learned.Mark(said)
}

// Explain returns the present opinion of a URL, if there is one.
func (s *learnedScorer) Explain(url string) (crawler.Score, bool) {
	r, ok := s.learned.Explain(url)
	return crawler.Score{Value: r.Value, Terms: storeTerms(r.Terms)}, ok
}

func storeTerms(terms []relevance.Term) []store.Term {
	out := make([]store.Term, len(terms))
	for i, t := range terms {
		out[i] = store.Term(t)
	}
	return out
}
