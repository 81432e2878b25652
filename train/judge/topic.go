package judge

import (
	"cmp"
	"slices"

	"fossick/classify"
	"fossick/internal/printable"
	"fossick/internal/usage"
	"fossick/models"
	"fossick/models/features"
)

// Topic is a model's word on whether pages are of a topic. Safe for concurrent use.
type Topic struct {
	Name  string
	Cut   float64 // the probability from which on a page is on topic
	Known Trained // of the pages it was asked for

	classifier *classify.Classifier
	class      int
}

// NewTopic judges by one of a model's labels: the one asked for, else the one called
// fallback, else an error lists them. path is the model's name for people.
func NewTopic(c *classify.Classifier, path, asked, fallback string) (*Topic, error) {
	m := c.Model()
	name, err := labelOf(m, path, asked, fallback)
	if err != nil {
		return nil, err
	}
	return &Topic{Name: name, Cut: m.Threshold(name), Known: Trained{Card: &m.Card}, classifier: c, class: m.Class(name)}, nil
}

func labelOf(m *models.Model, path, asked, fallback string) (string, error) {
	labels := printable.SomeNames(cmp.Or(asked, fallback), m.Classes)
	switch {
	case slices.Contains(m.Classes, asked):
		return asked, nil
	case asked != "":
		return "", usage.Errorf("label %q is not one of the model's; %s has %s", asked, path, labels)
	case slices.Contains(m.Classes, fallback):
		return fallback, nil
	}
	return "", usage.Errorf("the crawl's topic %q is not one of the model's labels; give one with --topic, in eval with --target: %s has %s", fallback, path, labels)
}

// Probability returns the topic's, and the most probable of the other classes, "" when
// there is none. unknown says why the model cannot tell, "" when it can; such a page is not
// on topic.
func (t *Topic) Probability(d features.Doc) (p float64, rest, unknown string) {
	t.Known.look(d)
	r := t.classifier.Classify(d)
	probs := r.Probs
	best := -1
	for i, p := range probs {
		if i != t.class && (best < 0 || p > probs[best]) {
			best = i
		}
	}
	if best >= 0 {
		rest = t.classifier.Model().Classes[best]
	}
	return probs[t.class], rest, r.Unknown
}

// Relevant says whether a page is on topic.
func (t *Topic) Relevant(d features.Doc) bool {
	p, _, unknown := t.Probability(d)
	return p >= t.Cut && unknown == ""
}
