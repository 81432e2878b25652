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
	"fossick/internal/usage"
	"fossick/models"
	"fossick/train"
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

	// Fetch fetches a start page, as a crawl would.
	Fetch func(ctx context.Context, url string) (*datasets.Example, error)
}

// learnt is a topic's model.
type learnt struct {
	Model     *models.Model
	Report    *train.Report
	Pool      *train.PU // nil where pages off topic are known
	Negatives []string  // sets that these come from
}

// How many pages a model is trained on at least: with fewer on a side, five folds leave
// nothing to judge by.
const (
	fewestExamples = 10
	fewestGiven    = 5 // examples, without negatives
)

// learn trains the model.
func (l *Learning) learn(ctx context.Context) (*learnt, error) {
	on, no, err := Examples(l.Open, l.Name, l.Examples)
	if err != nil {
		return nil, err
	}
	if no != nil && len(l.Unlabelled) > 0 {
		return nil, usage.Errorf("topic %s: %s has pages that are labelled off topic, so --unlabelled pages are not needed; leave them out", l.Name, strings.Join(l.Examples, ", "))
	}
	off, few, many := l.Negatives, fewestExamples, "50"
	known := len(off) > 0 || no != nil // pages off topic
	if !known {
		few, many = fewestGiven, "30"
		if off = l.Unlabelled; len(off) == 0 {
			l.Say("no --unlabelled pages: the built-in demo set stands for the web; pages from around your topic, such as an old crawl, would teach the model more")
			off = []string{"demo"}
		}
	}
	rows, n, err := l.rows(on, no, off)
	if err != nil {
		return nil, err
	}
	// Linear: its probabilities tell links apart, where a tree has a handful.
	m, rep, err := train.Train(ctx, l.Rows(rows), train.Options{
		Target:     train.Target{Topic: l.Name, Unlabelled: !known},
		Classifier: models.LinearSVM, Seed: l.Seed, Log: l.Log, Step: l.Step,
		Data: slices.Concat(l.Examples, off), Split: "all",
	})
	switch {
	case err != nil && !errors.Is(err, train.ErrData):
		return nil, fmt.Errorf("topic %s: %w", l.Name, err)
	case n[l.Name] < few:
		return nil, fmt.Errorf("topic %s: %d pages in %s; give at least %d; %s or more make a good model",
			l.Name, n[l.Name], strings.Join(l.Examples, ", "), few, many)
	case n[train.Other] < fewestExamples && !known:
		return nil, fmt.Errorf("topic %s: %d pages in %s; give at least %d with --unlabelled; thousands are better",
			l.Name, n[train.Other], strings.Join(off, ", "), fewestExamples)
	case n[train.Other] < fewestExamples:
		return nil, fmt.Errorf("topic %s: %d pages off the topic in %s; give at least %d with --negatives",
			l.Name, n[train.Other], strings.Join(l.negatives(no != nil), ", "), fewestExamples)
	case err != nil:
		return nil, fmt.Errorf("topic %s: %w", l.Name, err)
	}
	made := &learnt{Model: m, Report: rep, Negatives: l.negatives(no != nil)}
	if rep.PU != nil {
		rep.PU.From = off
		made.Pool = rep.PU
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
		return nil, "", fmt.Errorf("none of %d start pages could be fetched, so there is nothing to choose keywords from; give others, or give --keywords", len(urls))
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

// negatives names the sets that pages known to be off topic come from.
func (l *Learning) negatives(labelled bool) []string {
	if labelled {
		return slices.Concat(l.Examples, l.Negatives)
	}
	return l.Negatives
}

// rows labels both sides; their pages are counted by class as they are read. no are rows
// that the examples' own labels call off topic, or nil.
func (l *Learning) rows(on, no datasets.Stream, others []string) (rows datasets.Stream, n map[string]int, err error) {
	off := datasets.Chain()
	if len(others) > 0 {
		if off, err = l.Open.Stream(others, nil, 0, nil); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case no != nil:
		off = datasets.Chain(no, off)
	case len(l.Negatives) == 0:
		on, off = train.Apart(on, off)
	}
	n = map[string]int{}
	return l.labelled(on, off, n), n, nil
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
