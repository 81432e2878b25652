package topics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"fossick/datasets"
	"fossick/internal/printable"
	"fossick/models"
	"fossick/train"
	"fossick/train/plan"
)

// Learning says what a topic's model is trained on.
type Learning struct {
	Name       string
	Examples   []string // sets of pages on topic
	Negatives  []string // sets of pages off topic; none: they are found among Unlabelled
	Unlabelled []string // sets of which nothing is known; none: the built-in demo set

	Seed int64
	Open datasets.Opener
	Say  func(format string, args ...any)
	Log  *slog.Logger
	Step func(what string)                     // see train.Options
	Rows func(datasets.Stream) datasets.Stream // which the training rows pass through

	DrawK bool // see train.Terms
	// Fetch fetches a start page, as a crawl would.
	Fetch func(ctx context.Context, url string) (*datasets.Example, error)
}

// learnt is a topic's model.
type learnt struct {
	Model  *models.Model
	Report *train.Report
	Pool   *plan.Pool // nil with Negatives
}

// How many pages a model is trained on at least: with fewer on a side, five folds leave
// nothing to judge by.
const (
	fewestExamples = 10
	fewestGiven    = 5 // examples, without negatives
)

// learn trains the model.
func (l *Learning) learn(ctx context.Context) (*learnt, error) {
	off, few, many := l.Negatives, fewestExamples, "50"
	if len(off) == 0 {
		few, many = fewestGiven, "30"
		if off = l.Unlabelled; len(off) == 0 {
			l.Say("no --unlabelled pages: those of the built-in demo set stand for the web; pages from near your topic, as of an old crawl, would teach more")
			off = []string{"demo"}
		}
	}
	rows, n, err := l.rows(off)
	if err != nil {
		return nil, err
	}
	// Linear: its probabilities tell links apart, where a tree has a handful.
	m, rep, err := train.Train(ctx, l.Rows(rows), train.Options{
		Target: train.Target{Topic: l.Name, Unlabelled: len(l.Negatives) == 0},
		Method: train.Method{Classifier: models.LinearSVM}, Terms: train.Terms{DrawK: l.DrawK}, Seed: l.Seed, Log: l.Log, Step: l.Step,
		Origin: train.Origin{Data: append(slices.Clone(l.Examples), off...), Split: "all"},
	})
	switch {
	case err != nil && !errors.Is(err, train.ErrData):
		return nil, fmt.Errorf("topic %s: %w", l.Name, err)
	case n[l.Name] < few:
		return nil, fmt.Errorf("topic %s: %d pages in %s; give %d at least, %s or more make a good model",
			l.Name, n[l.Name], strings.Join(l.Examples, ", "), few, many)
	case n[train.Other] < fewestExamples && len(l.Negatives) == 0:
		return nil, fmt.Errorf("topic %s: %d pages in %s; give %d at least with --unlabelled, thousands are better",
			l.Name, n[train.Other], strings.Join(off, ", "), fewestExamples)
	case n[train.Other] < fewestExamples:
		return nil, fmt.Errorf("topic %s: %d pages off the topic in %s; give %d at least with --negatives",
			l.Name, n[train.Other], strings.Join(off, ", "), fewestExamples)
	case err != nil:
		return nil, fmt.Errorf("topic %s: %w", l.Name, err)
	}
	made := &learnt{Model: m, Report: rep}
	if rep.PU != nil {
		made.Pool = plan.NewPool(rep.PU, off)
	}
	return made, nil
}

// seedKeywords chooses K from start pages (paper A, section 3): by which words they differ
// from the pages off topic, else from those that stand for the web. by says which words
// these are.
func (l *Learning) seedKeywords(ctx context.Context, urls []string) (k []string, by string, err error) {
	var pages []*datasets.Example
	for _, url := range urls {
		e, err := l.Fetch(ctx, url)
		if ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		}
		if err != nil {
			l.Say("start page left out: %v", err)
			continue
		}
		pages = append(pages, e.Labelled(l.Name, l.Name))
	}
	if len(pages) == 0 {
		return nil, "", fmt.Errorf("none of %d start pages could be fetched, so there is nothing to choose keywords from; name others, or give --keywords", len(urls))
	}
	off := slices.Concat(l.Negatives, l.Unlabelled)
	if len(off) == 0 {
		off = []string{"demo"}
	}
	rest, err := l.Open.Stream(off, nil, 0, nil)
	if err != nil {
		return nil, "", err
	}
	on := func(yield func(*datasets.Example, error) bool) {
		for _, e := range pages {
			if !yield(e, nil) {
				return
			}
		}
	}
	rows := l.Rows(l.labelled(on, rest, map[string]int{}))
	all, by, err := train.Keywords(ctx, rows, train.Options{Target: train.Target{Topic: l.Name}, Seed: l.Seed, Log: l.Log, Step: l.Step})
	return all[l.Name], printable.Sprintf("%s, of %d of %d start pages against %s", by, len(pages), len(urls), strings.Join(off, ", ")), err
}

// rows opens both sides; their pages are counted by class as they are read.
func (l *Learning) rows(others []string) (rows datasets.Stream, n map[string]int, err error) {
	on, err := OnTopic(l.Open, l.Name, l.Examples)
	if err != nil {
		return nil, nil, err
	}
	off, err := l.Open.Stream(others, nil, 0, nil)
	if err != nil {
		return nil, nil, err
	}
	if len(l.Negatives) == 0 {
		on, off = plan.Apart(on, off)
	}
	n = map[string]int{}
	return l.labelled(on, off, n), n, nil
}

// OnTopic opens examples of a topic. Where rows have the topic's label, they are meant;
// a set without it is on topic as a whole.
func OnTopic(open datasets.Opener, name string, paths []string) (datasets.Stream, error) {
	var sets []datasets.Stream
	for _, path := range paths {
		set, err := open.Stream([]string{path}, nil, 0, nil)
		if err != nil {
			return nil, err
		}
		for e, err := range set {
			if err == nil && e.Matches(name) {
				set = datasets.Only(set, func(e *datasets.Example) bool { return e.Matches(name) })
				break
			}
		}
		sets = append(sets, set)
	}
	return datasets.Chain(sets...), nil
}

// labelled chains both sides, gives each row its class, and counts them in n.
func (l *Learning) labelled(on, off datasets.Stream, n map[string]int) datasets.Stream {
	as := func(rows datasets.Stream, label string) datasets.Stream {
		return datasets.Map(rows, func(e *datasets.Example) *datasets.Example {
			n[label]++
			return e.Labelled(label, label)
		})
	}
	off = datasets.Only(off, func(e *datasets.Example) bool { return !e.Matches(l.Name) })
	return datasets.Chain(as(on, l.Name), as(off, train.Other))
}
