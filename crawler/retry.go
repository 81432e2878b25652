package crawler

import (
	"fmt"
	"strings"

	"fossick/crawler/journal"
)

// retry queues a URL again after a failure that may pass, or gives it up.
func (c *Crawler) retry(b journal.Batch, o *outcome, visits int) error {
	q, err := b.Queued(o.id) // what it is excused may have changed while it was in flight
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", o.id, err)
	}
	q.Visits = visits
	again, why := o.host.health.Retry(o.resp, visits-q.Excused)
	if again {
		c.requeue(o.job)
		return b.Queue(o.id, q)
	}
	fate := c.fateBy(o)
	if why != "" {
		fate.Reason = strings.TrimPrefix(fate.Reason+"; "+why, "; ")
	}
	return c.conclude(b, o.id, q, fate)
}

// forgive queues a URL again after a failure that counts for nobody.
func (c *Crawler) forgive(b journal.Batch, o *outcome, visits int) error {
	q, err := b.Queued(o.id)
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", o.id, err)
	}
	q.Visits = visits
	q.Excused++
	c.requeue(o.job)
	return b.Queue(o.id, q)
}

// forgiveHost does the same for an exchange that is for no page.
func (c *Crawler) forgiveHost(o *outcome) {
	if o.task != taskAddress {
		c.totals.asked(o.asked())
	}
	if o.owner != nil {
		o.owner.sitemaps.BrokenOff()
	}
	c.requeue(o.job)
}
