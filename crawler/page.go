package crawler

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/store"
)

// applyPage journals the exchange for a page, and what became of its URL.
func (c *Crawler) applyPage(b journal.Batch, o *jobResult) error {
	r, h := o.Resp, o.Host
	c.totals.askedPage(h.Host, r)
	if o.Queued.Visits > o.Queued.Excused {
		h.Health.Retried(o.Excused)
	}
	if !o.Excused {
		c.traps.Answered(&h.Trap, o.Discovery.URL)
	}
	visit, visits := visitOf(r), o.Queued.Visits+1
	if err := c.follow(b, o, visits, &visit); err != nil {
		return err
	}
	visit.Rest, visit.Own = c.hosts.RestOf(h, r).Millis()
	visit.Wait, visit.File = o.Page.Wait, o.Page.File
	if err := b.PutVisit(o.ID, visits, visit); err != nil {
		return err
	}
	return putWire(b, o, o.ID, visits)
}

// putWire journals the headers of the n-th exchange for a URL, if these are kept.
func putWire(b journal.Batch, o *jobResult, id store.ID, n int) error {
	if o.Wire.Kind == 0 || o.Wire.Packed == nil {
		return nil
	}
	return b.PutWire(id, n, o.Wire)
}

// follow takes a URL from its exchange to its outcome. Each return is one way to end: the URL
// waits again, redirects, has no page, or has given one.
func (c *Crawler) follow(b journal.Batch, o *jobResult, visits int, visit *store.Visit) error {
	r, h := o.Resp, o.Host
	if c.opt.forgotten(o) {
		return c.conclude(b, o.ID, o.Queued, c.dismissed())
	}
	if o.Excused {
		return c.tryAgain(b, o, visits)
	}
	if hosts.Transient(r) {
		h.Failures++
		return c.retry(b, o, visits, c.hosts.RestOf(h, r).Host)
	}
	if r.State == fetch.StateChallenge { // another try would bring it again
		if h.Failures++; h.Failures >= challengesEnough {
			h.Health.Verdict, h.Health.Why = string(r.State), "the host answered with challenges only, so it is asked no more"
		}
		return c.conclude(b, o.ID, o.Queued, c.outcomeOf(o))
	}
	o.countFailures()
	if r.State == fetch.StateRedirect {
		to, err := c.redirect(b, o)
		visit.Location, o.Wire.Kind = to, store.WireRedirect
		return err
	}
	if r.State != fetch.StateOK {
		if r.State == fetch.StateCode {
			c.traps.Missing(&h.Trap, o.Discovery.URL)
		}
		return c.conclude(b, o.ID, o.Queued, c.outcomeOf(o))
	}
	return c.followPage(b, o)
}

// followPage takes a URL that gave a page to its outcome: the page repeats a stored one, is unwanted,
// or is stored.
func (c *Crawler) followPage(b journal.Batch, o *jobResult) error {
	h := o.Host
	outcome := store.Outcome{State: string(fetch.StateOK), Score: o.Page.Promise, Next: c.nextVisit(interval(o.Discovery.Depth)), Rendering: o.Read.Rendering}
	original, err := repeated(b, o.Read)
	if err != nil {
		return err
	}
	if original != 0 && c.mayStandForOthers(o) {
		if original, err = c.giveWay(b, original, o.Discovery.URL); err != nil {
			return err
		}
	}
	if original != 0 {
		o.Wire.Kind, o.Repeats = store.WireRepeat, true
		c.traps.Duplicate(&h.Trap, o.Discovery.URL)
		outcome.State, outcome.Page, outcome.Reason = string(fetch.StateDuplicate), original, "same content as a page that is stored"
		return c.leavePage(b, o, outcome)
	}
	c.traps.Page(&h.Trap, o.Discovery.URL, o.Read.Print, o.Read.Across)
	near := o.Read.Near
	if !c.opt.KeepNear {
		near = c.latest.near(o.Read)
	}
	if c.mayStandForOthers(o) {
		near.Page = 0
	}
	unwanted, is := o.Read.unwanted()
	switch {
	case near.Page != 0:
		c.totals.NearDuplicates++
		o.Repeats = true
		outcome.State, outcome.Page, outcome.Resemblance = string(fetch.StateDuplicate), near.Page, near.Resemblance
		outcome.Reason = fmt.Sprintf("near-duplicate of page %d (similarity %.2f)", near.Page, near.Resemblance)
	case is:
		outcome.State, outcome.Reason = unwanted.State, unwanted.Reason
	default:
		outcome.Reason, outcome.Rendering = o.Read.origin(), nil // the page's record has it
		if outcome.Page, err = c.keepPage(b, o); err != nil {
			return err
		}
		if err := c.conclude(b, o.ID, o.Queued, outcome); err != nil {
			return err
		}
		return c.announceContent(b, o.Discovery.URL, o.Read.Signature.Bytes(), o.Read.Checksum[:], o.Read.Raw[:])
	}
	if _, err := c.discoverLinks(b, o); err != nil {
		return err
	}
	return c.conclude(b, o.ID, o.Queued, outcome)
}

// challengesEnough in a row end the requests to a host.
const challengesEnough = 10

// backsOff reports a failure after which the host rests ever longer: one that may pass, or a
// challenge.
func backsOff(r *fetch.Response) bool { return hosts.Transient(r) || r.State == fetch.StateChallenge }

// countFailures counts the answers of a host for a page and its scripts: after a refusal of these it
// backs off.
func (o *jobResult) countFailures() {
	switch {
	case o.refusedScripts():
		o.Host.Failures++
	case !backsOff(o.Resp):
		o.Host.Failures = 0
	}
}

// mayStandForOthers reports whether other agents may have dropped pages for the page of this
// URL, which was stored once and lost. It may therefore end as a duplicate only of a page that
// all agents prefer.
func (c *Crawler) mayStandForOthers(o *jobResult) bool {
	return c.opt.several() && o.Queued.Lost
}

// repeated returns the number of a stored page with the same content; 0 if there is none.
func repeated(b journal.Batch, p *parsedPage) (original uint64, err error) {
	for i := range p.Sums {
		if original, err = b.PageWith(p.Sums[i][:]); err != nil || original != 0 {
			return original, err
		}
	}
	return 0, nil
}

// leavePage ends the URL of a page that repeats another one. Only links to new URLs are
// followed, as those of a mirror may be; the others were counted at the stored page.
func (c *Crawler) leavePage(b journal.Batch, o *jobResult, outcome store.Outcome) error {
	o.Read.Found = slices.DeleteFunc(o.Read.Found, func(f link) bool { return f.Seen.ID != 0 && !f.Seen.Skipped })
	if _, err := c.discoverLinks(b, o); err != nil {
		return err
	}
	return c.conclude(b, o.ID, o.Queued, outcome)
}

// keepPage stores a page, queues its links and returns its number.
func (c *Crawler) keepPage(b journal.Batch, o *jobResult) (number uint64, err error) {
	number, o.Wire.Kind = c.totals.nextPage(), store.WirePage
	c.marks.overrule(o.urlid(), &o.Read.Score)
	found(o.Host, o.Read.Feeds)
	links, err := c.discoverLinks(b, o)
	if err != nil {
		return 0, err
	}
	if err := b.PutPage(c.pageRecord(o, number, links), journal.Content{Page: o.Read.Page, Body: o.Read.Body, Made: o.Read.Made}); err != nil {
		return 0, err
	}
	c.latest.add(number, o.Read.Page)
	c.countPage(o)
	return number, nil
}

func (c *Crawler) countPage(o *jobResult) {
	h := o.Host
	c.hosts.CountPage(h)
	c.totals.stored(o.Read.Size, o.Read.Score.Relevant, o.Read.Score.Topics)
	c.reportSpending()
	if o.Read.Score.Relevant {
		h.Relevant++
		if !o.Read.Score.Echo && !c.opt.Scope.Parties { // a party is wanted on topic or not
			c.traps.Relevant(&h.Trap, o.Discovery.URL)
		}
	}
	c.harvest.Count(o.Read.Score.Relevant)
}

func (c *Crawler) pageRecord(o *jobResult, number uint64, links []store.ID) *store.Page {
	p, header := o.Read, o.Resp.Header
	return &store.Page{
		Number: number, ID: o.urlid(), URL: o.Discovery.URL,
		ContentType: o.Resp.ContentType, RobotsTag: robotsTag(header),
		Checksum: p.Checksum[:], Raw: p.Raw[:], Sketch: p.Sketch, Signature: p.Signature.Bytes(), Title: p.Title, Lang: p.Lang, Links: links,
		Score: p.Score.Value, Terms: p.Score.Terms, Account: p.Score.Account, Relevant: p.Score.Relevant, Overruled: p.Score.Overruled,
		Label: p.Score.Label, Probability: p.Score.Probability, Rule: p.Score.Rule,
		Bytes: o.Read.Size, At: o.Resp.Start.UnixMilli(), Depth: o.Discovery.Depth,
		Charset: p.Charset, LinkKinds: p.LinkKinds(), Unseen: int64(p.Unseen) + 1,
		Rendering: p.Rendering, Rights: c.rightsOf(o), Topics: p.Score.Topics, Parent: o.Queued.Score, ETag: header.Get("ETag"), Modified: header.Get("Last-Modified"),
	}
}

// conclude ends a URL's wait; a job without a URL (id 0) has nothing to end.
func (c *Crawler) conclude(b journal.Batch, id store.ID, place store.Queued, outcome store.Outcome) error {
	if id == 0 {
		return nil
	}
	if c.opt.several() { // an earlier owner of the part may have ended it meanwhile
		switch was, err := b.Ended(id); {
		case err == nil:
			c.totals.reopened(was)
		case !errors.Is(err, store.ErrUnknown):
			return err
		}
	}
	c.totals.States[outcome.State]++
	outcome.At = cmp.Or(outcome.At, c.opt.Now().UnixMilli())
	outcome.Score, outcome.Parent = cmp.Or(outcome.Score, place.Score), place.Parent
	return b.End(id, outcome)
}

// nextVisit returns the time of the next visit for the journal, 0 for never.
func (c *Crawler) nextVisit(after time.Duration) int64 {
	if after <= 0 {
		return 0
	}
	return c.opt.Now().Add(after).UnixMilli()
}

// outcomeOf returns the outcome of a URL that its exchange ended.
func (c *Crawler) outcomeOf(o *jobResult) store.Outcome {
	r := o.Resp
	return store.Outcome{State: string(r.State), Reason: r.ErrorText(), Score: o.Page.Promise, Next: c.nextVisit(revisitAfterAnswer(r, o.Discovery.Depth))}
}

// outcome returns the outcome of a URL that ended without an exchange of its own.
func (c *Crawler) outcome(state, reason string) store.Outcome {
	return store.Outcome{State: state, Reason: reason, Next: c.nextVisit(revisitAfter(fetch.State(state), 0))}
}

// retry queues a URL again after a failure that may pass, or gives it up. Its priority falls
// by the chance that another try succeeds.
func (c *Crawler) retry(b journal.Batch, o *jobResult, visits int, rest time.Duration) error {
	place, err := b.Queued(o.ID) // Excused may have changed during the exchange
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", o.ID, err)
	}
	place.Visits = visits
	again, why := o.Host.Health.Retry(o.Resp, visits-place.Excused)
	if again {
		key := page.Key(o.Discovery.URL)
		worth := c.raised(0, key, o.Priority)
		c.chances.Retry(o.Host.Name, o.Discovery.URL, o.Resp, c.opt.Now().Add(rest))
		o.Priority = c.lowered(0, key, worth)
		c.requeue(o.job)
		return b.Queue(o.ID, place)
	}
	outcome := c.outcomeOf(o)
	if why != "" {
		outcome.Reason = strings.TrimPrefix(outcome.Reason+"; "+why, "; ")
	}
	return c.conclude(b, o.ID, place, outcome)
}

// tryAgain queues a URL again after a failure that does not count.
func (c *Crawler) tryAgain(b journal.Batch, o *jobResult, visits int) error {
	place, err := b.Queued(o.ID)
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", o.ID, err)
	}
	place.Visits = visits
	place.Excused++
	c.requeue(o.job)
	return b.Queue(o.ID, place)
}

// redirect queues the target with the priority of the URL, so that each hop waits for its own
// host and robots.txt.
func (c *Crawler) redirect(b journal.Batch, o *jobResult) (store.ID, error) {
	outcome := store.Outcome{State: string(fetch.StateRedirect), Score: o.Page.Promise, Next: c.nextVisit(revisitAfterAnswer(o.Resp, o.Discovery.Depth))}
	target, err := redirectTarget(c.opt.URLs, o.Resp)
	switch {
	case err != nil:
		outcome.Reason = "the target of the redirect cannot be used: " + err.Error()
	case o.Discovery.Hops+1 > maxHops:
		outcome.Reason = "too many redirects in a row"
	}
	var id store.ID
	if outcome.Reason == "" {
		score := c.scoreOfRedirect(o.Queued.Score, c.raised(0, page.Key(o.Discovery.URL), o.Priority))
		f := link{URL: target, Hash: store.HashURL(target), Score: score, Skip: c.opt.Scope.Excludes(target)}
		if f.Skip == "" {
			f.Skip = c.opt.Scope.refusal(o.Discovery.URL, target)
		}
		var led []float64
		if s, ok := c.opt.Scorer.(Redirected); ok {
			led = s.Led(page.Key(o.Discovery.URL))
			s.Lead(page.Key(target), led)
		}
		discovery := store.Discovery{From: o.urlid(), Via: store.ViaRedirect, Depth: o.Discovery.Depth, Hops: o.Discovery.Hops + 1}
		if id, err = c.discover(b, discovery, f, orders.Link{Score: score, Step: c.totals.LastPage()}); err != nil {
			return 0, err
		}
		if err := c.sendLinks(b, Parcel{From: o.Discovery.URL, Via: discovery.Via, Depth: discovery.Depth, Hops: discovery.Hops, Led: led}); err != nil {
			return 0, err
		}
		outcome.Reason = "to " + target
	}
	return id, c.conclude(b, o.ID, o.Queued, outcome)
}
