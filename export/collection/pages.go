package collection

import (
	"cmp"
	"context"
	"iter"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// inFlight is how many pages a worker has before it or behind it.
const inFlight = 4

// task is a page on its way; done is buffered, so a worker never waits for who takes it.
type task struct {
	picked
	done chan *Page
}

// Pages yields the chosen pages in order, store after store. After an error there is none.
// A caller that stops early waits for the workers to end.
func (s *Selection) Pages(ctx context.Context) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		workers := runtime.GOMAXPROCS(0)
		callers := ctx
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		g, ctx := errgroup.WithContext(ctx)
		todo := make(chan task)
		inOrder := make(chan task, inFlight*workers) // the same tasks; its capacity bounds the pages in memory
		g.Go(func() error {                          // the only sender of both
			defer close(todo)
			defer close(inOrder)
			return s.deal(ctx, inOrder, todo)
		})
		for range workers {
			g.Go(func() error { return s.work(todo) })
		}
		stopped := false
		for t := range inOrder {
			var p *Page
			select {
			case p = <-t.done:
			case <-ctx.Done():
			}
			if p == nil {
				break
			}
			if p.Damaged {
				s.left.Damaged++
			}
			if stopped = !yield(p, nil); stopped {
				break
			}
		}
		stop()
		for range inOrder { // what the dealer still sends
		}
		// A context that ends when all pages are dealt, and some still being read, is an error
		// of no worker.
		if err := cmp.Or(g.Wait(), context.Cause(callers)); err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// deal sends each chosen page to both channels.
func (s *Selection) deal(ctx context.Context, to ...chan<- task) error {
	for one, err := range s.chosen(ctx, s.c.opt.Looked) {
		if err != nil {
			return err
		}
		t := task{one, make(chan *Page, 1)}
		for _, c := range to {
			select {
			case c <- t:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// work reads pages until there are no more, or one cannot be read.
func (s *Selection) work(todo <-chan task) error {
	for t := range todo {
		p, err := s.read(t.picked)
		if err != nil {
			return err
		}
		t.done <- p
	}
	return nil
}
