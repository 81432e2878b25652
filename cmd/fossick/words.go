package main

import (
	"fossick/crawler"
	"fossick/features"
	"fossick/page"
	"fossick/relevance"
)

// A page is cut into words once, by the model's extractor, which reads along for the
// scorer: this file hands the words from one to the other.

// reader is judge with the words of the text; nil where the model's answers are
// remembered, for then nothing is cut.
func (l *labeller) reader() relevance.Reader {
	if l.memo != nil {
		return nil
	}
	return func(d features.Doc, words []uint32) (float64, []uint32) {
		return l.classifier.ScoreWords(d, l.class, words)
	}
}

// wordScorer scores pages for a policy that learns words.
type wordScorer struct {
	policy relevance.WordScorer
	spare  *features.Spare[[]uint32] // words of a page
}

// newWordScorer returns nil for a policy that learns no words, and where no model
// cuts pages anew.
func newWordScorer(p relevance.Policy, l *labeller) *wordScorer {
	policy, learns := p.(relevance.WordScorer)
	if !learns || l == nil || l.memo != nil {
		return nil
	}
	return &wordScorer{policy, features.NewSpare(func() *[]uint32 { return new([]uint32) })}
}

// scorePage labels a page and scores it by what the model read.
func (s *wordScorer) scorePage(l *labeller, p *page.Page) (score crawler.Score) {
	words := s.spare.Get()
	defer s.spare.Put(words)
	result, why, read := l.classifier.ClassifyWords(features.Doc(p.Fields()), (*words)[:0])
	*words = read
	probability := l.note(&score, result, why)
	r := s.policy.ScoreWords(p, probability, read)
	score.Value, score.Terms = r.Value, storeTerms(r.Terms)
	l.heed(&score, probability, r.Value)
	return score
}
