package crawler

import (
	"fossick/crawler/journal"
	"fossick/store"
)

// commit journals first and all outcomes that wait behind it, and what was
// skipped, in one batch or a few; first may be nil. Between the first change in
// memory and the commit no URL is leased, so memory is never ahead of the disk
// for anybody to see.
func (c *Crawler) commit(first *outcome) error {
	b := c.journal.Batch()
	defer func() { b.Cancel() }() // of no effect after Commit
	room := func() error {
		if !b.Full() {
			return nil
		}
		err := c.finish(b)
		b = c.journal.Batch()
		return err
	}
	for o := first; o != nil; o = c.flight.exec.Ready() {
		if err := room(); err != nil {
			return err
		}
		if err := c.exchanges.apply(b, o); err != nil {
			return err
		}
	}
	for _, s := range c.leases.skips {
		if err := room(); err != nil {
			return err
		}
		if err := c.endings.conclude(b, s.id, s.queued, c.endings.of(s.state, s.reason)); err != nil {
			return err
		}
	}
	c.leases.skips = c.leases.skips[:0]
	if err := c.finish(b); err != nil {
		return err
	}
	if err := c.outages.takeBack(c.finish); err != nil {
		return err
	}
	if err := c.keepChances(false); err != nil {
		return err
	}
	return c.rescore()
}

// rescore has the queue hear of what the scorer has learned, also from others: an agent that
// stores nothing, since its links are below the price, would offer them as of when it did.
func (c *Crawler) rescore() error { return c.turns.timed(rescore, c.queue.learned) }

func (c *Crawler) finish(b journal.Batch) error {
	if err := c.turns.timed(Commit, func() error { return c.totals.Commit(b) }); err != nil {
		return err
	}
	c.reader.Stored(c.totals.lastPage())
	c.opt.Committed()
	return nil
}

// keepChances journals what was learned of failures, where it is due; last says that the
// session ends. A journal in memory has no later session.
func (c *Crawler) keepChances(last bool) error {
	book := c.exchanges.chances
	if c.opt.Store == nil || !book.Due(last) {
		return nil
	}
	b := c.journal.Batch()
	defer b.Cancel() // of no effect after Commit
	if err := store.PutChances(journal.Stored(b), book.Kept()); err != nil {
		return err
	}
	return b.Commit(nil)
}
