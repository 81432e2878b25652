package crawler

import (
	"fossick/fetch"
	"fossick/store"
)

// restore puts back the totals, the queue and the rests that the store tells of.
func (c *Crawler) restore() error {
	counts, err := c.journal.Counts()
	if err != nil {
		return err
	}
	c.totals.restore(counts)
	if c.totals.URLs == 0 {
		return nil // a new crawl
	}
	now := c.opt.Now()
	c.queue.frontier.RestAll(now.Add(c.opt.Delay.Load(0)))
	for record, err := range c.journal.Hosts() {
		if err != nil {
			return err
		}
		h, err := c.hosts.restore(record, now)
		if err != nil {
			return err
		}
		c.outages.recall(h)
	}
	if c.opt.FollowTraps {
		if err := c.queue.reopen(fetch.StateTrap, func(*store.Ended) bool { return true }); err != nil {
			return err
		}
	}
	if c.opt.KeepNear {
		if err := c.queue.reopen(fetch.StateDuplicate, func(e *store.Ended) bool { return e.Resemblance > 0 }); err != nil {
			return err
		}
	}
	if !c.queue.held {
		if err := c.queue.restore(); err != nil {
			return err
		}
	}
	if err := c.arrivals.harvest.restore(c.opt.Store, int(c.totals.Pages)); err != nil {
		return err
	}
	return c.people.replay()
}
