package trials

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"fossick/datasets"
	"fossick/internal/printable"
	"fossick/internal/terminal"
	"fossick/internal/usage"
	"fossick/models/features"
	"fossick/train"
	"fossick/train/plan"
)

// Trials try settings of training instead of making a model.
type Trials struct {
	Plan        plan.Plan
	MuSweep     MuRange            // train at each of these μ
	Protocol    string             // banksearch, or "" for none
	Classifiers []string           // those to try
	Select      []features.Measure // ways to choose words, to try each; none: see ways
	HTML        string             // page of the sweep to write; "" for none

	Task func(what, unit string) *terminal.Task // begins to show that something goes on
}

// Result is what came of trials.
type Result struct {
	Sweep    []Row   `json:"sweep,omitempty"`
	Protocol []Row   `json:"protocol,omitempty"`
	HTML     *string `json:"html,omitempty"`
}

// Row is one classifier at one level and number of words.
type Row struct {
	Level      train.Level `json:"level"`
	Classifier string      `json:"classifier"`
	Select     string      `json:"select,omitempty"` // how words were chosen; "" where all were taken
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

// Run tries the settings.
func (t *Trials) Run(ctx context.Context) (*Result, error) {
	levels, err := t.levels()
	if err != nil {
		return nil, err
	}
	own := *t // its plan changes
	t = &own
	t.Plan.Pairs = len(levels) > 1
	if t.Protocol != "" {
		if len(levels) < 2 {
			return nil, usage.Errorf("--protocol %s: the set has one level of labels; give its themes by --themes", t.Protocol)
		}
		if t.Plan.PerClass, err = t.protocolDraw(); err != nil {
			return nil, err
		}
	}
	b, err := t.bench(ctx, levels)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if t.Protocol != "" {
		if r.Protocol, err = t.protocol(ctx, b, levels); err != nil {
			return nil, err
		}
	}
	if !t.MuSweep.None() {
		if r.Sweep, err = t.sweep(ctx, b, levels); err != nil {
			return nil, err
		}
	}
	if t.HTML != "" {
		r.HTML = &t.HTML
		return r, t.writeSweep(r.Sweep)
	}
	return r, nil
}

// levels returns the levels to try: those asked for, else both when the set has them.
func (t *Trials) levels() ([]train.Level, error) {
	both := []train.Level{train.Theme, train.Category}
	choice := t.chosen()
	switch {
	case t.Plan.Level.Both && choice:
		return nil, usage.Errorf("--level both: --labels and --topic name classes of one level; give --level theme or category")
	case t.Plan.Level.Both:
		return both, nil
	case t.Plan.Level.Set && t.Plan.Level.N > 1:
		return nil, usage.Errorf("--level %d: want theme, category or both here", t.Plan.Level.N)
	case t.Plan.Level.Set || choice:
		return both[t.Plan.Level.N : t.Plan.Level.N+1], nil
	}
	levels := both[:1]
	return levels, t.Plan.Each(func(e *datasets.Example) bool {
		if len(e.Labels) > 1 {
			levels = both
		}
		return len(levels) == 1
	})
}

// bench reads the set, once. With both levels the split is drawn by category, and
// rows that have none, say the front pages of a theme, are left out.
func (t *Trials) bench(ctx context.Context, levels []train.Level) (*train.Bench, error) {
	p := t.Plan
	if levels[len(levels)-1] == train.Category {
		p.Level.N = 1
	}
	parts, err := p.Parts()
	if err != nil {
		return nil, err
	}
	opt := p.Options
	one := func(rows datasets.Stream) datasets.Stream { return rows }
	if t.chosen() {
		one = func(rows datasets.Stream) datasets.Stream { return ofClass(rows, &opt.Target) }
	}
	test := parts.Test
	if test != nil {
		test = one(test)
	}
	if opt.Mu = 0; !t.MuSweep.None() {
		opt.Words, opt.Mu = 0, t.MuSweep.from
	}
	if t.Protocol != "" {
		opt.Words, opt.Mu = 0, 0 // one of its lines takes all
	}
	p.Say("reading %s", strings.Join(p.Sets, ", "))
	work := t.Task("reading", "pages")
	defer work.End()
	b, rep, err := train.NewBench(ctx, datasets.Counted(one(parts.Train), work.Add), test, opt, levels...)
	if err != nil {
		return nil, err
	}
	if n := rep.LeftOut + rep.Unreadable; n > 0 {
		p.Say("%d rows without a wanted label left out, %d unreadable", rep.LeftOut, rep.Unreadable)
	}
	return b, nil
}

// chosen says whether the plan names classes, which are of one level.
func (t *Trials) chosen() bool { return len(t.Plan.Options.Labels) > 0 || t.Plan.Options.Topic != "" }

// ofClass gives rows the one class that the options say, and leaves out the others.
func ofClass(rows datasets.Stream, target *train.Target) datasets.Stream {
	of := datasets.Only(rows, func(e *datasets.Example) bool { return target.Class(e) != "" })
	return datasets.Map(of, func(e *datasets.Example) *datasets.Example {
		class := target.Class(e)
		return e.Labelled(class, class)
	})
}

// ways returns how words are chosen in trials: as asked for, else as given.
func (t *Trials) ways(given ...features.Measure) []features.Measure {
	if len(t.Select) > 0 {
		return t.Select
	}
	return given
}

// try runs trials, as many at once as there are processors.
func (t *Trials) try(ctx context.Context, b *train.Bench, trials []train.Trial) ([]Row, error) {
	rows := make([]Row, len(trials))
	train, test := b.Pages()
	work := t.Task("training", "classifiers")
	defer work.End()
	work.Of(len(trials))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, trial := range trials {
		g.Go(func() error {
			r, err := tryOne(ctx, b, trial)
			if err != nil {
				return err
			}
			r.TrainPages = train
			if test > 0 {
				r.TestPages = &test
			}
			rows[i] = r
			work.Add(1)
			t.Plan.Log.Info("tried", "level", trial.Level, "classifier", trial.Classifier, "mu", trial.Mu, "select", trial.Select, "words", r.Words, "accuracy", shareOf(r.Accuracy))
			return nil
		})
	}
	return rows, g.Wait()
}

func tryOne(ctx context.Context, b *train.Bench, t train.Trial) (Row, error) {
	got, err := b.Try(ctx, t)
	if err != nil {
		return Row{}, err
	}
	r := Row{Level: t.Level, Classifier: t.Classifier, Select: string(t.Select), Words: got.Words, Classes: len(b.Classes(t.Level))}
	if t.Mu > 0 {
		r.Mu = &t.Mu
	}
	if m := got.Measures; m != nil {
		r.Accuracy, r.AccuracyCI, r.MacroF1 = &m.Accuracy, m.Interval(), &m.MacroF1
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

// Print writes the result for people.
func (r *Result) Print(w io.Writer) {
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
