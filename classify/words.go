package classify

import (
	"iter"

	"fossick/models"
	"fossick/models/features"
)

// NewReading is New with a second reader of each text, so that it is cut into words
// once. Read and ScoreWords have what was read.
func NewReading(m *models.Model, also features.Also) (*Classifier, error) {
	return newClassifier(m, &also)
}

// Reading is what else one cut of a page gives. Its slices are used again by Read.
type Reading struct {
	Words []uint32  // what the second reader has of title, description and text, without most repeats
	Parts []float64 // of each part the probability of the class asked for

	PartWords []uint32 // what the second reader has of all parts, one after the other
	PartEnds  []int    // where the words of each part end
}

// Part is a part of a page's text. Around says where its words are, those before and
// those behind something; the zero value: Text is not from there, or empty.
type Part struct {
	Text   string
	Around [2]features.Span
}

// Read labels a page and says why, as ClassifyAndExplain does, and leaves in r
// what else there is to know. That is the words, and of each part what Score
// says for the class with the number given. Score is asked of a Doc with the
// part as its Text and the page's language.
func (c *Classifier) Read(r *Reading, d features.Doc, class int, parts iter.Seq[Part]) (Result, string) {
	s := c.spare.Get()
	defer c.spare.Put(s)
	s.terms, r.Words = s.x.CountAndKeep(s.terms, r.Words[:0], d)
	c.judge(s, d.Lang)
	best := s.best()
	result, why := c.result(s, best), c.explain(s, best)
	r.Parts, r.PartWords, r.PartEnds = r.Parts[:0], r.PartWords[:0], r.PartEnds[:0]
	silence, silent := 0.0, false // what is said of no words; most parts have none
	for part := range parts {
		switch {
		case part == (Part{}) && silent:
			r.Parts, r.PartEnds = append(r.Parts, silence), append(r.PartEnds, len(r.PartWords))
			continue
		case part.Around == [2]features.Span{}:
			s.terms, r.PartWords = s.x.CountBoth(s.terms, r.PartWords, features.Doc{Text: part.Text, Lang: d.Lang})
		default:
			s.terms, r.PartWords = s.x.CountAround(s.terms, r.PartWords, d.Text, d.Lang, part.Around)
		}
		r.PartEnds = append(r.PartEnds, len(r.PartWords))
		c.weigh(s)
		r.Parts = append(r.Parts, s.probs[class])
		if part == (Part{}) {
			silence, silent = s.probs[class], true
		}
	}
	return result, why
}

// ScoreWords returns the probability that a text is of the class of that number. It
// appends to words what the second reader has of it.
func (c *Classifier) ScoreWords(d features.Doc, class int, words []uint32) (float64, []uint32) {
	s := c.spare.Get()
	defer c.spare.Put(s)
	s.terms, words = s.x.CountBoth(s.terms, words, d)
	c.weigh(s)
	return s.probs[class], words
}
