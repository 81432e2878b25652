package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"fossick/internal/page"
	"fossick/store"
)

// Classified is a classifier's decision on one page.
type Classified struct {
	Score float64 // probability of the topic
	Rest  string  // most probable other class

	// Unknown drops the page whatever the threshold: the model cannot tell.
	Unknown bool
}

// RefineOptions say how Refine classifies pages.
type RefineOptions struct {
	Topic     string
	Model     string  // recorded in every label
	Threshold float64 // probability of the topic from which a page is kept
	Workers   int     // goroutines that parse and classify; below 1 counts as 1

	// Classify must be safe for concurrent use.
	Classify func(p *page.Page) Classified

	// Explain returns the reason for a label: the rule that fired or the heaviest words. The
	// label is the page's own, which under a low threshold need not be the most probable. Safe
	// for concurrent use; without it the reason is probability and threshold alone.
	Explain func(p *page.Page, label string) string

	// Progress is called after each page, from one goroutine; it may be nil.
	Progress func(done int)
}

type Refined struct {
	Pages    int            `json:"pages"`
	Kept     int            `json:"kept"`
	Dropped  int            `json:"dropped"`
	PerClass map[string]int `json:"per_class"`
}

const unreadable = "unreadable"

// Refine is the second stage of paper A: it classifies every stored page, writes its label, and
// keeps the pages on topic. A page has the topic's label exactly when it is kept, so a low
// threshold keeps a rare topic's pages. A person's mark overrules the model. A second run replaces
// all labels. When ctx ends, labels written so far stay and Refine returns ctx's error.
func Refine(ctx context.Context, s *store.Store, opt RefineOptions) (Refined, error) {
	r := Refined{PerClass: map[string]int{}}
	batch := s.Batch()
	marks, err := marksOf(s)
	if err != nil {
		batch.Cancel()
		return r, err
	}
	of := 1 + slices.Index(s.Info().Topics, opt.Topic) // 0 for a crawl of one topic
	label := func(sp *store.Page, p *page.Page) store.Label {
		l, rest := opt.label(p)
		if of > 0 {
			l.Topic = opt.Topic
		}
		if i := slices.IndexFunc(marks[sp.ID], func(m store.Mark) bool { return m.Topic == of }); i >= 0 {
			return opt.marked(l, marks[sp.ID][i], rest)
		}
		return l
	}
	err = eachParsed(ctx, s, opt.Workers, label, func(p *store.Page, l store.Label) error {
		r.count(l)
		if opt.Progress != nil {
			opt.Progress(r.Pages)
		}
		if err := batch.PutLabel(p.Number, l); err != nil {
			return err
		}
		if batch.Size() < store.MaxBatchBytes {
			return nil
		}
		err := batch.Commit()
		batch = s.Batch()
		return err
	})
	if err != nil && ctx.Err() == nil {
		batch.Cancel()
		return r, err
	}
	return r, errors.Join(err, batch.Commit())
}

// label labels one page; nil is an unparsable one. rest is its label when it is off topic.
func (opt *RefineOptions) label(p *page.Page) (l store.Label, rest string) {
	if p == nil {
		return store.Label{Label: unreadable, Rule: "the body cannot be parsed, or was withdrawn", Model: opt.Model}, unreadable
	}
	c := opt.Classify(p)
	l = store.Label{Label: c.Rest, Score: c.Score, Model: opt.Model}
	sign := "<"
	if c.Score >= opt.Threshold && !c.Unknown {
		l.Label, l.Kept, sign = opt.Topic, true, "≥"
	}
	if opt.Explain != nil {
		l.Rule = opt.Explain(p, l.Label) + "; "
	}
	if c.Unknown {
		l.Rule += fmt.Sprintf("%s not known", opt.Topic)
		return l, c.Rest
	}
	l.Rule += fmt.Sprintf("%s %.3g %s %.3g", opt.Topic, c.Score, sign, opt.Threshold)
	return l, c.Rest
}

func (r *Refined) count(l store.Label) {
	r.Pages++
	r.PerClass[l.Label]++
	if l.Kept {
		r.Kept++
	} else {
		r.Dropped++
	}
}

// Dropped is a page that refine dropped, with the reason.
type Dropped struct{ URL, Label, Rule string }

// NearlyKept returns up to n dropped pages, the closest to the threshold first.
func NearlyKept(s *store.Store, n int) ([]Dropped, error) {
	type candidate struct {
		number uint64
		label  store.Label
	}
	var all []candidate
	for l, err := range s.Labels() {
		if err != nil {
			return nil, err
		}
		if !l.Kept {
			all = append(all, candidate{l.Page, l.Label})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.label.Score, a.label.Score) })
	var out []Dropped
	for _, c := range all[:min(n, len(all))] {
		p, err := s.Page(c.number)
		if err != nil {
			return nil, err
		}
		out = append(out, Dropped{p.URL, c.label.Label, c.label.Rule})
	}
	return out, nil
}

// eachParsed parses every stored page, calls work on workers goroutines, and passes the results to
// sink in crawl order, from one goroutine, whatever the timing. work receives nil for an unparsable
// page. At most 4 pages a worker are in flight, which bounds memory.
func eachParsed[R any](ctx context.Context, s *store.Store, workers int,
	work func(*store.Page, *page.Page) R, sink func(*store.Page, R) error,
) error {
	workers = max(workers, 1)
	todo := make(chan task[R])
	inOrder := make(chan task[R], 4*workers) // the same tasks; the capacity bounds the pages in flight
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { // the only sender of both channels
		defer close(todo)
		defer close(inOrder)
		return deal(ctx, s, inOrder, todo)
	})
	for range workers {
		g.Go(func() error {
			for t := range todo {
				p, err := parse(s, t.page)
				if err != nil {
					return err
				}
				t.done <- work(t.page, p)
			}
			return nil
		})
	}
	g.Go(func() error {
		for t := range inOrder {
			select {
			case r := <-t.done:
				if err := sink(t.page, r); err != nil {
					return err
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return ctx.Err()
	})
	return g.Wait()
}

// task is a page in flight; done is buffered, so a worker never waits for the sink.
type task[R any] struct {
	page *store.Page
	done chan R
}

func deal[R any](ctx context.Context, s *store.Store, to ...chan<- task[R]) error {
	for p, err := range s.Pages() {
		if err != nil {
			return err
		}
		t := task[R]{p, make(chan R, 1)}
		for _, c := range to {
			select {
			case c <- t:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// parse parses a stored body: nil for a withdrawn or unparsable one, an error for a damaged store.
func parse(s *store.Store, p *store.Page) (*page.Page, error) {
	if p.Withdrawn {
		return nil, nil
	}
	body, err := s.Body(p.Number)
	if err != nil {
		return nil, fmt.Errorf("body of %s: %w", p.URL, err)
	}
	parsed, err := page.Parse(body, page.ParseOptions{URL: p.URL, ContentType: p.ContentType})
	if err != nil {
		return nil, nil // nil tells the caller that it is unparsable
	}
	return parsed, nil
}
