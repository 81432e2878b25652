package crawler

import (
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/store"
)

// settle journals everything that follows from one exchange, and frees its host.
func (c *Crawler) settle(b journal.Batch, o *jobResult) error {
	switch {
	case o.Slow:
		c.slow++ // another worker has taken its place
		c.newcomers.Aside(&o.Ticket)
		return nil
	case o.Listed.Partial:
		return c.enterSitemap(b, o)
	}
	c.landed(o)
	if o.Err != nil {
		return o.Err
	}
	if err := c.countFurther(b, o); err != nil {
		return err
	}
	c.observeNetwork(o)
	if o.Resp != nil && !o.Aborted && !o.Excused {
		c.totals.attempted(o.Resp)
		if o.task == taskPage {
			c.chances.Learn(o.Host.Host, o.Discovery.URL, o.Resp)
			if c.files != nil {
				c.files.Learn(o.Host.Host, o.Discovery.URL, o.Resp.Code, o.Resp.WireBytes)
			}
		}
	}
	var err error
	if o.task == taskAddress && (o.Aborted || o.Resp != nil) {
		if err := c.lookedUp(b, o.Host, false); err != nil {
			return err
		}
	}
	switch {
	case o.task == taskProbe:
		c.networkProbed(o)
	case o.Aborted:
		c.requeue(o.job)
		if owner := o.owner(); owner != nil {
			owner.Maps.BrokenOff()
		}
	case o.Excused && o.task != taskPage:
		c.forgiveHost(o)
	case o.task == taskAddress && o.Resp == nil:
		return c.settleAddress(b, o)
	case o.task == taskAddress:
		err = c.robotsFailed(b, o, "the host's address could not be used")
	case o.task == taskRobots:
		err = c.applyRobots(b, o)
	case o.task == taskTDMRep:
		err = c.applyTDMRep(o)
	case o.task == taskSitemap:
		err = c.applySitemap(b, o)
	case o.task == taskNews:
		c.applyNews(o)
	case o.Old != nil:
		err = c.applyRevisit(b, o)
	default:
		err = c.applyPage(b, o)
	}
	if err != nil {
		return err
	}
	c.learnYield(o)
	if err := putExchange(c.hosts, b, o, c.releaseHost(o)); err != nil {
		return err
	}
	if err := c.addressFound(b, o.asked()); err != nil { // the address may have changed
		return err
	}
	return c.hosts.Put(b, o.Host)
}

// settleAddress records the address that was found. No server was asked, so the host need not
// rest.
func (c *Crawler) settleAddress(b journal.Batch, o *jobResult) error {
	c.requeue(o.job)
	c.frontier.Done(o.Host.Party, time.Time{})
	c.hosts.SettleAddress(o.Host, o.Found) // a host joins another party only while it is free
	if err := c.lookedUp(b, o.Host, true); err != nil {
		return err
	}
	if err := c.addressFound(b, o.Host); err != nil {
		return err
	}
	return c.hosts.Put(b, o.Host)
}

// forgiveHost excuses a failed exchange that is for no page: the host counts the request, but
// not the failure.
func (c *Crawler) forgiveHost(o *jobResult) {
	if o.task != taskAddress {
		c.totals.asked(o.asked().Host)
	}
	if owner := o.owner(); owner != nil {
		owner.Maps.BrokenOff()
	}
	c.requeue(o.job)
}

// releaseHost frees the hosts that an exchange used, lets the one that was asked rest, and
// returns that rest.
func (c *Crawler) releaseHost(o *jobResult) hosts.Rest {
	due := c.hosts.RestOf(o.asked(), o.Resp)
	c.hosts.Release(o.asked(), due)
	if o.Resp != nil {
		c.observeCycle(o.Resp.Took, due.Address)
	}
	if o.other() != nil {
		c.hosts.ReleaseUnasked(o.Host)
	}
	c.hosts.ReviewAddress(o.asked(), o.Resp, due)
	return due
}

// putExchange journals an exchange that is for no page, under the host that was asked.
func putExchange(t *hosts.Table, b journal.Batch, o *jobResult, due hosts.Rest) error {
	purpose, ok := o.task.purpose()
	if !ok || o.Aborted {
		return nil
	}
	h, r := o.asked(), o.Resp
	number := h.Exchanges + 1
	switch {
	case o.Sitemap == nil:
		h.Exchanges = number
	case o.Sitemap.Exchange == 0:
		h.Exchanges, o.Sitemap.Exchange = number, number
	default:
		number = o.Sitemap.Exchange // an earlier part has the number
	}
	x := exchangeOf(purpose, r, due)
	x.Note = o.Note
	if owner := o.owner(); owner != nil && owner != h {
		x.Owner = owner.Name
	}
	other := o.other()
	if other != nil {
		x.Owner = o.Host.Name
	}
	if err := b.PutExchange(h.Name, number, x); err != nil || other == nil {
		return err // settle writes the record of o.Host
	}
	return t.Put(b, h)
}

func exchangeOf(purpose store.Purpose, r *fetch.Response, due hosts.Rest) store.Exchange {
	x := store.Exchange{
		For: purpose, URL: r.URL, Start: r.Start.UnixMilli(), Millis: r.Took.Milliseconds(),
		State: string(r.State), Code: r.Code, Bytes: r.WireBytes, Location: r.Location, Error: r.ErrorText(),
		RetryAfter: r.RetryAfter.Milliseconds(),
	}
	x.Rest, x.Own = due.Millis()
	return x
}

func visitOf(r *fetch.Response) store.Visit {
	return store.Visit{
		Start: r.Start.UnixMilli(), Millis: r.Took.Milliseconds(),
		State: string(r.State), Code: r.Code, Bytes: r.WireBytes, Error: r.ErrorText(), RetryAfter: r.RetryAfter.Milliseconds(),
	}
}
