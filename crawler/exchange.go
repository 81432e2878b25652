package crawler

import (
	"fossick/crawler/totals"
	"time"

	"fossick/crawler/health"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/frontier"
	"fossick/store"
)

// asked returns the host that an exchange is made with: for a robots.txt that was
// redirected to another host, that other one.
func (j *job) asked() *hosts.Host {
	if other := j.other(); other != nil {
		return other
	}
	return j.host
}

// purpose says what a task that is for no URL is for; false for the others.
func (t task) purpose() (store.Purpose, bool) {
	switch t {
	case taskAddress:
		return store.ForAddress, true
	case taskRobots, taskProbe:
		return store.ForRobots, true
	case taskSitemap:
		return store.ForSitemap, true
	}
	return "", false
}

// settlement applies how an exchange ended, each by its task.
type settlement struct {
	frontier *frontier.Frontier
	totals   *totals.Running
	hosts    *hosts.Table
	queue    *queue
	contact  *contact
	sitemaps *sitemapTurns
	revisits *revisits
	arrivals *arrivals
	outages  *outages
	flight   *flight
}

// apply journals all that follows from one exchange and frees its host.
func (x *settlement) apply(b journal.Batch, o *outcome) error {
	switch {
	case o.slow:
		x.flight.aside(o)
		return nil
	case o.listed.partial:
		return x.sitemaps.enter(b, o)
	}
	x.flight.landed(o)
	if o.err != nil {
		return o.err
	}
	x.outages.observe(o)
	if o.resp != nil && !o.aborted && !o.excused {
		x.totals.Attempted(o.resp)
	}
	var err error
	switch {
	case o.task == taskProbe:
		x.outages.probed(o)
	case o.aborted:
		x.queue.requeue(o.job)
		if owner := o.owner(); owner != nil {
			owner.Maps.BrokenOff()
		}
	case o.excused && o.task != taskPage:
		x.forgiveHost(o)
	case o.task == taskAddress && o.resp == nil:
		x.queue.requeue(o.job)
		x.frontier.Done(o.host.Party, time.Time{}) // nobody was asked anything
		x.hosts.SettleAddress(o.host, o.found)     // joins another party only when it is free
		return x.hosts.Put(b, o.host)
	case o.task == taskAddress:
		err = x.contact.failed(b, o, "the host's address could not be used")
	case o.task == taskRobots:
		err = x.contact.apply(b, o)
	case o.task == taskSitemap:
		err = x.sitemaps.apply(b, o)
	case o.old != nil:
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
	return x.hosts.Put(b, o.host)
}

// forgiveHost takes back what counts for nobody of an exchange that is for no page.
func (x *settlement) forgiveHost(o *outcome) {
	if o.task != taskAddress {
		x.totals.Asked(o.asked().Host)
	}
	if owner := o.owner(); owner != nil {
		owner.Maps.BrokenOff()
	}
	x.queue.requeue(o.job)
}

// release lets those rest whom an exchange used, and returns what is due to the one
// that was asked. A host whose robots.txt is at another one was not.
func (x *settlement) release(o *outcome) health.Rest {
	due := x.hosts.RestOf(o.asked(), o.resp)
	x.hosts.Release(o.asked(), due)
	if o.other() != nil {
		x.hosts.ReleaseUnasked(o.host)
	}
	x.hosts.ReviewAddress(o.asked(), o.resp, due)
	return due
}

// putExchange writes an exchange that is for no URL of the queue, under the host that
// was asked, with the rest that it is due.
func putExchange(t *hosts.Table, b journal.Batch, o *outcome, due health.Rest) error {
	purpose, ok := o.task.purpose()
	if !ok || o.aborted {
		return nil
	}
	h, r := o.asked(), o.resp
	number := h.Exchanges + 1
	switch {
	case o.sitemap == nil:
		h.Exchanges = number
	case o.sitemap.exchange == 0:
		h.Exchanges, o.sitemap.exchange = number, number
	default:
		number = o.sitemap.exchange // a part of it came before
	}
	x := store.Exchange{
		For: purpose, URL: r.URL, Start: r.Start.UnixMilli(), Millis: r.Took.Milliseconds(),
		State: string(r.State), Code: r.Code, Bytes: r.WireBytes, Location: r.Location, Error: errorText(r.Err),
		Note: o.note, RetryAfter: r.RetryAfter.Milliseconds(),
	}
	x.Rest, x.Own = due.Millis()
	if owner := o.owner(); owner != nil && owner != h {
		x.Owner = owner.Name
	}
	other := o.other()
	if other != nil {
		x.Owner = o.host.Name
	}
	if err := b.PutExchange(h.Name, number, x); err != nil || other == nil {
		return err // of o.host itself, apply writes the record
	}
	return t.Put(b, h)
}
