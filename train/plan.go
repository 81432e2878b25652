package train

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"fossick/datasets"
	"fossick/models"
)

// Plan says what a model is made of, and how.
type Plan struct {
	Sets []string
	Rows
	Pairs   bool // only rows with a theme and a category
	Tried   bool // settings are tried too
	Options Options

	Open datasets.Opener
	Say  func(format string, args ...any)
	Log  *slog.Logger
}

// Rows say which rows of the sets train a model, and which test it.
type Rows struct {
	Level      LevelChoice
	Rename     Renames
	PerSite    int      // at most so many of a label and site; 0: all
	Train      string   // so many, or this share of each class
	PerClass   string   // so many of each class
	All        bool     // whatever split the sets have
	Partial    bool     // what can be read of a cut archive will do
	Where      []string // only rows with these values
	Test       string   // test on this set
	Unlabelled []string // sets of the place where the model will be used
	TestWhere  string   // test on the rows with this value
}

// Made is a model with what became of its plan.
type Made struct {
	Model   *models.Model
	Report  *Report
	Parts   *Parts
	Adapted *Adapted // nil unless unlabelled pages of a place taught it
	Took    time.Duration
}

// Make trains the model. The training rows are passed through rows on their way.
func (p *Plan) Make(ctx context.Context, rows func(datasets.Stream) datasets.Stream) (*Made, error) {
	parts, err := p.Parts()
	if err != nil {
		return nil, err
	}
	opt := p.Options
	opt.Split = parts.How
	if opt.Unlabelled, err = p.onlyOn(ctx); err != nil {
		return nil, err
	}
	if opt.Unlabelled {
		if err := p.checkPool(); err != nil {
			return nil, err
		}
		p.withPool(parts)
	}
	began := time.Now()
	m, rep, err := Train(ctx, rows(parts.Train), opt)
	if err != nil {
		return nil, p.hint(err, parts)
	}
	made := &Made{Model: m, Report: rep, Parts: parts}
	if len(p.Unlabelled) > 0 && !opt.Unlabelled {
		if made.Model, made.Adapted, err = p.adapt(ctx, m, opt); err != nil {
			return nil, err
		}
	}
	made.Took = time.Since(began)
	return made, nil
}

// Each calls f with the rows of the sets until it returns false. What is wrong with
// them is told when they are read for training.
func (p *Plan) Each(f func(*datasets.Example) bool) error {
	quiet := *p
	quiet.Log = slog.New(slog.DiscardHandler)
	sets, _, err := quiet.open()
	if err != nil {
		return err
	}
	for e, err := range datasets.Readable(datasets.Chain(sets...)) {
		if err != nil {
			return err
		}
		if !f(e) {
			return nil
		}
	}
	return nil
}

// random returns a source for one purpose.
func (p *Plan) random(purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(p.Options.Seed), purpose))
}

// hint adds to an error about the set which labels there are.
func (p *Plan) hint(err error, parts *Parts) error {
	if !errors.Is(err, ErrData) {
		return err
	}
	if hint := parts.sets.unknownLabels(append(slices.Clone(p.Options.Labels), p.Options.Topic)); hint != nil {
		return fmt.Errorf("%w; %w", err, hint)
	}
	return err
}
