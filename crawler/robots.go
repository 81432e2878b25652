package crawler

import (
	"fmt"

	"fossick/fetch"
	"fossick/store"
)

// applyRobots takes in an answer for robots.txt. The URL that waited for it
// goes back to its place.
func (c *Crawler) applyRobots(b *store.Batch, o *outcome) error {
	h, r := o.host, o.resp
	c.counts.Requests++
	o.asked().Requests++
	if r.State == fetch.StateRedirect {
		target, err := c.targetOf(r)
		if h.hops++; err == nil && h.hops <= fetch.MaxRobotsRedirects {
			h.hop = target
			c.requeue(o.job)
			return nil
		}
		// A redirect that leads nowhere is as if the file were not there
		// (RFC 9309 section 2.3.1.2).
		return c.setRobots(o, fetch.AllowAll("robots.txt: too many redirects, all is allowed"))
	}
	if r.State == fetch.StateNotModified {
		c.robotsUnchanged(o)
		return nil
	}
	h.hop, h.hops = "", 0
	if o.other == nil && (r.State == fetch.StateTLSError || r.State == fetch.StateGuardDenied) {
		// No robots.txt could tell more: none of the host's pages can be had.
		return c.failHost(b, o, "no exchange with the host is possible")
	}
	rules, _ := fetch.RobotsFrom(r)
	if transient(r) {
		if h.tries+1 < maxVisits || r.State != fetch.StateCode {
			return c.failHost(b, o, "robots.txt could not be fetched, so nothing of the host may be")
		}
		h.Failures++ // it keeps answering with an error: all is refused for a day
	} else {
		h.Failures = 0
	}
	if rules == nil {
		return c.failHost(b, o, "robots.txt gave no answer that settles anything")
	}
	return c.setRobots(o, rules)
}

// setRobots keeps the rules of a host for a day.
func (c *Crawler) setRobots(o *outcome, rules *fetch.Robots) error {
	h := o.host
	text, err := rules.Narrow(c.opt.Agent).MarshalText()
	if err != nil {
		return fmt.Errorf("host %s: robots.txt: %w", h.Name, err)
	}
	h.robots = rules.Narrow(c.opt.Agent)
	h.Robots, h.RobotsCode, h.RobotsAt = text, o.resp.Code, c.opt.Now().UnixMilli()
	c.keepValidators(o)
	h.hop, h.hops, h.tries = "", 0, 0
	if h.Sitemaps != nil && h.Sitemaps.Files == 0 && !h.sitemapBusy {
		h.Sitemaps = nil // the rules before may have been those of a server that could not answer
	}
	c.requeue(o.job)
	return nil
}

// failHost counts a failure of the first contact with a host. After maxVisits of
// them all its URLs end with the network's state; after the first when there is no
// such host. One that answered before is treated with more patience: see failProbe.
func (c *Crawler) failHost(b *store.Batch, o *outcome, what string) error {
	h, r := o.host, o.resp
	h.Failures++
	h.tries++
	if silent(r) && h.lived() && o.other == nil {
		return c.failProbe(b, o)
	}
	if h.tries < maxVisits && transient(r) && !notThere(r) {
		c.requeue(o.job)
		return nil
	}
	h.verdict, h.why = string(r.State), what
	if r.Err != nil {
		h.why = fmt.Sprintf("%s: %v", what, r.Err)
	}
	return c.bury(b, o.id, o.queued, c.fateIn(h.verdict, h.why))
}
