package crawler

import (
	"fmt"

	"fossick/fetch"
	"fossick/graph/orders"
	"fossick/page"
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
	c.frontier.RestAll(now.Add(c.opt.Delay.Load(0)))
	for record, err := range c.journal.Hosts() {
		if err != nil {
			return err
		}
		h, err := c.hosts.restore(record, now)
		if err != nil {
			return err
		}
		c.traps.Restore(&h.trap, record.Pages, record.Relevant)
		c.recall(h)
	}
	if c.opt.FollowTraps {
		if err := c.queueAgain(fetch.StateTrap, func(*store.Ended) bool { return true }); err != nil {
			return err
		}
	}
	if c.opt.KeepNear {
		if err := c.queueAgain(fetch.StateDuplicate, func(e *store.Ended) bool { return e.Resemblance > 0 }); err != nil {
			return err
		}
	}
	if !c.refresh.On {
		if err := c.queueWaiters(); err != nil {
			return err
		}
	}
	if err := c.marginal.restore(c.archive, int(c.totals.Pages)); err != nil {
		return err
	}
	return c.replay()
}

// queueWaiters gives the frontier the URLs that wait in the journal.
func (c *Crawler) queueWaiters() error {
	for w, err := range c.journal.Waiters() {
		if err != nil {
			return err
		}
		if uint64(w.ID) > c.totals.URLs {
			return fmt.Errorf("URL %d waits, of %d: %w; run fossick repair", w.ID, c.totals.URLs, store.ErrDamaged)
		}
		c.frontier.Push(c.item(w.ID, c.frontier.Host(page.Host(w.URL)), w.URL, w.Queued.Priority))
	}
	return c.frontier.Err()
}

// queueAgain queues what ended in a state again, as far as it is wanted.
func (c *Crawler) queueAgain(state fetch.State, wanted func(*store.Ended) bool) error {
	b := c.journal.Batch()
	defer func() { b.Cancel() }()
	for e, err := range c.archive.EndedIn(string(state)) {
		if err != nil {
			return err
		}
		if !wanted(&e) {
			continue
		}
		if b.Full() {
			if err := b.Commit(&c.totals.Counts); err != nil {
				return err
			}
			b = c.journal.Batch()
		}
		priority := c.opt.Ordering.Priority(orders.Link{Score: e.Score, Step: c.totals.Pages})
		life, err := c.archive.Life(e.URL)
		if err != nil {
			return err
		}
		if err := b.Requeue(store.HashURL(e.URL), e.ID, store.Queued{
			Priority: priority, Score: e.Score, Parent: e.Fate.Parent, Visits: len(life.Visits),
		}); err != nil {
			return err
		}
		if e.Resemblance > 0 {
			c.totals.NearDuplicates--
		}
		c.totals.reopened(e.State)
	}
	return b.Commit(&c.totals.Counts)
}
