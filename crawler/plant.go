package crawler

import (
	"errors"
	"fmt"

	"fossick/graph/orders"
	"fossick/store"
)

// plant queues the seeds that the store does not know yet, in as many batches
// as their number needs. A kill in between is mended by the next session, which
// is given the same seeds. Nothing is queued when one of them is out of scope.
func (q *queue) plant(seeds []string) error {
	seeds, err := q.inScope(seeds)
	if err != nil {
		return err
	}
	for len(seeds) > 0 {
		n, err := q.plantSome(seeds)
		if err != nil {
			return err
		}
		seeds = seeds[n:]
	}
	if q.frontier.Len() == 0 && q.totals.URLs() == 0 {
		return errors.New("nothing to crawl: give start pages with --seed or --seeds")
	}
	return nil
}

// inScope refuses seeds out of scope. Those that the store knows are passed over:
// a resumed crawl may have a narrower scope than it began with.
func (q *queue) inScope(seeds []string) (wanted []string, err error) {
	for _, seed := range seeds {
		why := q.opt.Scope.Excludes(seed)
		if why == "" {
			wanted = append(wanted, seed)
			continue
		}
		known, err := q.journal.Lookup([]store.Hash{store.HashURL(seed)})
		if err != nil {
			return nil, err
		}
		if known[0].ID == 0 {
			return nil, fmt.Errorf("start page %s: %s; widen the scope, or give another start page", seed, why)
		}
	}
	return wanted, nil
}

// plantSome queues as many of the seeds as a batch takes, and returns how many.
func (q *queue) plantSome(seeds []string) (n int, err error) {
	b := q.journal.Batch()
	defer func() { b.Cancel() }() // of no effect after Commit
	for n < len(seeds) && !b.Full() {
		f := link{URL: seeds[n], Hash: store.HashURL(seeds[n]), Score: 1}
		if _, err := q.Discover(b, store.Birth{Via: store.ViaSeed}, f, orders.Link{Score: 1}); err != nil {
			return 0, err
		}
		n++
	}
	return n, q.totals.Commit(b)
}
