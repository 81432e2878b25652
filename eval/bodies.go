package eval

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"fossick/internal/page"
	"fossick/store"
)

// eachParsed parses the body of every stored page, calls work on each on
// workers goroutines, and gives the results to sink in the order of the crawl.
// A page that cannot be parsed reaches work as nil. sink runs in one goroutine.
//
// At most 4 pages a worker are in flight, so memory is bounded by their size.
// The order of results never depends on timing.
func eachParsed[R any](ctx context.Context, s *store.Store, workers int,
	work func(*store.Page, *page.Page) R, sink func(*store.Page, R) error,
) error {
	workers = max(workers, 1)
	todo := make(chan task[R])
	inOrder := make(chan task[R], 4*workers) // the same tasks; its capacity bounds the pages in flight
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

// task is a page on its way; done is buffered, so a worker never waits for the sink.
type task[R any] struct {
	page *store.Page
	done chan R
}

// deal sends a task for every page to each of the channels, until ctx ends.
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

// parse reads and parses a stored body. What cannot be parsed, or was withdrawn, is
// nil; what cannot be read is an error, since the store is damaged then.
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
		return nil, nil // the caller is told by the nil page
	}
	return parsed, nil
}
