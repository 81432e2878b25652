package classify

import (
	"fossick/features"
	"fossick/models"
)

// NewReading is New with a second reader of each text, so that it is cut into words
// once: what it reads is had by ClassifyWords and ScoreWords.
func NewReading(m *models.Model, also features.Also) (*Classifier, error) {
	return newClassifier(m, &also)
}

// ClassifyWords is ClassifyAndExplain, and appends to words what the second reader
// has of title, description and text.
func (c *Classifier) ClassifyWords(d features.Doc, words []uint32) (Result, string, []uint32) {
	s := c.spare.Get()
	defer c.spare.Put(s)
	s.terms, words = s.x.CountBoth(s.terms, words, d)
	c.weigh(s)
	best := s.best()
	return c.result(s, best), c.explain(s, best), words
}

// ScoreWords returns the probability that a text is of the model's class with the
// number given, and appends to words what the second reader has of it.
func (c *Classifier) ScoreWords(d features.Doc, class int, words []uint32) (float64, []uint32) {
	s := c.spare.Get()
	defer c.spare.Put(s)
	s.terms, words = s.x.CountBoth(s.terms, words, d)
	c.weigh(s)
	return s.probs[class], words
}
