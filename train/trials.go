package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"

	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/models/features"
)

// Trials compare settings of training instead of making a model.
type Trials struct {
	Plan        Plan
	MuSweep     MuRange            // train at each of these μ
	Protocol    string             // banksearch, or "" for none
	Classifiers []string           // classifiers to try
	Select      []features.Measure // ways to choose words, each tried; none: see ways
	HTML        string             // page of the sweep to write; "" for none

	Task func(what, unit string) *cli.Task // starts to show the progress of a task
}

// TrialResult is the outcome of Trials.
type TrialResult struct {
	Sweep    []trialRow `json:"sweep,omitempty"`
	Protocol []trialRow `json:"protocol,omitempty"`
	HTML     *string    `json:"html,omitempty"`
}

// trialRow is the outcome of one classifier at one level and number of words.
type trialRow struct {
	Level      labelLevel  `json:"level"`
	Classifier string      `json:"classifier"`
	Select     string      `json:"select,omitempty"` // how words were chosen; "" if all were taken
	Mu         *float64    `json:"mu,omitempty"`
	Words      int         `json:"words"`
	Accuracy   *float64    `json:"accuracy"` // null: no word was left
	AccuracyCI *[2]float64 `json:"accuracy_ci"`
	MacroF1    *float64    `json:"macro_f1"`
	Classes    int         `json:"classes"`
	TrainPages int         `json:"train_pages"`
	TestPages  *int        `json:"test_pages"` // null: judged by cross-validation
	Published  string      `json:"published,omitempty"`
}

// Run trains and judges each setting at each level.
func (t *Trials) Run(ctx context.Context) (*TrialResult, error) {
	levels, err := t.levels()
	if err != nil {
		return nil, err
	}
	own := *t // its plan changes
	t = &own
	t.Plan.Pairs = len(levels) > 1
	if t.Protocol != "" {
		if len(levels) < 2 {
			return nil, cli.Usagef("--protocol %s: the set has one level of labels; give a set with two", t.Protocol)
		}
		if t.Plan.PerClass, err = t.protocolDraw(); err != nil {
			return nil, err
		}
	}
	r := &TrialResult{}
	for _, level := range levels {
		b, err := t.bench(ctx, level, len(levels) > 1)
		if err != nil {
			return nil, err
		}
		if t.Protocol != "" {
			rows, err := t.protocol(ctx, b, level)
			if err != nil {
				return nil, err
			}
			r.Protocol = append(r.Protocol, rows...)
		}
		if !t.MuSweep.None() {
			rows, err := t.sweep(ctx, b, level)
			if err != nil {
				return nil, err
			}
			r.Sweep = append(r.Sweep, rows...)
		}
	}
	if t.HTML != "" {
		r.HTML = &t.HTML
		return r, t.writeSweep(r.Sweep)
	}
	return r, nil
}

// levels returns the levels to try: those asked for, else both if the set has them.
func (t *Trials) levels() ([]labelLevel, error) {
	both := []labelLevel{theme, category}
	choice := t.chosen()
	switch {
	case t.Plan.Level.Both && choice:
		return nil, cli.Usagef("--level both: --labels and --topic name classes of one level; give --level theme or category")
	case t.Plan.Level.Both:
		return both, nil
	case t.Plan.Level.Set && t.Plan.Level.N > 1:
		return nil, cli.Usagef("--level %d: want theme, category or both here", t.Plan.Level.N)
	case t.Plan.Level.Set || choice:
		return both[t.Plan.Level.N : t.Plan.Level.N+1], nil
	}
	levels := both[:1]
	return levels, t.Plan.each(func(e *datasets.Example) bool {
		if len(e.Labels) > 1 {
			levels = both
		}
		return len(levels) == 1
	})
}

// bench reads the set at one level. With both levels the split is drawn by category, and rows without
// one, such as the front pages of a theme, are left out.
func (t *Trials) bench(ctx context.Context, level labelLevel, both bool) (*bench, error) {
	p := t.Plan
	if both || level == category {
		p.Level.N = 1
	}
	parts, err := p.parts()
	if err != nil {
		return nil, err
	}
	opt, class := p.Options, level.of
	if t.chosen() {
		class = opt.Class
	}
	if opt.Mu = 0; !t.MuSweep.None() {
		opt.Words, opt.Mu = 0, t.MuSweep.from
	}
	if t.Protocol != "" {
		opt.Words, opt.Mu = 0, 0 // one of its trials takes all words
	}
	p.Say("reading %s", strings.Join(p.Sets, ", "))
	work := t.Task("reading", "pages")
	defer work.End()
	b, rep, err := newBench(ctx, datasets.Counted(parts.Train, work.Add), parts.Test, opt, class)
	if err != nil {
		return nil, fmt.Errorf("at the level %s: %w", level, err)
	}
	if n := rep.LeftOut + rep.Unreadable; n > 0 {
		p.Say("%d rows without a wanted label left out, %d unreadable", rep.LeftOut, rep.Unreadable)
	}
	return b, nil
}

// chosen reports whether the plan names classes, which are of one level.
func (t *Trials) chosen() bool { return len(t.Plan.Options.Labels) > 0 || t.Plan.Options.Topic != "" }

// ways returns the ways to choose words: those asked for, else the given ones.
func (t *Trials) ways(given ...features.Measure) []features.Measure {
	if len(t.Select) > 0 {
		return t.Select
	}
	return given
}

// try runs trials at a level, at most one per processor at a time.
func (t *Trials) try(ctx context.Context, b *bench, level labelLevel, trials []trial) ([]trialRow, error) {
	rows := make([]trialRow, len(trials))
	work := t.Task("training", "classifiers")
	defer work.End()
	work.Of(len(trials))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, one := range trials {
		g.Go(func() error {
			got, err := b.try(ctx, one)
			if err != nil {
				return err
			}
			r := trialRow{Level: level, Classifier: one.classifier, Select: string(one.by), Words: got.words, Classes: len(b.train.classes), TrainPages: len(b.train.y)}
			if one.mu > 0 {
				r.Mu = &one.mu
			}
			if m := got.measures; m != nil {
				r.Accuracy, r.AccuracyCI, r.MacroF1 = &m.Accuracy, m.Interval(), &m.MacroF1
			}
			if b.test != nil && len(b.test.y) > 0 {
				r.TestPages = new(len(b.test.y))
			}
			rows[i] = r
			work.Add(1)
			t.Plan.Log.Info("tried", "level", level, "classifier", one.classifier, "mu", one.mu, "select", one.by, "words", r.Words, "accuracy", percentOf(r.Accuracy))
			return nil
		})
	}
	return rows, g.Wait()
}

func percentOf(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100**v)
}

// Print writes the result as text.
func (r *TrialResult) Print(w io.Writer) {
	if len(r.Protocol) > 0 {
		printProtocol(w, r.Protocol)
	}
	if len(r.Sweep) > 0 {
		printSweep(w, r.Sweep)
	}
	if r.HTML != nil {
		cli.Fprintf(w, "The figures: %s\n", *r.HTML)
	}
}

// labelLevel is one of the levels at which the same pages are labelled, coarse to fine.
type labelLevel string

// The levels of paper A: four themes, eleven categories.
const (
	theme    labelLevel = "theme"    // the first of a row's labels
	category labelLevel = "category" // the second, or the only one
)

// of returns the label of an example at a level, "" if it has none. An example without a list of labels
// has its Label at every level.
func (l labelLevel) of(e *datasets.Example) string {
	switch {
	case len(e.Labels) == 0:
		return e.Label
	case l == theme:
		return e.Labels[0]
	}
	return e.Labels[min(1, len(e.Labels)-1)]
}

// bench is a labelled set as counts, read once for all trials. Safe for concurrent use.
type bench struct {
	opt    Options
	class  func(*datasets.Example) string
	train  *corpus
	test   *corpus // with train's classes, −1 for others; nil without a test
	fold   []int   // without a test
	folds  int
	counts *features.Counts // of the training pages' words
}

type trial struct {
	classifier string
	words      int              // keep this many words, those with the highest gain; 0: all, or those of mu
	mu         float64          // keep words that gain at least this much (paper A eq. 5), in nats
	by         features.Measure // ranks words; "" is the bench's Options.Select, or the classifier's own way
}

type tried struct {
	words int // kept, from all training pages
	// measures are of the test pages or, without any, of the cross-validated training pages; nil if no
	// word was left. Train's calibration, which is missing here, may change a few labels.
	measures *measures
}

// newBench reads a training and a test set once each; test may be nil. Words are selected on the training
// set alone. opt.Words and opt.Mu bound what trials will ask for, for sets larger than memory.
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

// readTest counts the training set's words on the test pages.
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

// try trains and judges the classifier of a trial; the outcome does not depend on other trials.
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
	m := measure(len(b.train.classes), truth, predicted)
	out.measures = &m
	return out, nil
}

// judge returns true and predicted classes of the test pages or, by cross-validation, the training pages.
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

// MuRange is the range of μ in a sweep.
type MuRange struct{ from, to, step float64 }

const (
	mostSteps = 1000 // of a sweep
	finest    = 1e-9 // values are rounded to this
)

// UnmarshalText reads A:B:STEP, as in 0.01:0.18:0.01.
func (r *MuRange) UnmarshalText(text []byte) error {
	var v [3]float64
	parts := strings.Split(string(text), ":")
	if len(parts) != 3 {
		return fmt.Errorf("%q: want A:B:STEP, as in 0.01:0.18:0.01", text)
	}
	for i, p := range parts {
		n, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || !(n >= 0 && n < 1e9) {
			return fmt.Errorf("%q: %q is not a μ; want numbers of 0 or more, as in 0.01:0.18:0.01", text, p)
		}
		v[i] = n
	}
	*r = MuRange{v[0], v[1], v[2]}
	switch {
	case r.from < finest:
		return fmt.Errorf("%q: a μ of 0 keeps every word; begin at %v or above", text, finest)
	case r.step < finest:
		return fmt.Errorf("%q: a step of 0 never ends; want a step of at least %v", text, finest)
	case r.from > r.to:
		return fmt.Errorf("%q: begins above its end; want A:B:STEP with A ≤ B", text)
	case (r.to-r.from)/r.step > mostSteps-1:
		return fmt.Errorf("%q: more than %d steps; want a larger one", text, mostSteps)
	}
	return nil
}

// None reports whether there is no sweep.
func (r MuRange) None() bool { return r.step == 0 }

// values returns the range's values, with its end if a step meets it.
func (r MuRange) values() []float64 {
	var mu []float64
	for i := 0; ; i++ {
		v := math.Round((r.from+float64(i)*r.step)/finest) / (1 / finest) // 0.03, not 0.030000000000000002
		if v > r.to+r.step*1e-6 {
			return mu
		}
		mu = append(mu, v)
	}
}

// Paper A's experiment: 77 words, the knee of its curves, and 100 training pages for
// each of BankSearch's eleven categories.
const (
	protocolWords = 77
	protocolPages = 100
)

// protocolDraw returns the training pages per category: those asked for, else 100 or the smallest category.
func (t *Trials) protocolDraw() (string, error) {
	if t.Plan.PerClass != "" || t.Plan.Train != "" {
		return t.Plan.PerClass, nil
	}
	pages := map[string]int{}
	err := t.Plan.each(func(e *datasets.Example) bool {
		if label := category.of(e); label != "" && e.Split != "test" {
			pages[label]++
		}
		return true
	})
	n, least := protocolPages, ""
	for _, label := range slices.Sorted(maps.Keys(pages)) {
		if pages[label] < n {
			n, least = pages[label], label
		}
	}
	if least != "" {
		t.Plan.Log.Warn("a category has fewer than the protocol's 100 training pages, so fewer are drawn from each category", "category", least, "pages", n)
	}
	return strconv.Itoa(n), err
}

// published returns the figure of paper A for BankSearch (section A5 of the digest).
func published(level labelLevel, t trial) string {
	switch name := t.classifier; {
	case t.words == 0:
		return "" // not tried there
	case level == theme && name == "cn2":
		return "93.2 %"
	case level == theme && (name == "c45" || name == "nn"):
		return "90.2 % typical"
	case level == category && (name == "cn2" || name == "c45"):
		return "above 80 %"
	case level == category && name == "nn":
		return "below both with few words"
	}
	return ""
}

// protocol tries the classifiers with few words, and linear with all.
func (t *Trials) protocol(ctx context.Context, b *bench, level labelLevel) ([]trialRow, error) {
	words := cmp.Or(t.Plan.Options.Words, protocolWords)
	var trials []trial
	for _, way := range t.ways(features.ByTFDFGain) {
		for _, name := range t.Classifiers {
			trials = append(trials, trial{classifier: name, words: words, by: way})
		}
	}
	trials = append(trials, trial{classifier: "linear"})
	rows, err := t.try(ctx, b, level, trials)
	for i, one := range trials {
		rows[i].Published = published(level, one)
	}
	return rows, err
}

func printProtocol(w io.Writer, rows []trialRow) {
	io.WriteString(w, "The published BankSearch experiment, beside the published figures:\n")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	io.WriteString(tw, "level\tclasses\tclassifier\twords by\twords\ttrain\ttest\taccuracy\t95 % interval\tpublished\n")
	for _, r := range rows {
		tests := "folds"
		if r.TestPages != nil {
			tests = fmt.Sprint(*r.TestPages)
		}
		interval := "–"
		if r.AccuracyCI != nil {
			interval = fmt.Sprintf("%.1f to %.1f", 100*r.AccuracyCI[0], 100*r.AccuracyCI[1])
		}
		cli.Fprintf(tw, "%s\t%d\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\n", r.Level, r.Classes, r.Classifier, cmp.Or(r.Select, "–"), r.Words, r.TrainPages, tests, percentOf(r.Accuracy), interval, r.Published)
	}
	_ = tw.Flush() // its only errors are w's, which stdout would show anyway
}
