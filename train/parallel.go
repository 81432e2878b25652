package train

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// parallel calls f with the numbers below n, limit of them at a time, until one fails.
func parallel(ctx context.Context, limit, n int, f func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(limit)
	for i := range n {
		g.Go(func() error { return f(ctx, i) })
	}
	return g.Wait()
}

// upTo returns the numbers below n.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
