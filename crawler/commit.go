package crawler

import (
	"cmp"
	"time"

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
	for o := first; o != nil; o = c.exec.ready() {
		if err := room(); err != nil {
			return err
		}
		if err := c.apply(b, o); err != nil {
			return err
		}
	}
	for _, s := range c.skips {
		if err := room(); err != nil {
			return err
		}
		if err := c.conclude(b, s.id, s.queued, c.fateIn(s.state, s.reason)); err != nil {
			return err
		}
	}
	c.skips = c.skips[:0]
	if err := c.finish(b); err != nil {
		return err
	}
	if err := c.takeBack(); err != nil {
		return err
	}
	return c.turns.timed(TurnRescore, c.learned)
}

func (c *Crawler) finish(b journal.Batch) error {
	c.totals.Elapsed = c.totals.elapsed()
	if err := c.turns.timed(TurnCommit, func() error { return b.Commit(&c.totals.Counts) }); err != nil {
		return err
	}
	c.reader.storedPages.Store(c.totals.Pages)
	return nil
}

// apply journals all that follows from one exchange and frees its host.
func (c *Crawler) apply(b journal.Batch, o *outcome) error {
	switch {
	case o.slow:
		c.slow++
		c.newcomers.Aside(&o.ticket)
		return nil
	case o.partial:
		return c.enterSitemap(b, o)
	}
	c.landed(o)
	if o.err != nil {
		return o.err
	}
	c.observe(o)
	c.totals.attempt(o)
	var err error
	switch {
	case o.task == taskProbe:
		c.applyProbe(o)
	case o.aborted:
		c.requeue(o.job)
		if o.owner != nil {
			o.owner.sitemaps.BrokenOff()
		}
	case o.excused && o.task != taskPage:
		c.forgiveHost(o)
	case o.task == taskAddress && o.resp == nil:
		c.requeue(o.job)
		c.frontier.Done(o.host.party, time.Time{}) // nobody was asked anything
		c.hosts.settleAddress(o.host, o.addr)      // joins another party only when it is free
		return c.hosts.put(b, o.host)
	case o.task == taskAddress:
		err = c.failHost(b, o, "the host's address could not be used")
	case o.task == taskRobots:
		err = c.applyRobots(b, o)
	case o.task == taskSitemap:
		err = c.applySitemap(b, o)
	case o.old != nil:
		err = c.applyRefresh(b, o)
	default:
		err = c.applyPage(b, o)
	}
	if err != nil {
		return err
	}
	if err := c.putExchange(b, o, c.hosts.releaseBoth(o)); err != nil {
		return err
	}
	return c.hosts.put(b, o.host)
}

// landed counts a job out that was in flight.
func (c *Crawler) landed(o *outcome) {
	c.busy--
	c.newcomers.End(&o.ticket)
	if o.late {
		c.slow--
	}
	o.hold(-1)
	if o.task == taskPage && o.old == nil {
		c.pagesBusy--
		c.hosts.countSite(o.host, -1) // counted again when it is stored
	}
}

// conclude ends a URL's wait with its fate; a job that no URL waits for has none.
func (c *Crawler) conclude(b journal.Batch, id store.ID, q store.Queued, fate store.Fate) error {
	if id == 0 {
		return nil
	}
	c.totals.ended(fate.State)
	fate.At = cmp.Or(fate.At, c.opt.Now().UnixMilli())
	fate.Score, fate.Parent = cmp.Or(fate.Score, q.Score), q.Parent
	return b.End(id, fate)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
