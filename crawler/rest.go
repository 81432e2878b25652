package crawler

import (
	"time"

	"fossick/crawler/health"
	"fossick/fetch"
)

// crawlDelay is what the robots.txt of h asks for, 0 for nothing.
func (c *Crawler) crawlDelay(h *host) time.Duration {
	if h.robots == nil {
		return 0
	}
	delay, _ := h.robots.CrawlDelay(c.opt.Agent)
	return delay
}

// restOf returns what is due to h after an exchange.
func (c *Crawler) restOf(h *host, r *fetch.Response) health.Rest {
	return c.opt.Delay.Of(h.Failures, r, c.network.Took(r), c.crawlDelay(h))
}

// release lets h and its address rest after an exchange and remembers until when. The
// pause between two probes is no rest that is due to the host: it ends with the session.
func (c *Crawler) release(h *host, due health.Rest) {
	now := c.opt.Now()
	h.RestFor, h.RestMillis = due.Reason, due.Wish.Milliseconds()
	if due.Host > 0 {
		h.Next = now.Add(due.Host).UnixMilli()
	}
	var until time.Time
	if due.Address > 0 {
		until = now.Add(due.Address)
	}
	c.frontier.Done(h.party, until)
	if own := max(due.Host, h.health.Pause()); own > due.Address {
		c.frontier.Rest(h.party, now.Add(own))
	}
}

// releaseBoth lets those rest whom an exchange used, and returns what is due to the one
// that was asked. A host whose robots.txt is at another one was not.
func (c *Crawler) releaseBoth(o *outcome) health.Rest {
	due := c.restOf(o.asked(), o.resp)
	c.release(o.asked(), due)
	if o.other != nil {
		c.release(o.host, c.opt.Delay.After(0, 0, 0, 0))
	}
	c.reviewAddress(o.asked(), o.resp, due)
	return due
}

// holdBack lets a host wait that was leased and not asked, and nobody with it.
func (c *Crawler) holdBack(h *host, until time.Time) {
	c.frontier.Done(h.party, time.Time{})
	c.frontier.Rest(h.party, until)
}
