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
	"fossick/internal/rights"
	"fossick/store"
)

// prepareRobots makes the job that fetches robots.txt, or its next hop. A hop
// to another host needs that host as well; while it is in use the URL waits.
func (c *Crawler) prepareRobots(j *workJob) (*workJob, error) {
	j.task = robots
	j.Target = cmp.Or(j.Host.Hop, page.RobotsURL(j.Birth.URL))
	j.Robots = &robotsTask{Request: c.requestOf(j)}
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
		c.queue.Requeue(j)
		// Not the address: the others there have nothing to do with it.
		until := c.opt.Now().Add(minHopWait)
		if rested := c.frontier.Until(other.Party); rested.After(until) {
			until = rested
		}
		c.hosts.HoldBack(j.Host, until)
		return nil, nil
	}
	if !other.Resolved && other.Health.Verdict == "" {
		c.queue.Requeue(j)
		c.hosts.HoldBack(j.Host, c.opt.Now().Add(minHopWait))
		return &workJob{task: address, Host: other, leased: leased{Birth: store.Birth{URL: j.Target}}, Target: j.Target}, nil
	}
	j.Robots.Other = other
	return j, nil
}

// minHopWait is how long a host waits at least for another that its robots.txt points to.
const minHopWait = 250 * time.Millisecond

// applyRobots takes in an answer for robots.txt. The URL that waited for it
// goes back to its place.
func (c *Crawler) applyRobots(b journal.Batch, o *outcome) error {
	h, r := o.Host, o.Resp
	c.totals.asked(o.asked().Host)
	if r.State == fetch.StateRedirect {
		target, err := redirectTarget(c.opt.URLs, r)
		if err == nil && !c.queue.heldPart(target) { // who asks that host, asks it alone
			return c.setRobots(o, fetch.DisallowAll("robots.txt is at "+target+": "+Reason))
		}
		if h.Hops++; err == nil && h.Hops <= fetch.MaxRobotsRedirects {
			h.Hop = target
			c.queue.Requeue(o.workJob)
			return nil
		}
		// A redirect that leads nowhere is as if the file were not there
		// (RFC 9309 section 2.3.1.2).
		return c.setRobots(o, fetch.AllowAll("robots.txt: too many redirects, so everything is allowed"))
	}
	if r.State == fetch.StateNotModified {
		c.robotsUnchanged(o)
		return nil
	}
	h.Hop, h.Hops = "", 0
	if o.other() == nil && (r.State == fetch.StateTLSError || r.State == fetch.StateGuardDenied) {
		// No robots.txt could tell more: none of the host's pages can be had.
		return c.robotsFailed(b, o, "no exchange with the host is possible")
	}
	rules, _ := fetch.RobotsFrom(r)
	if hosts.Transient(r) {
		if !h.Health.LastTry() || r.State != fetch.StateCode {
			return c.robotsFailed(b, o, "robots.txt could not be fetched, so no page of the host is fetched")
		}
		h.Failures++ // it keeps answering with an error: all is refused for a day
	} else {
		h.Failures = 0
	}
	if rules == nil {
		return c.robotsFailed(b, o, "robots.txt gave no usable answer")
	}
	return c.setRobots(o, rules)
}

// setRobots keeps the rules of a host for a day.
func (c *Crawler) setRobots(o *outcome, rules *fetch.Robots) error {
	h := o.Host
	rules = rules.Narrow(c.opt.Agent, uses...)
	text, err := rules.MarshalText()
	if err != nil {
		return fmt.Errorf("host %s: robots.txt: %w", h.Name, err)
	}
	h.Rules = rules
	h.Robots, h.RobotsCode, h.RobotsAt = text, o.Resp.Code, c.opt.Now().UnixMilli()
	c.keepValidators(o)
	h.Hop, h.Hops = "", 0
	h.Health.Met()
	h.Maps.Renamed()
	c.queue.Requeue(o.workJob)
	return nil
}

// robotsFailed counts a failure of the first contact with a host, or of a probe of one that
// answered before. In the end all its URLs end with the network's state.
func (c *Crawler) robotsFailed(b journal.Batch, o *outcome, what string) error {
	h, r, again := &o.Host.Health, o.Resp, false
	h.CountFirst()
	if hosts.Silent(r) && h.Lived() && o.other() == nil {
		back, closed := c.network.FailedProbe(h, r.State)
		if err := c.queue.pardon(b, back); err != nil {
			return err
		}
		again = !closed
	} else {
		again = h.FailedFirst(r, what)
	}
	if again {
		c.queue.Requeue(o.workJob)
		return nil
	}
	return c.queue.conclude(b, o.ID, o.Queued, c.queue.outcome(h.Verdict, h.Why))
}

// maxValidatorBytes bounds an ETag that is kept with a host; real ones have some
// tens of bytes, and a header may have many thousand.
const maxValidatorBytes = 256

// requestOf asks for a host's robots.txt, or for the next hop of a redirect.
// When the rules at hand are a day old and the file's server named their version,
// it asks for the file only if it has changed.
func (c *Crawler) requestOf(j *workJob) fetch.Request {
	req := fetch.RobotsRequest(j.Target)
	if j.Host.Rules != nil && j.Host.Hop == "" {
		req.ETag, req.LastModified = j.Host.RobotsETag, j.Host.RobotsModified
	}
	return req
}

// robotsUnchanged takes in the answer that a robots.txt is as it was (304): its
// rules hold for another day. The URL that waited for it goes back to its place.
func (c *Crawler) robotsUnchanged(o *outcome) {
	h := o.Host
	h.RobotsAt = c.opt.Now().UnixMilli()
	h.Hop, h.Hops, h.Failures = "", 0, 0
	h.Health.Met()
	c.queue.Requeue(o.workJob)
}

// keepValidators notes the version of the rules that o brought. Behind a redirect
// the file is another's, and asked for anew.
func (c *Crawler) keepValidators(o *outcome) {
	h, header := o.Host, o.Resp.Header
	h.RobotsAgent = c.opt.Agent
	h.RobotsETag, h.RobotsModified = "", ""
	if o.Resp.State != fetch.StateOK || o.Target != page.RobotsURL(o.Birth.URL) {
		return
	}
	if tag := header.Get("ETag"); len(tag) <= maxValidatorBytes {
		h.RobotsETag = tag
	}
	if modified := header.Get("Last-Modified"); len(modified) <= maxValidatorBytes {
		h.RobotsModified = modified
	}
}

// reservationsDue says whether a host is to be asked for its tdmrep.json before the page at
// url: where the crawl's purpose heeds it and robots.txt allows it, once a day.
func (c *Crawler) reservationsDue(h *hosts.Host, url string) bool {
	return c.opt.Purpose.Mines() && !c.hosts.ReservedFresh(h) && h.Rules.Allowed(c.opt.Agent, page.Path(page.TDMRepURL(url)))
}

// tdmrepJob has a job fetch tdmrep.json before its page.
func tdmrepJob(j *workJob) *workJob {
	j.task, j.Target = tdmRep, page.TDMRepURL(j.Birth.URL)
	return j
}

// applyTDMRep takes in an answer for tdmrep.json. The URL that waited for it goes back to
// its place. What was known holds on for a day where the host could not tell.
func (c *Crawler) applyTDMRep(o *outcome) error {
	h, r := o.Host, o.Resp
	c.totals.asked(h.Host)
	c.queue.Requeue(o.workJob)
	h.TDMAt = c.opt.Now().UnixMilli()
	if hosts.Transient(r) {
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

// uses are the tokens by which robots.txt speaks to uses of pages.
var uses = slices.Sorted(maps.Keys(rights.Uses))

// said is what robots.txt and tdmrep.json of a host say of the use of a page.
func said(h *hosts.Host, agent, url string) (all []rights.Statement) {
	rules, path := h.Rules, page.Path(url)
	if rules == nil {
		return nil
	}
	for _, line := range rules.Usage(agent, path) {
		all = append(all, rights.Said("robots.txt", line[0], line[1]))
	}
	for _, token := range uses {
		if rules.Speaks(token) && !rules.Allowed(token, path) {
			all = append(all, rights.Said("robots.txt", "user-agent", token))
		}
	}
	for _, line := range h.Reserved.Said(path) {
		all = append(all, rights.Said("tdmrep.json", line[0], line[1]))
	}
	return all
}

// refusal says why a host's files refuse a page for the crawl's purpose, "" when they do not.
func refusal(opt *Options, h *hosts.Host, url string) string {
	if opt.Purpose == "" {
		return ""
	}
	if s := rights.Refusal(said(h, opt.Agent, url), opt.Purpose); s != "" {
		return fmt.Sprintf("%s, and the crawl is for %s", s, opt.Purpose)
	}
	return ""
}

// rightsOf is all that the owner says of the use of a page that has come.
func (c *Crawler) rightsOf(o *outcome) (all []string) {
	for _, s := range said(o.Host, c.opt.Agent, o.Birth.URL) {
		all = append(all, string(s))
	}
	for _, s := range rights.OfHeader(o.Resp.Header) {
		all = append(all, string(s))
	}
	return append(all, o.Read.Page.Rights...)
}
