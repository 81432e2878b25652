package crawler

import (
	"time"

	"fossick/fetch"
	"fossick/store"
)

// A rest has two parts. What load makes due, --delay or some times what the exchange
// took, is due to the machine: all hosts at its address rest. What the host asked for,
// or its failures did, binds the host alone. Else one could put others to rest for a
// year: by an address shared with them, or said to be.

// rest is what is due after an exchange.
type rest struct {
	host    time.Duration // of the host that was asked, for all reasons
	address time.Duration // of its address: for load, and no longer
	reason  string        // of store's RestFor, where host is longer than load makes it
	wish    time.Duration // the rest that the reason asks for
}

// addressRestMost is the longest rest of an address where it goes by the time that
// exchanges took: with one host there that drips its answers, the others have a turn
// after this and not after ten minutes.
const addressRestMost = 10 * minAutoRest

// loadRest is the rest after an exchange that took so long, by --delay alone.
func (c *Crawler) loadRest(took time.Duration) time.Duration {
	if c.opt.Delay.Fixed {
		return c.opt.Delay.Rest
	}
	return max(minAutoRest, autoRestFold*took)
}

// restAfter returns what is due after an exchange that took so long. The host rests by
// the longest of the delay, its robots' Crawl-delay, its Retry-After and the back-off
// after failures.
func (c *Crawler) restAfter(h *host, took, retryAfter time.Duration) rest {
	load := c.loadRest(took)
	r := rest{host: load, address: load}
	if !c.opt.Delay.Fixed {
		r.address = min(load, addressRestMost)
	}
	if h.robots != nil {
		if delay, ok := h.robots.CrawlDelay(c.opt.Agent); ok {
			r.ask(delay, store.RestForCrawlDelay)
		}
	}
	r.ask(backOff(h.Failures), store.RestForFailures)
	r.ask(retryAfter, store.RestForRetryAfter)
	return r
}

// ask makes the host's rest as long as something asks for.
func (r *rest) ask(wish time.Duration, reason string) {
	if wish > r.host {
		r.host, r.wish, r.reason = wish, wish, reason
	}
}

// millis returns the rest of the host, and what of it is its alone, in milliseconds.
func (r rest) millis() (host, own int64) {
	host = r.host.Milliseconds()
	return host, host - r.address.Milliseconds()
}

// restOf returns what is due after an exchange, by restAfter. The time that we took is
// not the host's: neither when we could not ask it, nor while the process was stopped,
// by which a rest of ten times the exchange would be hours.
func (c *Crawler) restOf(h *host, r *fetch.Response) rest {
	took := r.Took
	if r.Start.Before(c.network.stoppedTo) {
		took = 0
	}
	due := c.restAfter(h, took, r.RetryAfter)
	if ownFault(r) {
		due.host = max(due.host, ownFaultRest)
	}
	return due
}

// release lets h and its address rest after an exchange and remembers until when. The
// pause between two probes is no rest that is due to the host: it ends with the session.
func (c *Crawler) release(h *host, due rest) {
	now := c.opt.Now()
	h.RestFor, h.RestMillis = due.reason, due.wish.Milliseconds()
	if due.host > 0 {
		h.Next = now.Add(due.host).UnixMilli()
	}
	var until time.Time
	if due.address > 0 {
		until = now.Add(due.address)
	}
	c.frontier.Done(h.party, until)
	if own := max(due.host, h.pause()); own > due.address {
		c.frontier.Rest(h.party, now.Add(own))
	}
}

// releaseBoth lets those rest whom an exchange used, and returns what is due to the one
// that was asked. A host whose robots.txt is at another one was not.
func (c *Crawler) releaseBoth(o *outcome) rest {
	due := c.restOf(o.asked(), o.resp)
	c.release(o.asked(), due)
	if o.other != nil {
		c.release(o.host, c.restAfter(&host{Host: &store.Host{}}, 0, 0))
	}
	c.reviewAddress(o.asked(), o.resp, due)
	return due
}

// holdBack lets a host wait that was leased and not asked, and nobody with it.
func (c *Crawler) holdBack(h *host, until time.Time) {
	c.frontier.Done(h.party, time.Time{})
	c.frontier.Rest(h.party, until)
}
