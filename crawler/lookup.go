package crawler

import (
	"context"
	"time"

	"fossick/fetch"
)

// Names whose servers do not answer cost fifteen seconds each, and three tries. With
// as many of them in the queue as there are workers, nothing else was fetched: 150
// such names kept a crawl from its second page for as long as it was watched. A
// look-up costs next to nothing but time, so one that takes longer goes on beside the
// workers.

const (
	// lookupPatience is how long a worker waits for a look-up. Nearly all are done in a
	// tenth of a second.
	lookupPatience = 500 * time.Millisecond
	// slowLookups is how many may go on beside the workers, for each of these.
	slowLookups = 8
)

// lookUp looks the address of a job's host up. When that takes long it goes on by
// itself: the owner gets to know that the worker is free, and later what came of it;
// then it returns false.
func (c *Crawler) lookUp(ctx context.Context, o *outcome) (done bool) {
	found := make(chan struct{})
	c.lookups.Go(func() {
		c.resolve(ctx, o)
		close(found)
	})
	timer := time.NewTimer(lookupPatience)
	defer timer.Stop()
	select {
	case <-found:
		return true
	case <-timer.C:
	}
	select {
	case c.slowRoom <- struct{}{}:
	default: // too many already
		<-found
		return true
	}
	c.outcomes <- &outcome{job: o.job, slow: true}
	c.lookups.Go(func() {
		<-found
		<-c.slowRoom
		o.late = true
		c.report(ctx, o)
	})
	return false
}

// resolve looks an address up; a failure is a response, as of any exchange.
func (c *Crawler) resolve(ctx context.Context, o *outcome) {
	start := c.opt.Now()
	addr, err := c.opt.Fetcher.Resolve(ctx, o.host.Name)
	if err != nil {
		o.resp = &fetch.Response{URL: o.target, State: fetch.StateOf(err), Err: err, Start: start, Took: c.opt.Now().Sub(start)}
		return
	}
	o.addr = addr
}

// free says whether a worker is.
func (c *Crawler) free() bool { return c.busy-c.slow < c.opt.Workers }
