package main

import (
	"fossick/classify"
	"fossick/crawler"
	"fossick/features"
	"fossick/page"
	"fossick/relevance"
)

// A page is cut into words once, by the model's extractor, which reads along for the
// scorer and judges the words around each link: this file hands what comes of it from
// one to the other.

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
	spare  *features.Spare[classify.Reading]
}

// newWordScorer returns nil for a policy that learns no words, and where no model
// cuts pages anew.
func newWordScorer(p relevance.Policy, l *labeller) *wordScorer {
	policy, learns := p.(relevance.WordScorer)
	if !learns || l == nil || l.memo != nil {
		return nil
	}
	return &wordScorer{policy, features.NewSpare(func() *classify.Reading { return new(classify.Reading) })}
}

// scorePage labels a page and scores it by what the model read.
func (s *wordScorer) scorePage(l *labeller, p *page.Page) (score crawler.Score) {
	reading := s.spare.Get()
	defer s.spare.Put(reading)
	around := relevance.Around{Listens: s.policy.Listens(nil, p)}
	contexts := func(yield func(classify.Part) bool) {
		for i, listens := range around.Listens {
			var part classify.Part
			if at := p.Links[i].Around; listens {
				part = classify.Part{Text: p.Links[i].Context, Around: [2]features.Span{features.Span(at[0]), features.Span(at[1])}}
			}
			if !yield(part) {
				return
			}
		}
	}
	result, why := l.classifier.Read(reading, features.Doc(p.Fields()), l.class, contexts)
	probability := l.note(&score, result, why)
	around.Judged, around.Words, around.Ends = reading.Parts, reading.PartWords, reading.PartEnds
	r := s.policy.ScoreWords(p, probability, reading.Words, &around)
	score.Value, score.Terms, score.Account = r.Value, storeTerms(r.Terms), r.Account
	l.heed(&score, probability, r.Value)
	return score
}
