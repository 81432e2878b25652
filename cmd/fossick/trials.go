package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"fossick/datasets"
	"fossick/internal/printable"
	"fossick/models"
	"fossick/train"
)

// trialFlags are those of train that try settings instead of making a model.
type trialFlags struct {
	MuSweep  muRange `name:"mu-sweep" placeholder:"A:B:STEP" help:"Train at each μ from A to B, as 0.01:0.18:0.01, each classifier of --classifier, at the --level; without -o no model is made." group:"trials" expert:""`
	Protocol string  `enum:",banksearch" default:"" placeholder:"banksearch" help:"Paper A's experiment on a set of themes and categories: 77 words, 100 training pages a category (--words, --per-class), the rest to test; each classifier of --classifier, and golearn's own." group:"trials" expert:""`
	Themes   themes  `sep:"none" placeholder:"LABEL=THEME,..." help:"Themes of a set that has one level of labels; LABEL may end in * for all that begin so. newsgroups is those of 20 Newsgroups." group:"trials" expert:"" complete:"newsgroups"`
	HTML     string  `name:"html" placeholder:"FILE" help:"Draw the figures of --mu-sweep on one self-contained page." group:"trials" expert:""`

	pairs bool // only rows with a theme and a category
}

func (f *trialFlags) given() bool { return f.MuSweep.step > 0 || f.Protocol != "" }

// trialsResult is what --mu-sweep and --protocol add to train's result.
type trialsResult struct {
	Sweep    []trialRow `json:"sweep,omitempty"`
	Protocol []trialRow `json:"protocol,omitempty"`
	HTML     *string    `json:"html,omitempty"`
}

// trialRow is one classifier at one level and number of words.
type trialRow struct {
	Level      train.Level `json:"level"`
	Classifier string      `json:"classifier"`
	Mu         *float64    `json:"mu,omitempty"`
	Words      int         `json:"words"`
	Accuracy   *float64    `json:"accuracy"` // null: no word was left
	AccuracyCI *[2]float64 `json:"accuracy_ci"`
	MacroF1    *float64    `json:"macro_f1"`
	Classes    int         `json:"classes"`
	TrainPages int         `json:"train_pages"`
	TestPages  *int        `json:"test_pages"` // null: by cross-validation
	Published  string      `json:"published,omitempty"`
}

// classifiers returns those that the flag names.
func (c trainCmd) classifiers() ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(c.Classifier, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(train.Classifiers(), name) {
			return nil, usagef("--classifier %s: want one of %s", c.Classifier, strings.Join(train.Classifiers(), ", "))
		}
		names = append(names, name)
	}
	switch {
	case !c.given() && len(names) > 1:
		return nil, usagef("--classifier %s: one makes a model; several are for --mu-sweep and --protocol", c.Classifier)
	case c.given() && slices.Equal(names, []string{train.Auto}):
		return without(train.Classifiers(), train.Auto, "nb", models.Voting), nil // paper A's three, and linear
	case c.given() && (slices.Contains(names, train.Auto) || slices.Contains(names, models.Voting)):
		return nil, usagef("--classifier %s: auto and vote choose anew for each number of words; name those to try", c.Classifier)
	}
	return names, nil
}

func without(all []string, out ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(out, s) })
}

// trials runs the trials that the flags ask for, nil when none, and prints them
// unless a model is to be made too.
func (c trainCmd) trials(a *app, opt train.Options) (*trialsResult, error) {
	switch {
	case !c.given() && c.Out == "":
		return nil, usagef("-o MODEL says where the model goes; only --mu-sweep and --protocol do without")
	case !c.given() && c.HTML != "":
		return nil, usagef("--html %s: draws a sweep; give --mu-sweep, as 0.01:0.18:0.01", c.HTML)
	case !c.given() && c.Level.both:
		return nil, usagef("--level both: a model has classes of one level; give theme or category")
	case !c.given():
		return nil, nil
	case c.HTML != "" && c.MuSweep.step == 0:
		return nil, usagef("--html %s: draws a sweep; give --mu-sweep too", c.HTML)
	case c.MuSweep.step > 0 && c.Protocol == "" && c.Out == "" && (c.Words > 0 || c.Mu > 0):
		return nil, usagef("--mu-sweep chooses words by μ; leave out --words and --mu, or make a model of them with -o")
	}
	defer limitHeap(c.Memory + programMemory)()
	r, err := c.tryOut(a, opt)
	if err != nil || c.Out != "" {
		return r, err
	}
	return r, a.emit(r, r.print)
}

// tryOut runs --mu-sweep and --protocol.
func (c trainCmd) tryOut(a *app, opt train.Options) (*trialsResult, error) {
	names, err := c.classifiers()
	if err != nil {
		return nil, err
	}
	levels, err := c.levels(a)
	if err != nil {
		return nil, err
	}
	c.pairs = len(levels) > 1
	if c.Protocol != "" {
		if len(levels) < 2 {
			return nil, usagef("--protocol %s: the set has one level of labels; give its themes by --themes", c.Protocol)
		}
		if c.PerClass, err = c.protocolDraw(a); err != nil {
			return nil, err
		}
	}
	b, err := c.bench(a, opt, levels)
	if err != nil {
		return nil, err
	}
	r := &trialsResult{}
	if c.Protocol != "" {
		if r.Protocol, err = c.protocol(a, b, levels, names); err != nil {
			return nil, err
		}
	}
	if c.MuSweep.step > 0 {
		if r.Sweep, err = c.sweep(a, b, levels, names); err != nil {
			return nil, err
		}
	}
	if c.HTML != "" {
		r.HTML = &c.HTML
		return r, c.writeSweep(a, r.Sweep)
	}
	return r, nil
}

// levels returns the levels to try: those asked for, else both when the set has them.
func (c trainCmd) levels(a *app) ([]train.Level, error) {
	both := []train.Level{train.Theme, train.Category}
	choice := len(c.Labels) > 0 || c.Topic != ""
	switch {
	case c.Level.both && choice:
		return nil, usagef("--level both: --labels and --topic name classes of one level; give --level theme or category")
	case c.Level.both:
		return both, nil
	case c.Level.set && c.Level.n > 1:
		return nil, usagef("--level %d: want theme, category or both here", c.Level.n)
	case c.Level.set || choice:
		return both[c.Level.n : c.Level.n+1], nil
	}
	levels := both[:1]
	return levels, c.rows(a, func(e *datasets.Example) bool {
		if len(e.Labels) > 1 {
			levels = both
		}
		return len(levels) == 1
	})
}

// rows calls f with the rows of the sets until it returns false. What is wrong with
// them is told when the bench reads them.
func (c trainCmd) rows(a *app, f func(*datasets.Example) bool) error {
	quiet := *a
	quiet.log = slog.New(slog.DiscardHandler)
	sets, _, err := c.open(&quiet)
	if err != nil {
		return err
	}
	for e, err := range readable(chain(sets)) {
		if err != nil {
			return err
		}
		if !f(e) {
			return nil
		}
	}
	return nil
}

// bench reads the set, once. With both levels the split is drawn by category, and
// rows that have none, say the front pages of a theme, are left out.
func (c trainCmd) bench(a *app, opt train.Options, levels []train.Level) (*train.Bench, error) {
	if levels[len(levels)-1] == train.Category {
		c.Level.n = 1
	}
	p, err := c.parts(a, &opt)
	if err != nil {
		return nil, err
	}
	one := func(rows examples) examples { return rows }
	if len(c.Labels) > 0 || c.Topic != "" {
		one = func(rows examples) examples { return ofClass(rows, &opt) }
	}
	test := p.test
	if test != nil {
		test = one(test)
	}
	if opt.Words, opt.Mu = c.Words, 0; c.MuSweep.step > 0 {
		opt.Words, opt.Mu = 0, c.MuSweep.from
	}
	if c.Protocol != "" {
		opt.Words, opt.Mu = 0, 0 // one of its lines takes all
	}
	a.say("reading %s", strings.Join(c.Sets, ", "))
	work := a.task("reading", "pages")
	defer work.End()
	b, rep, err := train.NewBench(a.ctx, counted(one(p.train), work), test, opt, levels...)
	if err != nil {
		return nil, err
	}
	if n := rep.LeftOut + rep.Unreadable; n > 0 {
		a.say("%d rows without a wanted label left out, %d unreadable", rep.LeftOut, rep.Unreadable)
	}
	return b, nil
}

// ofClass gives rows the one class that the options say, and leaves out the others.
func ofClass(rows examples, opt *train.Options) examples {
	return func(yield func(*datasets.Example, error) bool) {
		for e, err := range rows {
			if err == nil {
				class := opt.Class(e)
				if class == "" {
					continue
				}
				one := *e
				one.Label, one.Labels = class, []string{class}
				e = &one
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// try runs trials, as many at once as there are processors.
func (c trainCmd) try(a *app, b *train.Bench, trials []train.Trial) ([]trialRow, error) {
	rows := make([]trialRow, len(trials))
	train, test := b.Pages()
	work := a.task("training", "classifiers")
	defer work.End()
	work.Of(len(trials))
	g, ctx := errgroup.WithContext(a.ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, t := range trials {
		g.Go(func() error {
			r, err := tryOne(ctx, b, t)
			if err != nil {
				return err
			}
			r.TrainPages = train
			if test > 0 {
				r.TestPages = &test
			}
			rows[i] = r
			work.Add(1)
			a.log.Info("tried", "level", t.Level, "classifier", t.Classifier, "mu", t.Mu, "words", r.Words, "accuracy", shareOf(r.Accuracy))
			return nil
		})
	}
	return rows, g.Wait()
}

func tryOne(ctx context.Context, b *train.Bench, t train.Trial) (trialRow, error) {
	got, err := b.Try(ctx, t)
	if err != nil {
		return trialRow{}, err
	}
	r := trialRow{Level: t.Level, Classifier: t.Classifier, Words: got.Words, Classes: len(b.Classes(t.Level))}
	if t.Mu > 0 {
		r.Mu = &t.Mu
	}
	if m := got.Measures; m != nil {
		r.Accuracy, r.AccuracyCI, r.MacroF1 = &m.Accuracy, &m.CI, &m.MacroF1
	}
	return r, nil
}

// shareOf writes an optional share as 93.2 %.
func shareOf(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100**v)
}

func (r *trialsResult) print(w io.Writer) {
	if len(r.Protocol) > 0 {
		printProtocol(w, r.Protocol)
	}
	if len(r.Sweep) > 0 {
		printSweep(w, r.Sweep)
	}
	if r.HTML != nil {
		printable.Fprintf(w, "The figures: %s\n", *r.HTML)
	}
}
