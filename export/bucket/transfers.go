package bucket

import (
	"context"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

// What is on its way at once: four parts, or more of what is small.
const (
	mostBytes  = 32 << 20
	leastBytes = 1 << 20 // that a request counts for: so no more than 32 at once
)

// transfers are requests that are on their way. The first that fails ends the others. Safe
// for concurrent use.
type transfers struct {
	ctx    context.Context // of all; its cause is what failed
	cancel context.CancelFunc
	group  *errgroup.Group
	room   *semaphore.Weighted
}

func newTransfers(ctx context.Context) *transfers {
	ctx, cancel := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	return &transfers{ctx: ctx, cancel: cancel, group: g, room: semaphore.NewWeighted(mostBytes)}
}

// send begins a request of so many bytes, when there is room for it.
func (t *transfers) send(size int, do func(context.Context) error) error {
	weight := min(max(int64(size), leastBytes), mostBytes)
	if err := t.room.Acquire(t.ctx, weight); err != nil {
		return t.failed()
	}
	t.group.Go(func() error {
		defer t.room.Release(weight)
		return do(t.ctx)
	})
	return nil
}

// failed is what ended them, nil when nothing did.
func (t *transfers) failed() error { return context.Cause(t.ctx) }

// wait returns after the last of them. Nothing may be sent any more.
func (t *transfers) wait() error {
	defer t.cancel()
	return t.group.Wait()
}

// stop ends them, and returns after the last.
func (t *transfers) stop() {
	t.cancel()
	_ = t.group.Wait() // what failed was told, or is of no interest any more
}
