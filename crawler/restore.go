package crawler

import (
	"fossick/crawler/fetch"
	"fossick/store"
)

// restore puts back the totals, the queue and the rests that the store tells of.
func (c *Crawler) restore() error {
	counts, err := c.journal.Counts()
	if err != nil {
		return err
	}
	c.totals.restore(counts)
	c.arrivals.tellPaid()
	if c.totals.URLs() == 0 {
		return nil // a new crawl
	}
	now := c.opt.Now()
	if err := c.exchanges.chances.Restore(c.opt.Store); err != nil {
		return err
	}
	c.leases.frontier.RestAll(now.Add(c.opt.Delay.Load(0)))
	for record, err := range c.journal.Hosts() {
		if err != nil {
			return err
		}
		h, err := c.hosts.Restore(record, now)
		if err != nil {
			return err
		}
		c.outages.recall(h)
		c.exchanges.chances.Recall(record)
	}
	if c.opt.FollowTraps {
		if err := c.queue.reopen(fetch.StateTrap, func(*store.Ended) bool { return true }); err != nil {
			return err
		}
	}
	if c.opt.RefetchLost {
		if err := c.refetchLost(); err != nil {
			return err
		}
	}
	if c.opt.KeepNear {
		if err := c.queue.reopen(fetch.StateDuplicate, func(e *store.Ended) bool { return e.Resemblance > 0 }); err != nil {
			return err
		}
	}
	if !c.queue.Held() {
		if err := c.queue.restore(); err != nil {
			return err
		}
	}
	if err := c.arrivals.harvest.restore(int(c.totals.lastPage()), c.pageRelevant); err != nil {
		return err
	}
	learned, err := c.marks.Replay(c.opt.Scorer, c.totals.lastPage())
	if err == nil && learned {
		c.queue.Rescore()
	}
	return err
}

// pageRelevant says whether a page was relevant when it was stored.
func (c *Crawler) pageRelevant(number uint64) (bool, error) {
	p, err := c.opt.Store.Page(number)
	if err != nil {
		return false, err
	}
	return p.Relevant, nil
}
