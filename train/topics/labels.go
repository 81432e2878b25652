package topics

import (
	"slices"
	"strings"

	"fossick/datasets"
	"fossick/internal/printable"
	"fossick/internal/usage"
	"fossick/train"
)

// Labels that people give to the pages on any topic, and to the pages off it.
var (
	yesWords = []string{"yes", "y", "pos", "positive", "positives", "relevant", "true", "1", "+1", "on", "on-topic", "ontopic", "good"}
	noWords  = []string{"no", "n", "neg", "negative", "negatives", "irrelevant", "not-relevant", "nonrelevant", "non-relevant", "false", "0", "-1", "off", "off-topic", "offtopic", "bad", train.Other}
)

// sides are the labels of a set of examples, sorted by what they say of the topic.
type sides struct {
	named  bool           // some row has the topic's own label
	yes    bool           // some row has a label of yesWords
	no     bool           // some row has a label of noWords
	mixed  bool           // some row has labels of neither kind, or of both
	labels map[string]int // rows of each first label
}

// says tells whether one of a row's labels says that the row is on topic, or off.
func says(e *datasets.Example, words []string) bool {
	return slices.ContainsFunc(append([]string{e.Label}, e.Labels...), func(label string) bool {
		plain := strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(strings.TrimSpace(label)))
		return slices.Contains(words, plain)
	})
}

func sidesOf(set datasets.Stream, name string) sides {
	s := sides{labels: map[string]int{}}
	for e, err := range set {
		if err != nil {
			continue // the pass that trains reports it
		}
		if e.Matches(name) {
			s.named = true
			return s
		}
		if e.Label != "" {
			s.labels[e.Label]++
		}
		yes, no := says(e, yesWords), says(e, noWords)
		s.yes, s.no, s.mixed = s.yes || yes, s.no || no, s.mixed || yes == no
	}
	return s
}

// Examples opens examples of a topic. Of a set with the topic's label, only the rows of
// that label are on topic. Of a set whose labels are yes and no, in one of their
// spellings, the rows of no are off topic. A set with one other label, or with none, is on
// topic as a whole. A set with more labels is an error: nothing says which of them is the
// topic. off is nil where no set has rows of no.
func Examples(open datasets.Opener, name string, paths []string) (on, off datasets.Stream, err error) {
	var yes, no []datasets.Stream
	for _, path := range paths {
		set, err := open.Stream([]string{path}, nil, 0, nil)
		if err != nil {
			return nil, nil, err
		}
		s := sidesOf(set, name)
		known := printable.SortedKeys(s.labels)
		switch {
		case s.named:
			set = datasets.Only(set, func(e *datasets.Example) bool { return e.Matches(name) })
		case s.no && !s.mixed && s.yes:
			no = append(no, datasets.Only(set, func(e *datasets.Example) bool { return says(e, noWords) }))
			set = datasets.Only(set, func(e *datasets.Example) bool { return says(e, yesWords) })
		case s.no && !s.mixed:
			return nil, nil, usage.Errorf("%s: all pages have a label that says off topic (%s); give these pages with --negatives, and pages on topic with --examples",
				path, printable.SomeNames(name, known))
		case len(known) > 1:
			return nil, nil, usage.Errorf("%s: its pages have %d labels, and none is %q: %s; name the topic after one of them, or give only the pages on topic with --examples and others with --negatives (yes and no are understood as labels)",
				path, len(known), name, printable.SomeNames(name, known))
		}
		yes = append(yes, set)
	}
	if len(no) > 0 {
		off = datasets.Chain(no...)
	}
	return datasets.Chain(yes...), off, nil
}
