package crawler

import (
	"fmt"
	"maps"
	"time"

	"fossick/crawler/health"
	"fossick/fetch"
	"fossick/graph/orders"
	"fossick/page"
	"fossick/store"
)

// restore puts back the totals, the queue and the rests that the store tells of.
func (c *Crawler) restore() error {
	var err error
	if c.counts, err = c.journal.Counts(); err != nil {
		return err
	}
	c.pagesBefore, c.elapsedPast = c.counts.Pages, c.counts.Elapsed
	c.statesBefore = maps.Clone(c.counts.States)
	if c.counts.URLs == 0 {
		return nil // a new crawl
	}
	now := c.opt.Now()
	c.frontier.RestAll(now.Add(c.opt.Delay.Load(0)))
	for record, err := range c.journal.Hosts() {
		if err != nil {
			return err
		}
		if err := c.restoreHost(record, now); err != nil {
			return err
		}
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
	if err := c.restoreMarginal(); err != nil {
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
		if uint64(w.ID) > c.counts.URLs {
			return fmt.Errorf("URL %d waits, of %d: %w; run fossick repair", w.ID, c.counts.URLs, store.ErrDamaged)
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
			if err := b.Commit(&c.counts); err != nil {
				return err
			}
			b = c.journal.Batch()
		}
		priority := c.opt.Ordering.Priority(orders.Link{Score: e.Score, Step: c.counts.Pages})
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
			c.counts.NearDuplicates--
		}
		if c.counts.States[e.State]--; c.counts.States[e.State] == 0 {
			delete(c.counts.States, e.State)
		}
	}
	return b.Commit(&c.counts)
}

// restoreHost makes a host rest as if an exchange had just ended: whether one
// was in flight when the last session was killed, nobody knows. All rest the
// delay anyway, so only those that rest longer are told to the frontier, and
// nothing else of the host stays in memory.
func (c *Crawler) restoreHost(record *store.Host, now time.Time) error {
	h, err := c.newHost(record, "http://"+record.Name+"/")
	if err != nil {
		return err
	}
	if record.Pages > 0 {
		c.gaveHosts++
		c.countSite(h, int(record.Pages))
	}
	c.knownHosts++
	c.traps.Restore(&h.trap, record.Pages, record.Relevant)
	c.recall(h)
	left := max(c.opt.Delay.After(h.Failures, 0, c.crawlDelay(h), 0).Host, health.RestLeft(record, now))
	if left <= c.opt.Delay.Load(0) {
		return nil
	}
	c.frontier.Rest(h.party, now.Add(left))
	if record.Address != "" && !c.opt.Delay.Fixed { // the record does not say how much of it is due to the address
		c.frontier.RestAddress(record.Address, now.Add(min(left, health.AddressRestMost)))
	}
	return nil
}
