package crawler

import (
	"time"

	"fossick/store"
)

// asked returns the host that an exchange is made with: for a robots.txt that was
// redirected to another host, or a sitemap that lies at one, that other one.
func (j *job) asked() *host {
	if j.other != nil {
		return j.other
	}
	return j.host
}

// purposes are what the tasks that are for no URL are for.
var purposes = map[task]store.Purpose{
	taskAddress: store.ForAddress, taskRobots: store.ForRobots, taskSitemap: store.ForSitemap,
}

// journal writes an exchange that is for no URL of the queue, under the host that
// was asked, with the rest that it is due.
func (c *Crawler) journal(b *store.Batch, o *outcome, rest time.Duration) error {
	purpose, ok := purposes[o.task]
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
		Note: o.note, Rest: rest.Milliseconds(), RetryAfter: r.RetryAfter.Milliseconds(),
	}
	if o.other != nil {
		x.Owner = o.host.Name
	}
	if err := b.PutExchange(h.Name, o.exchange, x); err != nil || o.other == nil {
		return err // of o.host itself, apply writes the record
	}
	return c.putHost(b, h)
}
