package crawler

import (
	"errors"
	"fmt"

	"fossick/frontier"
	"fossick/store"
)

// plant queues the seeds that the store does not know yet, in as many batches as
// their number needs: a kill in between is mended by the next session, which is
// given the same seeds. Nothing is queued when one of them is out of scope.
func (c *Crawler) plant(seeds []string) error {
	for _, seed := range seeds {
		if why := c.opt.Scope.skipURL(seed); why != "" {
			return fmt.Errorf("start page %s: %s", seed, why)
		}
	}
	for len(seeds) > 0 {
		n, err := c.plantSome(seeds)
		if err != nil {
			return err
		}
		seeds = seeds[n:]
	}
	if c.frontier.Len() == 0 && c.counts.URLs == 0 {
		return errors.New("nothing to crawl: name start pages with --seed or --seeds")
	}
	return nil
}

// plantSome queues as many of the seeds as a batch takes, and returns how many.
func (c *Crawler) plantSome(seeds []string) (n int, err error) {
	b := c.store.Batch()
	defer func() { b.Cancel() }() // of no effect after Commit
	for n < len(seeds) && b.Size() <= store.MaxBatchBytes {
		f := found{url: seeds[n], hash: store.HashURL(seeds[n]), score: 1}
		if _, err := c.discover(b, store.Birth{Via: store.ViaSeed}, f, frontier.Link{Score: 1}); err != nil {
			return 0, err
		}
		n++
	}
	if err := b.PutCounts(&c.counts); err != nil {
		return 0, err
	}
	return n, b.Commit()
}
