package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"

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

// of returns the label of an example at a level, "" when it has none. An example without a list
// of labels has its Label at every level.
func (l Level) of(e *datasets.Example) string {
	switch {
	case len(e.Labels) == 0:
		return e.Label
	case l == Theme:
		return e.Labels[0]
	}
	return e.Labels[min(1, len(e.Labels)-1)]
}

// bench is a labelled set as counts, on which classifiers and numbers of words are tried without
// reading a page's text again. Several goroutines may use it.
type bench struct {
	opt    Options
	class  func(*datasets.Example) string
	train  *corpus
	test   *corpus // classes as in train, −1 for others; nil without a test
	fold   []int   // without a test
	folds  int
	counts *features.Counts // of the training pages' words
}

// trial says what is tried.
type trial struct {
	classifier string
	words      int              // keep so many words, those that gain most; 0: all, or those of mu
	mu         float64          // keep words that gain this much at least (paper A eq. 5), in nats
	by         features.Measure // how words are ranked; "" is as the bench's Options say, or the classifier's own way
}

// tried is the outcome of a trial.
type tried struct {
	words int // kept, of all training pages
	// measures are of the test pages or, without any, of the training pages in
	// cross-validation; nil when no word was left. The best score tells the class: there is
	// no calibration, which in Train may move a few pages.
	measures *Measures
}

// newBench reads a training and a test set once each; test may be nil. Words are counted, ranked
// and selected on the training set alone. opt.Words is the most and opt.Mu the least that trials
// will ask for, for sets that do not fit into memory (docs/training.md).
func newBench(ctx context.Context, train, test datasets.Stream, opt Options, class func(*datasets.Example) string) (*bench, *Report, error) {
	if err := opt.complete(); err != nil {
		return nil, nil, err
	}
	rep := &Report{Accuracy: map[string]float64{}}
	c, err := gatherBy(ctx, train, &opt, rep, class, true)
	if err != nil {
		return nil, nil, err
	}
	b := &bench{opt: opt, class: class, train: c, counts: c.counts(c.all())}
	if test != nil {
		return b, rep, b.readTest(ctx, test, rep)
	}
	if b.fold, b.folds = c.folds(&opt); b.folds < 2 {
		return nil, nil, fmt.Errorf("%w: without test pages the folds need two pages of each class", ErrData)
	}
	return b, rep, nil
}

// readTest counts the words of the test pages that the training pages have.
func (b *bench) readTest(ctx context.Context, test datasets.Stream, rep *Report) error {
	c := *b.train
	c.rows, c.y = nil, nil
	b.test = &c
	number := map[string]int{}
	for i, class := range c.classes {
		number[class] = i
	}
	x := features.NewExtractor(b.opt.extractor(true), features.FixedLexicon(c.terms))
	g := &gatherer{opt: &b.opt}
	return g.pages(ctx, test, rep, b.class, func(_ *datasets.Example, doc features.Doc, label string) error {
		class, known := number[label]
		if !known {
			class = -1
		}
		c.rows, c.y = append(c.rows, x.Count(features.Vector{}, doc)), append(c.y, class)
		return nil
	})
}

// try trains the classifier of a trial and judges it. The same trial has the same outcome,
// whatever was tried before.
func (b *bench) try(ctx context.Context, t trial) (out tried, err error) {
	opt := b.opt
	opt.Classifier, opt.Words, opt.Mu = t.classifier, t.words, t.mu
	learners, err := opt.learners()
	if err != nil {
		return out, err
	}
	if opt.auto() {
		return out, errors.New("trying classifiers: give each by name; auto, vote and stack choose anew for each number of words")
	}
	if opt.Select, err = features.ParseMeasure(string(cmp.Or(t.by, b.opt.Select))); err != nil {
		return out, err
	}
	if out.words = len(b.train.terms); opt.selected() {
		out.words = len(features.Select(b.counts.RankBy(opt.measures(false)[0]), t.mu, t.words))
	}
	if out.words == 0 {
		return out, nil
	}
	by := opt.fitting()
	by.trial = true
	truth, predicted, err := b.judge(ctx, learners[0], by)
	if errors.Is(err, errNoWord) {
		return out, nil // none in a fold
	}
	if err != nil {
		return out, fmt.Errorf("trying %s with %d words: %w", t.classifier, out.words, err)
	}
	m := Measure(len(b.train.classes), truth, predicted)
	out.measures = &m
	return out, nil
}

// judge returns true and predicted classes of the test pages, or of the training pages by
// cross-validation.
func (b *bench) judge(ctx context.Context, l learner, by fitting) (truth, predicted []int, err error) {
	c := b.train
	if b.test == nil {
		h, err := crossValidate(ctx, c, l, b.fold, upTo(b.folds), by)
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
	scores := make([]float64, len(c.classes))
	for p := range b.test.rows {
		f.scores(scores, b.test, p)
		predicted = append(predicted, best(scores))
	}
	return b.test.y, predicted, nil
}
