package crawler

import (
	"time"

	"fossick/crawler/frontier"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/store"
)

// settlement applies how an exchange ended, each by its task.
type settlement struct {
	frontier *frontier.Frontier
	totals   *running
	hosts    *hosts.Table
	queue    *queue
	contact  *contact
	sitemaps *sitemapTurns
	revisits *revisits
	arrivals *arrivals
	outages  *outages
	flight   *flight
	choice   *choice
	chances  *hosts.Book

	addresses *addresses
}

// apply journals all that follows from one exchange and frees its host.
func (x *settlement) apply(b journal.Batch, o *outcome) error {
	switch {
	case o.Slow:
		x.flight.aside(o)
		return nil
	case o.Listed.Partial:
		return x.sitemaps.enter(b, o)
	}
	x.flight.landed(o)
	if o.Err != nil {
		return o.Err
	}
	x.outages.observe(o)
	if o.Resp != nil && !o.Aborted && !o.Excused {
		x.totals.attempted(o.Resp)
		if o.task == workPage {
			x.chances.Learn(o.Host.Host, o.Birth.URL, o.Resp)
		}
	}
	var err error
	if o.task == address && (o.Aborted || o.Resp != nil) {
		if err := x.addresses.lookedUp(b, o.Host, false); err != nil {
			return err
		}
	}
	switch {
	case o.task == probe:
		x.outages.probed(o)
	case o.Aborted:
		x.queue.Requeue(o.workJob)
		if owner := o.owner(); owner != nil {
			owner.Maps.BrokenOff()
		}
	case o.Excused && o.task != workPage:
		x.forgiveHost(o)
	case o.task == address && o.Resp == nil:
		return x.settleAddress(b, o)
	case o.task == address:
		err = x.contact.failed(b, o, "the host's address could not be used")
	case o.task == robots:
		err = x.contact.apply(b, o)
	case o.task == tdmRep:
		err = x.contact.applyTDMRep(o)
	case o.task == workSitemap:
		err = x.sitemaps.apply(b, o)
	case o.task == news:
		x.revisits.news.apply(o)
	case o.Old != nil:
		err = x.revisits.apply(b, o)
	default:
		err = x.arrivals.apply(b, o)
	}
	if err != nil {
		return err
	}
	if err := putExchange(x.hosts, b, o, x.release(o)); err != nil {
		return err
	}
	if err := x.addresses.found(b, o.asked()); err != nil { // it may be another by now
		return err
	}
	return x.hosts.Put(b, o.Host)
}

// settleAddress notes the address that was found. No server was asked, so the host need not
// rest.
func (x *settlement) settleAddress(b journal.Batch, o *outcome) error {
	x.queue.Requeue(o.workJob)
	x.frontier.Done(o.Host.Party, time.Time{})
	x.hosts.SettleAddress(o.Host, o.Found) // joins another party only when it is free
	if err := x.addresses.lookedUp(b, o.Host, true); err != nil {
		return err
	}
	if err := x.addresses.found(b, o.Host); err != nil {
		return err
	}
	return x.hosts.Put(b, o.Host)
}

// forgiveHost takes back what counts for nobody of an exchange that is for no page.
func (x *settlement) forgiveHost(o *outcome) {
	if o.task != address {
		x.totals.asked(o.asked().Host)
	}
	if owner := o.owner(); owner != nil {
		owner.Maps.BrokenOff()
	}
	x.queue.Requeue(o.workJob)
}

// release lets those rest whom an exchange used, and returns what is due to the one
// that was asked. A host whose robots.txt is at another one was not.
func (x *settlement) release(o *outcome) hosts.Rest {
	due := x.hosts.RestOf(o.asked(), o.Resp)
	x.hosts.Release(o.asked(), due)
	if o.Resp != nil {
		x.choice.rests(o.Resp.Took, due.Address)
	}
	if o.other() != nil {
		x.hosts.ReleaseUnasked(o.Host)
	}
	x.hosts.ReviewAddress(o.asked(), o.Resp, due)
	return due
}

// putExchange writes an exchange that is for no URL of the queue, under the host that
// was asked, with the rest that it is due.
func putExchange(t *hosts.Table, b journal.Batch, o *outcome, due hosts.Rest) error {
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
		number = o.Sitemap.Exchange // a part of it came before
	}
	x := store.Exchange{
		For: purpose, URL: r.URL, Start: r.Start.UnixMilli(), Millis: r.Took.Milliseconds(),
		State: string(r.State), Code: r.Code, Bytes: r.WireBytes, Location: r.Location, Error: r.ErrorText(),
		Note: o.Note, RetryAfter: r.RetryAfter.Milliseconds(),
	}
	x.Rest, x.Own = due.Millis()
	if owner := o.owner(); owner != nil && owner != h {
		x.Owner = owner.Name
	}
	other := o.other()
	if other != nil {
		x.Owner = o.Host.Name
	}
	if err := b.PutExchange(h.Name, number, x); err != nil || other == nil {
		return err // of o.host itself, apply writes the record
	}
	return t.Put(b, h)
}
