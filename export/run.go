package export

import (
	"context"
	"errors"
	"iter"

	"golang.org/x/sync/errgroup"

	"fossick/export/collection"
)

// queued is how many pages wait before a sink.
const queued = 8

// Run gives each page to all sinks, in order, and returns how many there were. After the
// last one every sink has finished. Sinks are closed in any case. After an error of one of
// them the others stop.
func Run(ctx context.Context, pages iter.Seq2[*collection.Page, error], sinks []Sink) (records int, err error) {
	g, ctx := errgroup.WithContext(ctx)
	queues := make([]chan *collection.Page, len(sinks))
	for i := range sinks {
		queues[i] = make(chan *collection.Page, queued)
	}
	g.Go(func() error { // the only sender
		err := feed(ctx, pages, queues, &records)
		if err == nil {
			for _, q := range queues {
				close(q)
			}
		}
		return err
	})
	for i, s := range sinks {
		g.Go(func() error { return drain(ctx, s, queues[i]) })
	}
	err = g.Wait()
	return records, err
}

// feed sends the pages to all queues.
func feed(ctx context.Context, pages iter.Seq2[*collection.Page, error], queues []chan *collection.Page, records *int) error {
	for p, err := range pages {
		if err != nil {
			return err
		}
		for _, q := range queues {
			select {
			case q <- p:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		*records++
	}
	return ctx.Err()
}

// drain writes what comes, until the queue is closed, and finishes then.
func drain(ctx context.Context, s Sink, queue <-chan *collection.Page) (err error) {
	defer func() { err = errors.Join(err, s.Close()) }()
	for {
		select {
		case p, more := <-queue:
			if !more {
				return s.Finish(ctx)
			}
			if err := s.Write(ctx, p); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
