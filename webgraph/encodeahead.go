package webgraph

import (
	"context"

	"golang.org/x/sync/errgroup"
)

const (
	batchEdges   = 1 << 16 // successors that go to the encoder at a time, or more of one node
	batchNodes   = 1 << 16
	batchesAhead = 3
)

// listBatch is the successors of nodes that follow each other.
type listBatch struct {
	to   []uint32
	ends []int // of each node's
}

// encode gives the writer the sorted edges, each end through number: one goroutine merges
// them into lists while the other encodes those before.
func (b *build) encode(ctx context.Context, w *Writer, number func(uint32) uint32) error {
	free, full := make(chan *listBatch, batchesAhead), make(chan *listBatch, batchesAhead)
	for range batchesAhead {
		free <- &listBatch{}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(full)
		return b.lists(ctx, number, free, full)
	})
	g.Go(func() error {
		for batch := range full {
			from := 0
			for _, end := range batch.ends {
				if err := w.Add(batch.to[from:end]); err != nil {
					return err
				}
				from = end
			}
			free <- batch // there is room for all
		}
		return nil
	})
	return g.Wait()
}

// lists sends the successors of all nodes to the last one that has some.
func (b *build) lists(ctx context.Context, number func(uint32) uint32, free <-chan *listBatch, full chan<- *listBatch) error {
	batch, next := <-free, uint32(0) // the node whose list it is
	end := func() (err error) {
		batch.ends = append(batch.ends, len(batch.to))
		if len(batch.to) < batchEdges && len(batch.ends) < batchNodes {
			return nil
		}
		full <- batch // there is room for all
		select {
		case batch = <-free:
			batch.to, batch.ends = batch.to[:0], batch.ends[:0]
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := b.edges.each(ctx, func(key uint64) error {
		src, dst := number(uint32(key>>32)), number(uint32(key))
		for next < src {
			if err := end(); err != nil {
				return err
			}
			next++
		}
		batch.to = append(batch.to, dst)
		return nil
	})
	if err == nil && len(batch.to) > 0 {
		batch.ends = append(batch.ends, len(batch.to))
		full <- batch
	}
	return err
}
