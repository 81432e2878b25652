package crawler

import (
	"fmt"
	"slices"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
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
	visit.Wait = o.Page.Wait
	visit.RetryAfter = r.RetryAfter.Milliseconds()
	return putVisit(b, o, o.ID, visits, visit)
}

// putVisit journals the n-th exchange for a URL, with its headers if these are kept.
func putVisit(b journal.Batch, o *jobResult, id store.ID, n int, visit store.Visit) error {
	if err := b.PutVisit(id, n, visit); err != nil || o.Wire.Kind == 0 || o.Wire.Packed == nil {
		return err
	}
	return b.PutWire(id, n, o.Wire)
}

// follow takes a page from its exchange to its outcome. Each return is one way to end: the URL
// waits again, redirects, has no page, repeats a stored page, is unwanted, or has given a
// page.
func (c *Crawler) follow(b journal.Batch, o *jobResult, visits int, visit *store.Visit) error {
	r, h := o.Resp, o.Host
	if c.opt.forgotten(o) {
		return c.queue.conclude(b, o.ID, o.Queued, c.dismissed())
	}
	if o.Excused {
		return c.queue.tryAgain(b, o, visits)
	}
	if hosts.Transient(r) {
		h.Failures++
		return c.queue.retry(b, o, visits, c.hosts.RestOf(h, r).Host)
	}
	h.Failures = 0
	if r.State == fetch.StateRedirect {
		to, err := c.queue.redirect(b, o)
		visit.Location, o.Wire.Kind = to, store.WireRedirect
		return err
	}
	if r.State != fetch.StateOK {
		if r.State == fetch.StateCode {
			c.traps.Missing(&h.Trap, o.Discovery.URL)
		}
		return c.queue.conclude(b, o.ID, o.Queued, c.queue.outcomeOf(o))
	}
	outcome := store.Outcome{State: string(fetch.StateOK), Score: o.Page.Promise, Next: c.queue.nextVisit(interval(o.Discovery.Depth))}
	original, err := repeated(b, o.Read)
	if err != nil {
		return err
	}
	if original != 0 && c.mayStandForOthers(o) {
		if original, err = c.giveWay(b, original, o.Discovery.URL, o.Read.Checksum[:]); err != nil {
			return err
		}
	}
	if original != 0 {
		o.Wire.Kind = store.WireRepeat
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
		c.totals.nearDuplicate()
		outcome.State, outcome.Page, outcome.Resemblance = string(fetch.StateDuplicate), near.Page, near.Resemblance
		outcome.Reason = fmt.Sprintf("near-duplicate of page %d (similarity %.2f)", near.Page, near.Resemblance)
	case is:
		outcome.State, outcome.Reason = unwanted.State, unwanted.Reason
	default:
		if outcome.Page, err = c.keepPage(b, o); err != nil {
			return err
		}
		if err := c.queue.conclude(b, o.ID, o.Queued, outcome); err != nil {
			return err
		}
		return c.announceContent(b, o.Discovery.URL, o.Read.Signature.Bytes(), o.Read.Checksum[:], o.Read.Raw[:])
	}
	if _, err := c.queue.links(b, o); err != nil {
		return err
	}
	return c.queue.conclude(b, o.ID, o.Queued, outcome)
}

// mayStandForOthers reports whether other agents may have dropped pages for the page of this
// URL, which was stored once and lost. It may therefore end as a duplicate only of a page that
// all agents prefer.
func (c *Crawler) mayStandForOthers(o *jobResult) bool {
	return c.opt.Sites != nil && o.Queued.Excused > 0
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
	if _, err := c.queue.links(b, o); err != nil {
		return err
	}
	return c.queue.conclude(b, o.ID, o.Queued, outcome)
}

// keepPage stores a page, queues its links and returns its number.
func (c *Crawler) keepPage(b journal.Batch, o *jobResult) (number uint64, err error) {
	number, o.Wire.Kind = c.totals.nextPage(), store.WirePage
	c.marks.overrule(o.urlid(), &o.Read.Score)
	found(o.Host, o.Read.Feeds)
	links, err := c.queue.links(b, o)
	if err != nil {
		return 0, err
	}
	if err := b.PutPage(c.pageRecord(o, number, links), journal.Content{Page: o.Read.Page, Body: o.Read.Body}); err != nil {
		return 0, err
	}
	c.latest.add(number, o.Read.Page)
	c.countPage(o)
	return number, nil
}

func visitOf(r *fetch.Response) store.Visit {
	return store.Visit{
		Start: r.Start.UnixMilli(), Millis: r.Took.Milliseconds(),
		State: string(r.State), Code: r.Code, Bytes: r.WireBytes, Error: r.ErrorText(),
	}
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
		Score: p.Score.Value, Terms: p.Score.Terms, Account: p.Score.Account, Relevant: p.Score.Relevant,
		Label: p.Score.Label, Probability: p.Score.Probability, Rule: p.Score.Rule,
		Bytes: o.Read.Size, At: o.Resp.Start.UnixMilli(), Depth: o.Discovery.Depth,
		Charset: p.Charset, LinkKinds: p.LinkKinds(), Unseen: int64(p.Unseen) + 1,
		Rights: c.rightsOf(o), Topics: p.Score.Topics, Parent: o.Queued.Score, ETag: header.Get("ETag"), Modified: header.Get("Last-Modified"),
	}
}
