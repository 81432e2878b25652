package crawler

import (
	"fmt"

	"fossick/crawler/health"
	"fossick/crawler/journal"
	"fossick/crawler/refresh"
	"fossick/fetch"
	"fossick/graph/orders"
	"fossick/store"
)

// applyPage journals the exchange for a page, and what became of its URL.
func (c *Crawler) applyPage(b journal.Batch, o *outcome) error {
	r, h := o.resp, o.host
	c.totals.askedPage(h, r)
	if o.queued.Visits > o.queued.Excused {
		h.Retries++
	}
	if !o.excused {
		c.traps.Answered(&h.trap)
	}
	visit, visits := visitOf(r), o.queued.Visits+1
	if err := c.followPage(b, o, visits, &visit); err != nil {
		return err
	}
	visit.Rest, visit.Own = c.hosts.restOf(h, r).Millis()
	visit.RetryAfter = r.RetryAfter.Milliseconds()
	return b.PutVisit(o.id, visits, visit)
}

// followPage is a page's way from its exchange to its fate. Each return is one of its
// ends: the URL waits again, leads elsewhere, has nothing, repeats what is stored, is not
// wanted, or has given a page.
func (c *Crawler) followPage(b journal.Batch, o *outcome, visits int, visit *store.Visit) error {
	r, h := o.resp, o.host
	if o.excused {
		return c.forgive(b, o, visits)
	}
	if health.Transient(r) {
		h.Failures++
		return c.retry(b, o, visits)
	}
	h.Failures = 0
	if r.State == fetch.StateRedirect {
		to, err := c.redirect(b, o)
		visit.Location = to
		return err
	}
	if r.State != fetch.StateOK {
		if r.State == fetch.StateCode {
			c.traps.Missing(&h.trap, o.birth.URL)
		}
		return c.conclude(b, o.id, o.queued, c.fateBy(o))
	}
	fate := store.Fate{State: string(fetch.StateOK), Score: o.promise, Next: c.next(refresh.Interval(o.birth.Depth))}
	original, err := b.PageWith(o.page.Checksum[:])
	if err != nil {
		return err
	}
	if original != 0 {
		c.traps.Duplicate(&h.trap, o.birth.URL)
		fate.State, fate.Page, fate.Reason = string(fetch.StateDuplicate), original, "same content as a page that is stored"
		return c.conclude(b, o.id, o.queued, fate)
	}
	c.traps.Page(&h.trap, o.birth.URL, o.print, o.across)
	near := c.settleKin(o)
	unwanted, is := o.unwanted()
	switch {
	case near.page != 0:
		c.totals.NearDuplicates++
		fate.State, fate.Page, fate.Resemblance = string(fetch.StateDuplicate), near.page, near.resemblance
		fate.Reason = fmt.Sprintf("near-duplicate of page %d (similarity %.2f)", near.page, near.resemblance)
	case is:
		fate.State, fate.Reason = unwanted.State, unwanted.Reason
	default:
		if fate.Page, err = c.keepPage(b, o); err != nil {
			return err
		}
		return c.conclude(b, o.id, o.queued, fate)
	}
	if _, err := c.queueLinks(b, o); err != nil {
		return err
	}
	return c.conclude(b, o.id, o.queued, fate)
}

// keepPage stores a page, queues its links and returns its number.
func (c *Crawler) keepPage(b journal.Batch, o *outcome) (number uint64, err error) {
	c.totals.Pages++
	number = c.totals.Pages
	c.obey(o)
	links, err := c.queueLinks(b, o)
	if err != nil {
		return 0, err
	}
	if err := b.PutPage(c.record(o, number, links), journal.Content{Page: o.page, Body: o.body}); err != nil {
		return 0, err
	}
	c.latest.add(number, o.page, c.opt.Workers)
	c.countPage(o)
	return number, nil
}

func visitOf(r *fetch.Response) store.Visit {
	return store.Visit{
		Start: r.Start.UnixMilli(), Millis: r.Took.Milliseconds(),
		State: string(r.State), Code: r.Code, Bytes: r.WireBytes, Error: errorText(r.Err),
	}
}

func (c *Crawler) countPage(o *outcome) {
	h := o.host
	c.hosts.countPage(h)
	c.totals.Bytes += uint64(o.size)
	if o.score.Relevant {
		c.totals.Relevant++
		h.Relevant++
		c.traps.Relevant(&h.trap)
	}
	c.marginal.count(o.score.Relevant)
}

func (c *Crawler) record(o *outcome, number uint64, links []store.ID) *store.Page {
	p, header := o.page, o.resp.Header
	return &store.Page{
		Number: number, ID: o.urlID(), URL: o.birth.URL,
		ContentType: o.resp.ContentType, RobotsTag: robotsTag(header),
		Checksum: p.Checksum[:], Sketch: p.Sketch, Signature: signatureOf(p), Title: p.Title, Lang: p.Lang, Links: links,
		Score: o.score.Value, Terms: o.score.Terms, Account: o.score.Account, Relevant: o.score.Relevant,
		Label: o.score.Label, Probability: o.score.Probability, Rule: o.score.Rule,
		Bytes: o.size, At: o.resp.Start.UnixMilli(), Depth: o.birth.Depth,
		Parent: o.queued.Score, ETag: header.Get("ETag"), Modified: header.Get("Last-Modified"),
	}
}

// queueLinks discovers the targets of a page's links and returns their numbers.
func (c *Crawler) queueLinks(b journal.Batch, o *outcome) ([]store.ID, error) {
	ids := make([]store.ID, 0, len(o.links))
	birth := store.Birth{From: o.urlID(), Via: store.ViaLink, Depth: o.birth.Depth + 1}
	for _, f := range o.links {
		id, err := c.discover(b, birth, f, c.linkFrom(o.birth.URL, f))
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// maxHops bounds redirects in a row.
const maxHops = 10

// redirect hands the target back to the frontier, with the place in the queue
// that the URL had: each hop waits for its own host and its own robots.txt.
func (c *Crawler) redirect(b journal.Batch, o *outcome) (store.ID, error) {
	fate := store.Fate{State: string(fetch.StateRedirect), Score: o.promise, Next: c.next(refresh.AfterAnswer(o.resp, o.birth.Depth))}
	target, err := c.targetOf(o.resp)
	switch {
	case err != nil:
		fate.Reason = "its target cannot be used: " + err.Error()
	case o.birth.Hops+1 > maxHops:
		fate.Reason = "too many redirects in a row"
	}
	var id store.ID
	if fate.Reason == "" {
		score := c.handedOn(o.queued.Score, o.priority)
		f := found{url: target, hash: store.HashURL(target), score: score, skip: c.opt.Scope.Excludes(target)}
		birth := store.Birth{From: o.urlID(), Via: store.ViaRedirect, Depth: o.birth.Depth, Hops: o.birth.Hops + 1}
		if id, err = c.discover(b, birth, f, orders.Link{Score: score, Step: c.totals.Pages}); err != nil {
			return 0, err
		}
		fate.Reason = "to " + target
	}
	return id, c.conclude(b, o.id, o.queued, fate)
}

// handedOn is the score that a redirect hands on, of a URL that left the queue with a
// priority: where the scorer rescores it is that, as the score is of some time ago. What
// a start page leads to is one.
func (c *Crawler) handedOn(score, priority float64) float64 {
	if _, rescores := c.rescorer(); rescores && score < 1 {
		return priority
	}
	return score
}
