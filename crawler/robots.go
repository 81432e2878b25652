package crawler

import (
	"fmt"

	"fossick/crawler/health"
	"fossick/crawler/journal"
	"fossick/fetch"
)

// applyRobots takes in an answer for robots.txt. The URL that waited for it
// goes back to its place.
func (c *Crawler) applyRobots(b journal.Batch, o *outcome) error {
	h, r := o.host, o.resp
	c.totals.asked(o.asked())
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
	if health.Transient(r) {
		if !h.health.LastTry() || r.State != fetch.StateCode {
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
	h.hop, h.hops = "", 0
	h.health.Met()
	h.sitemaps.Renamed()
	c.requeue(o.job)
	return nil
}

// failHost counts a failure of the first contact with a host, or of a probe of one that
// answered before. In the end all its URLs end with the network's state.
func (c *Crawler) failHost(b journal.Batch, o *outcome, what string) error {
	h, r, again := &o.host.health, o.resp, false
	h.CountFirst()
	if health.Silent(r) && h.Lived() && o.other == nil {
		back, closed := c.network.FailedProbe(h, r.State)
		if err := (pardon{c, b}).urls(back); err != nil {
			return err
		}
		again = !closed
	} else {
		again = h.FailedFirst(r, what)
	}
	if again {
		c.requeue(o.job)
		return nil
	}
	return c.conclude(b, o.id, o.queued, c.fateIn(h.Verdict, h.Why))
}
