package crawler

import (
	"fossick/crawler/health"
	"fossick/crawler/journal"
	"fossick/store"
)

// asked returns the host that an exchange is made with: for a robots.txt that was
// redirected to another host, that other one.
func (j *job) asked() *host {
	if j.other != nil {
		return j.other
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

// putExchange writes an exchange that is for no URL of the queue, under the host that
// was asked, with the rest that it is due.
func (c *Crawler) putExchange(b journal.Batch, o *outcome, due health.Rest) error {
	purpose, ok := o.task.purpose()
	if !ok || o.aborted {
		return nil
	}
	h, r := o.asked(), o.resp
	if o.exchange == 0 {
		h.Exchanges++
		o.exchange = h.Exchanges
	}
	x := store.Exchange{
		For: purpose, URL: r.URL, Start: r.Start.UnixMilli(), Millis: r.Took.Milliseconds(),
		State: string(r.State), Code: r.Code, Bytes: r.WireBytes, Location: r.Location, Error: errorText(r.Err),
		Note: o.note, RetryAfter: r.RetryAfter.Milliseconds(),
	}
	x.Rest, x.Own = due.Millis()
	if o.owner != nil && o.owner != h {
		x.Owner = o.owner.Name
	}
	if o.other != nil {
		x.Owner = o.host.Name
	}
	if err := b.PutExchange(h.Name, o.exchange, x); err != nil || o.other == nil {
		return err // of o.host itself, apply writes the record
	}
	return c.hosts.put(b, h)
}
