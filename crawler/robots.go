package crawler

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/store"
)

// prepareRobots makes the job that fetches robots.txt, or its next hop. A hop to another host
// needs that host as well; while it is busy, the URL waits.
func (c *Crawler) prepareRobots(j *job) (*job, error) {
	j.task = taskRobots
	j.Target = cmp.Or(j.Host.Hop, page.RobotsURL(j.Discovery.URL))
	j.Robots = &robotsTask{Request: fetch.RobotsRequest(j.Target)}
	if j.Host.Rules != nil && j.Host.Hop == "" { // only if they have changed
		j.Robots.Request.ETag, j.Robots.Request.LastModified = j.Host.RobotsETag, j.Host.RobotsModified
	}
	if j.Host.Hop == "" {
		return j, nil
	}
	name := page.Host(j.Target)
	if name == j.Host.Name {
		return j, nil
	}
	other, err := c.hosts.Get(name, j.Target)
	if err != nil {
		return nil, err
	}
	if !c.frontier.Take(other.Party, j.Host.Party, c.opt.Now()) {
		c.requeue(j)
		// The host alone, because others at its address are not concerned.
		until := c.opt.Now().Add(minHopWait)
		if rested := c.frontier.Until(other.Party); rested.After(until) {
			until = rested
		}
		c.hosts.HoldBack(j.Host, until)
		return nil, nil
	}
	if !other.Resolved && other.Health.Verdict == "" {
		c.requeue(j)
		c.hosts.HoldBack(j.Host, c.opt.Now().Add(minHopWait))
		return &job{task: taskAddress, Host: other, leased: leased{Discovery: store.Discovery{URL: j.Target}}, Target: j.Target}, nil
	}
	j.Robots.Other = other
	return j, nil
}

// minHopWait is how long a host waits at least for another one that its robots.txt points to.
const minHopWait = 250 * time.Millisecond

// applyRobots takes in an answer for robots.txt. The URL that waited for it goes back to the
// queue.
func (c *Crawler) applyRobots(b journal.Batch, o *jobResult) error {
	h, r := o.Host, o.Resp
	c.totals.asked(o.asked().Host)
	if r.State == fetch.StateRedirect {
		if rules := c.hop(h, r); rules != nil {
			return c.setRobots(o, rules)
		}
		c.requeue(o.job)
		return nil
	}
	if r.State == fetch.StateNotModified {
		h.RobotsAt = c.opt.Now().UnixMilli() // the rules hold for another day
		h.Hop, h.Hops, h.Failures = "", 0, 0
		h.Health.Met()
		c.requeue(o.job)
		return nil
	}
	h.Hop, h.Hops = "", 0
	if o.other() == nil && (r.State == fetch.StateTLSError || r.State == fetch.StateGuardDenied) {
		// None of the host's pages can be fetched, whatever robots.txt says.
		return c.robotsFailed(b, o, "no exchange with the host is possible")
	}
	if r.State == fetch.StateChallenge {
		return c.robotsFailed(b, o, "robots.txt is behind a challenge, so no page of the host is fetched")
	}
	rules, _ := fetch.RobotsFrom(r)
	if hosts.Transient(r) {
		if !h.Health.LastTry() || r.State != fetch.StateCode {
			return c.robotsFailed(b, o, "robots.txt could not be fetched, so no page of the host is fetched")
		}
		h.Failures++ // a lasting error: everything is refused for a day
	} else {
		h.Failures = 0
	}
	if rules == nil {
		return c.robotsFailed(b, o, "robots.txt gave no usable answer")
	}
	return c.setRobots(o, rules)
}

// hop remembers where a host's robots.txt redirects to. It returns rules, else nil, if that is not
// followed.
func (c *Crawler) hop(h *hosts.Host, r *fetch.Response) *fetch.Robots {
	target, err := redirectTarget(c.opt.URLs, r)
	if err == nil && !c.owns(target) { // only that host's agent may ask it
		return fetch.DisallowAll("robots.txt is at " + target + ": " + Reason)
	}
	if h.Hops++; err == nil && h.Hops <= fetch.MaxRobotsRedirects {
		h.Hop = target
		return nil
	}
	// Endless redirects count as a missing file (RFC 9309 section 2.3.1.2).
	return fetch.AllowAll("robots.txt: too many redirects, so everything is allowed")
}

// setRobots keeps the rules of a host for a day. The URL that waited for them goes back to the queue.
func (c *Crawler) setRobots(o *jobResult, rules *fetch.Robots) error {
	err := c.keepRules(o.Host, o.Resp, rules, o.Target == page.RobotsURL(o.Discovery.URL))
	c.requeue(o.job)
	return err
}

// keepRules keeps the rules that a host answered for a day. A file behind a redirect is not direct.
func (c *Crawler) keepRules(h *hosts.Host, r *fetch.Response, rules *fetch.Robots, direct bool) error {
	rules = rules.Narrow(c.opt.Agent, uses...)
	text, err := rules.MarshalText()
	if err != nil {
		return fmt.Errorf("host %s: robots.txt: %w", h.Name, err)
	}
	h.Rules = rules
	h.Robots, h.RobotsCode, h.RobotsAt = text, r.Code, c.opt.Now().UnixMilli()
	c.keepValidators(h, r, direct)
	h.Hop, h.Hops = "", 0
	h.Health.Met()
	h.Maps.Renamed()
	return nil
}

// robotsFailed counts a failure of the first contact with a host, or of a probe of one that
// answered before. In the end all its URLs end with the state of the failure.
func (c *Crawler) robotsFailed(b journal.Batch, o *jobResult, what string) error {
	h, r, again := &o.Host.Health, o.Resp, false
	h.CountFirst()
	if hosts.Silent(r) && h.Lived() && o.other() == nil {
		back, closed := c.network.FailedProbe(h, r.State)
		if err := c.pardon(b, back); err != nil {
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
	return c.conclude(b, o.ID, o.Queued, c.outcome(h.Verdict, h.Why))
}

// maxValidatorBytes bounds a stored ETag.
const maxValidatorBytes = 256

// keepValidators records the version of the rules. A file behind a redirect has none.
func (c *Crawler) keepValidators(h *hosts.Host, r *fetch.Response, direct bool) {
	header := r.Header
	h.RobotsAgent, h.RobotsVersion = c.opt.Agent, fetch.RobotsVersion
	h.RobotsETag, h.RobotsModified = "", ""
	if r.State != fetch.StateOK || !direct {
		return
	}
	if tag := header.Get("ETag"); len(tag) <= maxValidatorBytes {
		h.RobotsETag = tag
	}
	if modified := header.Get("Last-Modified"); len(modified) <= maxValidatorBytes {
		h.RobotsModified = modified
	}
}

// reservationsDue reports whether the host's tdmrep.json comes before the page at url: once a
// day, if the crawl's purpose heeds it and robots.txt allows it.
func (c *Crawler) reservationsDue(h *hosts.Host, url string) bool {
	return c.opt.Purpose.Mines() && !c.hosts.ReservedFresh(h) && h.Rules.Allowed(c.opt.Agent, page.Path(page.TDMRepURL(url)))
}

func tdmRepJob(j *job) *job {
	j.task, j.Target = taskTDMRep, page.TDMRepURL(j.Discovery.URL)
	return j
}

// applyTDMRep takes in an answer for tdmrep.json. The URL that waited for it goes back to the
// queue. If the host could not tell, the old reservations hold for another day.
func (c *Crawler) applyTDMRep(o *jobResult) error {
	h, r := o.Host, o.Resp
	c.totals.asked(h.Host)
	c.requeue(o.job)
	h.TDMAt = c.opt.Now().UnixMilli()
	if backsOff(r) {
		h.Failures++
		return nil
	}
	h.Failures, h.TDM, h.Reserved = 0, nil, fetch.Reservations{}
	if r.State != fetch.StateOK {
		return nil
	}
	var err error
	if h.Reserved, err = fetch.ParseReservations(r.Body); err != nil {
		o.Note = err.Error()
	}
	if h.TDM, err = h.Reserved.MarshalText(); err != nil {
		return fmt.Errorf("host %s: tdmrep.json: %w", h.Name, err)
	}
	return nil
}

// uses are the robots.txt tokens for uses of pages.
var uses = slices.Sorted(maps.Keys(page.UseTokens))

// said returns what a host's robots.txt and tdmrep.json say of the use of a page.
func said(h *hosts.Host, agent, url string) (all []page.Statement) {
	rules, path := h.Rules, page.Path(url)
	if rules == nil {
		return nil
	}
	for _, line := range rules.Usage(agent, path, uses...) {
		all = append(all, page.Said("robots.txt", line[0], line[1]))
	}
	for _, line := range h.Reserved.Said(path) {
		all = append(all, page.Said("tdmrep.json", line[0], line[1]))
	}
	return all
}

// refusal says why a host's files refuse a page for the crawl's purpose, "" if they do not.
func refusal(opt *Options, h *hosts.Host, url string) string {
	if opt.Purpose == "" {
		return ""
	}
	if s := page.Refusal(said(h, opt.Agent, url), opt.Purpose); s != "" {
		return fmt.Sprintf("%s, and the crawl is for %s", s, opt.Purpose)
	}
	return ""
}

// rightsOf returns everything that the owner says of the use of a fetched page.
func (c *Crawler) rightsOf(o *jobResult) (all []string) {
	for _, s := range said(o.Host, c.opt.Agent, o.Discovery.URL) {
		all = append(all, string(s))
	}
	for _, s := range page.RightsInHeader(o.Resp.Header, o.Discovery.URL) {
		all = append(all, string(s))
	}
	return append(all, o.Read.Page.Rights...)
}
