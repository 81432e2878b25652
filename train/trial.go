package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"fossick/datasets"
	"fossick/models/features"
)

// Level is one of the ways in which the same pages are labelled, coarse to fine.
type Level string

// The levels of paper A: four themes, eleven categories.
const (
	Theme    Level = "theme"    // the first of a row's labels
	Category Level = "category" // the second, or the only one
)

// Of returns the label of an example at a level, "" when it has none. An example
// without a list of labels has its Label at every level.
func (l Level) Of(e *datasets.Example) string {
	switch {
	case len(e.Labels) == 0:
		return e.Label
	case l == Theme:
		return e.Labels[0]
	}
	return e.Labels[min(1, len(e.Labels)-1)]
}

// Bench is a labelled set as counts, on which classifiers and numbers of words are
// tried without reading a page's text again. It may be used by several goroutines.
type Bench struct {
	opt    Options
	levels []Level
	train  map[Level]*corpus
	test   map[Level]*corpus // classes as in train, −1 for others; nil without a test
	fold   map[Level][]int   // without a test
	folds  map[Level]int
	counts map[Level]*features.Counts // of the training pages' words
}

// Trial says what is tried.
type Trial struct {
	Level      Level
	Classifier string
	Words      int              // keep so many words, those that gain most; 0: all, or those of Mu
	Mu         float64          // keep words that gain this much at least (paper A eq. 5), in nats
	Select     features.Measure // how words are ranked; "" is as the bench's Options say, or the classifier's own way
}

// Tried is how a trial went.
type Tried struct {
	Words int // kept, of all training pages
	Train int // pages
	// Measures are of the test pages or, without any, of the training pages in
	// cross-validation; nil when no word was left. Classes are told by their best
	// score: there is no calibration, which in Train may move a few pages.
	Measures *Measures
}

// NewBench reads a training and a test set once each; test may be nil. Words are
// counted, ranked and selected on the training set alone. opt's Classifier is not used.
// Words is the most and Mu the least that trials will ask for, for sets that do not fit
// into memory (docs/classifiers.md).
func NewBench(ctx context.Context, train, test iter.Seq2[*datasets.Example, error], opt Options, levels ...Level) (*Bench, *Report, error) {
	if err := opt.complete(); err != nil {
		return nil, nil, err
	}
	rep := &Report{Accuracy: map[string]float64{}}
	classes := func(e *datasets.Example) (labels []string) {
		for _, l := range levels {
			labels = append(labels, l.Of(e))
		}
		return labels
	}
	views, err := gatherViews(ctx, train, &opt, rep, classes, true)
	if err != nil {
		return nil, nil, err
	}
	b := &Bench{opt: opt, levels: levels, train: map[Level]*corpus{}, fold: map[Level][]int{}, folds: map[Level]int{}, counts: map[Level]*features.Counts{}}
	for i, c := range views {
		if len(c.classes) < 2 {
			return nil, nil, fmt.Errorf("%w: at the level %s all pages have the label %q; at least two classes are needed", ErrData, levels[i], c.classes[0])
		}
		b.train[levels[i]] = c
		b.counts[levels[i]] = c.counts(c.all())
	}
	if test != nil {
		return b, rep, b.readTest(ctx, test, rep, classes)
	}
	for _, l := range levels {
		if b.fold[l], b.folds[l] = b.train[l].folds(&opt); b.folds[l] < 2 {
			return nil, nil, fmt.Errorf("%w: without test pages the folds need two pages of each class at the level %s", ErrData, l)
		}
	}
	return b, rep, nil
}

// readTest counts the words of the test pages that the training pages have.
func (b *Bench) readTest(ctx context.Context, test iter.Seq2[*datasets.Example, error], rep *Report, classes func(*datasets.Example) []string) error {
	b.test = map[Level]*corpus{}
	for _, l := range b.levels {
		c := *b.train[l]
		c.rows, c.y = nil, nil
		b.test[l] = &c
	}
	number := map[Level]map[string]int{}
	for _, l := range b.levels {
		number[l] = map[string]int{}
		for i, class := range b.train[l].classes {
			number[l][class] = i
		}
	}
	x := features.NewExtractor(b.opt.extractor(true), features.FixedLexicon(b.train[b.levels[0]].terms))
	g := &gatherer{opt: &b.opt}
	return g.pages(ctx, test, rep, classes, func(_ *datasets.Example, doc features.Doc, labels []string) error {
		v := x.Count(features.Vector{}, doc)
		for i, l := range b.levels {
			class, known := number[l][labels[i]]
			if !known {
				class = -1
			}
			b.test[l].rows, b.test[l].y = append(b.test[l].rows, v), append(b.test[l].y, class)
		}
		return nil
	})
}

// Pages returns how many pages train and test; test is 0 without test pages.
func (b *Bench) Pages() (train, test int) {
	l := b.levels[0]
	train = len(b.train[l].y)
	if b.test != nil {
		test = len(b.test[l].y)
	}
	return train, test
}

// Classes returns the labels of a level, sorted.
func (b *Bench) Classes(l Level) []string { return b.train[l].classes }

// Try trains the classifier of a trial and judges it. The same trial has the same
// outcome, whatever was tried before.
func (b *Bench) Try(ctx context.Context, t Trial) (Tried, error) {
	c, ok := b.train[t.Level]
	if !ok {
		return Tried{}, fmt.Errorf("trying %s: the set was not read at the level %q", t.Classifier, t.Level)
	}
	opt := b.opt
	opt.Classifier, opt.Words, opt.Mu = t.Classifier, t.Words, t.Mu
	one, err := opt.one(opt.selected())
	if err != nil {
		return Tried{}, err
	}
	if opt.auto() {
		return Tried{}, errors.New("trying classifiers: give each by name; auto, vote and stack choose anew for each number of words")
	}
	if opt.Select, err = features.ParseMeasure(string(cmp.Or(t.Select, b.opt.Select))); err != nil {
		return Tried{}, err
	}
	out := Tried{Words: len(c.terms), Train: len(c.y)}
	if t.Words > 0 || t.Mu > 0 {
		out.Words = len(features.Select(b.counts[t.Level].RankBy(opt.measures(false)[0]), t.Mu, t.Words))
	}
	if out.Words == 0 {
		return out, nil
	}
	by := opt.fitting()
	by.trial = true
	truth, predicted, err := b.judge(ctx, t.Level, one, by)
	if errors.Is(err, errNoWord) {
		return out, nil // none in a fold
	}
	if err != nil {
		return out, fmt.Errorf("trying %s with %d words: %w", t.Classifier, out.Words, err)
	}
	m := Measure(len(c.classes), truth, predicted)
	out.Measures = &m
	return out, nil
}

// one returns the learner of a trial: one of ours, or a baseline.
func (m *Method) one(selected bool) (learner, error) {
	if l, ok := baseline(m.Classifier); ok {
		return l, nil
	}
	learners, err := m.learners(selected)
	if err != nil {
		return nil, err
	}
	return learners[0], nil
}

// judge returns true and predicted classes of the test pages, or of the training
// pages by cross-validation.
func (b *Bench) judge(ctx context.Context, level Level, l learner, by fitting) (truth, predicted []int, err error) {
	c := b.train[level]
	if b.test == nil {
		h, err := crossValidate(ctx, c, l, b.fold[level], upTo(b.folds[level]), by)
		if err != nil {
			return nil, nil, err
		}
		for _, s := range h.scores {
			predicted = append(predicted, best(s))
		}
		return c.y, predicted, nil
	}
	f, err := l.fit(ctx, c, c.all(), by)
	if err != nil {
		return nil, nil, err
	}
	test, scores := b.test[level], make([]float64, len(c.classes))
	for p := range test.rows {
		f.scores(scores, test, p)
		predicted = append(predicted, best(scores))
	}
	return test.y, predicted, nil
}
