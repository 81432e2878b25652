package train

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
)

// Trials try settings of training instead of making a model.
type Trials struct {
	Plan        Plan
	MuSweep     MuRange            // train at each of these μ
	Protocol    string             // banksearch, or "" for none
	Classifiers []string           // those to try
	Select      []features.Measure // ways to choose words, to try each; none: see ways
	HTML        string             // page of the sweep to write; "" for none

	Task func(what, unit string) *terminal.Task // begins to show that something goes on
}

// Result is what came of trials.
type TrialResult struct {
	Sweep    []Row   `json:"sweep,omitempty"`
	Protocol []Row   `json:"protocol,omitempty"`
	HTML     *string `json:"html,omitempty"`
}

// Row is one classifier at one level and number of words.
type Row struct {
	Level      Level       `json:"level"`
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
			return nil, usage.Errorf("--protocol %s: the set has one level of labels; give a set with two", t.Protocol)
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

// levels returns the levels to try: those asked for, else both when the set has them.
func (t *Trials) levels() ([]Level, error) {
	both := []Level{Theme, Category}
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

// bench reads the set at one of the levels. With both levels the split is drawn by category, and
// rows that have none, say the front pages of a theme, are left out.
func (t *Trials) bench(ctx context.Context, level Level, both bool) (*bench, error) {
	p := t.Plan
	if both || level == Category {
		p.Level.N = 1
	}
	parts, err := p.Parts()
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
		opt.Words, opt.Mu = 0, 0 // one of its lines takes all
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

// chosen says whether the plan names classes, which are of one level.
func (t *Trials) chosen() bool { return len(t.Plan.Options.Labels) > 0 || t.Plan.Options.Topic != "" }

// ways returns how words are chosen in trials: as asked for, else as given.
func (t *Trials) ways(given ...features.Measure) []features.Measure {
	if len(t.Select) > 0 {
		return t.Select
	}
	return given
}

// try runs trials at a level, as many at once as there are processors.
func (t *Trials) try(ctx context.Context, b *bench, level Level, trials []trial) ([]Row, error) {
	rows := make([]Row, len(trials))
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
			r := Row{Level: level, Classifier: one.classifier, Select: string(one.by), Words: got.words, Classes: len(b.train.classes), TrainPages: len(b.train.y)}
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

// shareOf writes an optional share as 93.2 %.
func percentOf(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100**v)
}

// Print writes the result for people.
func (r *TrialResult) Print(w io.Writer) {
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
