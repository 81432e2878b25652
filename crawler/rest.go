package crawler

import (
	"time"

	"fossick/crawler/health"
	"fossick/fetch"
)

// crawlDelay is what the robots.txt of h asks for, 0 for nothing.
func (t *hostTable) crawlDelay(h *host) time.Duration {
	if h.robots == nil {
		return 0
	}
	delay, _ := h.robots.CrawlDelay(t.opt.Agent)
	return delay
}

// restOf returns what is due to h after an exchange.
func (t *hostTable) restOf(h *host, r *fetch.Response) health.Rest {
	return t.opt.Delay.Of(h.Failures, r, t.network.Took(r), t.crawlDelay(h))
}

// release lets h and its address rest after an exchange and remembers until when. The
// pause between two probes is no rest that is due to the host: it ends with the session.
func (t *hostTable) release(h *host, due health.Rest) {
	now := t.opt.Now()
	h.RestFor, h.RestMillis = due.Reason, due.Wish.Milliseconds()
	if due.Host > 0 {
		h.Next = now.Add(due.Host).UnixMilli()
	}
	var until time.Time
	if due.Address > 0 {
		until = now.Add(due.Address)
	}
	t.frontier.Done(h.party, until)
	if own := max(due.Host, h.health.Pause()); own > due.Address {
		t.frontier.Rest(h.party, now.Add(own))
	}
}

// releaseBoth lets those rest whom an exchange used, and returns what is due to the one
// that was asked. A host whose robots.txt is at another one was not.
func (t *hostTable) releaseBoth(o *outcome) health.Rest {
	due := t.restOf(o.asked(), o.resp)
	t.release(o.asked(), due)
	if o.other != nil {
		t.release(o.host, t.opt.Delay.After(0, 0, 0, 0))
	}
	t.reviewAddress(o.asked(), o.resp, due)
	return due
}

// holdBack lets a host wait that was leased and not asked, and nobody with it.
func (t *hostTable) holdBack(h *host, until time.Time) {
	t.frontier.Done(h.party, time.Time{})
	t.frontier.Rest(h.party, until)
}
