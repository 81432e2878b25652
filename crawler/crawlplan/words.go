package crawlplan

import (
	"fossick/classify"
	"fossick/crawler"
	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance/learned"
)

// A page is cut into words once, by the model's extractor, which reads along
// for the scorer and judges the words around each link. This file hands what
// comes of it from one to the other.

// reader is judge with the words of the text; nil where the model's answers are
// remembered, for then nothing is cut.
func (l *Labeller) reader() learned.Reader {
	if l.memo != nil {
		return nil
	}
	return func(d features.Doc, words []uint32) (float64, []uint32) {
		return l.classifier.ScoreWords(d, l.class, words)
	}
}

// wordScorer scores pages by the words that the model read.
type wordScorer struct {
	policy *learned.Scorer
	spare  *features.Spare[classify.Reading]
}

// newWordScorer returns nil where no model cuts pages anew.
func newWordScorer(p *learned.Scorer, l *Labeller) *wordScorer {
	if l.memo != nil {
		return nil
	}
	return &wordScorer{p, features.NewSpare(func() *classify.Reading { return new(classify.Reading) })}
}

// scorePage labels a page and scores it by what the model read.
func (s *wordScorer) scorePage(l *Labeller, p *page.Page) (score crawler.Score) {
	reading := s.spare.Get()
	defer s.spare.Put(reading)
	around := learned.Around{Wanted: s.policy.Wanted(nil, p)}
	contexts := func(yield func(classify.Part) bool) {
		for i, wanted := range around.Wanted {
			var part classify.Part
			if at := p.Links[i].Around; wanted {
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
	score.Value, score.Terms, score.Account, score.Echo, score.Giver = r.Value, Terms(r.Terms), r.Account, r.Echo, r.Giver
	l.heed(&score, probability, r.Value)
	return score
}
