package crawler

import (
	"cmp"
	"time"

	"fossick/fetch"
	"fossick/frontier"
	"fossick/store"
)

// commit journals first and all outcomes that wait behind it, and what was
// skipped, in one batch or a few; first may be nil. Between the first change in
// memory and the commit no URL is leased, so memory is never ahead of the disk
// for anybody to see.
func (c *Crawler) commit(first *outcome) error {
	b := c.store.Batch()
	defer func() { b.Cancel() }() // of no effect after Commit
	room := func() error {
		if b.Size() <= store.MaxBatchBytes {
			return nil
		}
		err := c.finish(b)
		b = c.store.Batch()
		return err
	}
	for o := first; o != nil; o = c.waiting() {
		if err := room(); err != nil {
			return err
		}
		if err := c.apply(b, o); err != nil {
			return err
		}
	}
	for _, s := range c.skips {
		if err := room(); err != nil {
			return err
		}
		if err := c.bury(b, s.id, s.queued, c.fateIn(s.state, s.reason)); err != nil {
			return err
		}
	}
	c.skips = c.skips[:0]
	if err := c.finish(b); err != nil {
		return err
	}
	if err := c.takeBack(); err != nil {
		return err
	}
	return c.timed(TurnRescore, c.learned)
}

// waiting returns an outcome that is there already, or nil.
func (c *Crawler) waiting() *outcome {
	select {
	case o := <-c.outcomes:
		return o
	default:
		return nil
	}
}

func (c *Crawler) finish(b *store.Batch) error {
	c.counts.Elapsed = c.elapsedPast + c.opt.Now().Sub(c.began)
	if err := b.PutCounts(&c.counts); err != nil {
		return err
	}
	if err := c.timed(TurnCommit, b.Commit); err != nil {
		return err
	}
	c.storedPages.Store(c.counts.Pages)
	return nil
}

// apply journals all that follows from one exchange and frees its host.
func (c *Crawler) apply(b *store.Batch, o *outcome) error {
	switch {
	case o.slow:
		c.slow++
		c.newcomers.aside(o.job)
		return nil
	case o.partial:
		return c.enterSitemap(b, o)
	}
	c.landed(o)
	if o.err != nil {
		return o.err
	}
	o.excused = c.network.excuses(o)
	c.hear(o)
	c.attempt(o)
	var err error
	switch {
	case o.task == taskProbe:
		c.applyProbe(o)
	case o.aborted:
		c.requeue(o.job)
		if o.owner != nil {
			o.owner.sitemapBusy = false
		}
	case o.excused && o.task != taskPage:
		c.forgiveHost(o)
	case o.task == taskAddress && o.resp == nil:
		c.requeue(o.job)
		c.frontier.Done(o.host.party, time.Time{}) // nobody was asked anything
		c.settleAddress(o.host, o.addr)            // joins another party only when it is free
		return c.putHost(b, o.host)
	case o.task == taskAddress:
		err = c.failHost(b, o, "the host's address could not be used")
	case o.task == taskRobots:
		err = c.applyRobots(b, o)
	case o.task == taskSitemap:
		err = c.applySitemap(b, o)
	case o.old != nil:
		err = c.applyRefresh(b, o)
	default:
		err = c.applyPage(b, o)
	}
	if err != nil {
		return err
	}
	if err := c.journal(b, o, c.releaseBoth(o)); err != nil {
		return err
	}
	return c.putHost(b, o.host)
}

// landed counts a job out that was in flight.
func (c *Crawler) landed(o *outcome) {
	c.busy--
	c.newcomers.end(o.job)
	if o.late {
		c.slow--
	}
	o.hold(-1)
	if o.task == taskPage && o.old == nil {
		c.pagesBusy--
		c.countSite(o.host, -1) // counted again when it is stored
	}
}

// applyPage journals the exchange for a page.
func (c *Crawler) applyPage(b *store.Batch, o *outcome) error {
	r, h := o.resp, o.host
	c.counts.Requests++
	h.Requests++
	if r.State == fetch.StateCode {
		c.counts.Codes[r.Code]++
	}
	visits := o.queued.Visits + 1
	if o.queued.Visits > o.queued.Excused {
		h.Retries++
	}
	if !o.excused {
		c.budgets.add(h.site, 1, 0)
	}
	visit := visitOf(r)
	var err error
	switch {
	case o.excused:
		err = c.forgive(b, o, visits)
	case transient(r):
		h.Failures++
		err = c.retry(b, o, visits)
	case r.State == fetch.StateOK:
		h.Failures = 0
		err = c.keepPage(b, o)
	case r.State == fetch.StateRedirect:
		h.Failures = 0
		visit.Location, err = c.redirect(b, o)
	default:
		h.Failures = 0
		if r.State == fetch.StateCode {
			c.observe(h, o.birth.URL, nil)
		}
		err = c.bury(b, o.id, o.queued, c.fateBy(o))
	}
	if err != nil {
		return err
	}
	visit.Rest, visit.Own = c.restOf(h, r).millis()
	visit.RetryAfter = r.RetryAfter.Milliseconds()
	return b.PutVisit(o.id, visits, visit)
}

func visitOf(r *fetch.Response) store.Visit {
	return store.Visit{
		Start: r.Start.UnixMilli(), Millis: r.Took.Milliseconds(),
		State: string(r.State), Code: r.Code, Bytes: r.WireBytes, Error: errorText(r.Err),
	}
}

// keepPage stores a page, unless its content is stored already, to the word or
// nearly, or it is not wanted, and queues its links.
func (c *Crawler) keepPage(b *store.Batch, o *outcome) error {
	p := o.page
	original, err := b.PageWith(p.Checksum[:])
	if err != nil {
		return err
	}
	if original != 0 {
		c.observe(o.host, o.birth.URL, nil)
		c.observeFarm(o.host, nil)
		return c.bury(b, o.id, o.queued, store.Fate{
			State: string(fetch.StateDuplicate), Score: o.promise, Page: original, Reason: "same content as a page that is stored",
			Next: c.next(changeInterval(o.birth.Depth)),
		})
	}
	if o.watched {
		c.observeFarm(o.host, &o.farmLook)
	}
	if k := c.settleKin(o); k.page != 0 {
		return c.leaveNear(b, o, k)
	}
	c.observe(o.host, o.birth.URL, &o.looks)
	fate := store.Fate{State: string(fetch.StateOK), Score: o.promise, Next: c.next(changeInterval(o.birth.Depth))}
	number := uint64(0)
	if f, unwanted := o.unwanted(); unwanted {
		fate.State, fate.Reason = f.State, f.Reason
	} else {
		c.counts.Pages++
		number = c.counts.Pages
		fate.Page = number
		c.obey(o)
	}
	links, err := c.queueLinks(b, o)
	if err != nil {
		return err
	}
	if number != 0 {
		if err := b.PutPage(c.record(o, number, links), o.body); err != nil {
			return err
		}
		c.latest.add(number, o.page, c.opt.Workers)
		c.countPage(o)
	}
	return c.bury(b, o.id, o.queued, fate)
}

func (c *Crawler) countPage(o *outcome) {
	h := o.host
	if h.Pages == 0 {
		c.gaveHosts++
	}
	h.Pages++
	c.countSite(h, 1)
	c.counts.Bytes += uint64(o.size)
	if o.score.Relevant {
		c.counts.Relevant++
		h.Relevant++
		c.budgets.add(h.site, 0, 1)
	}
	c.countHarvest(o.score.Relevant)
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
func (c *Crawler) queueLinks(b *store.Batch, o *outcome) ([]store.ID, error) {
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
func (c *Crawler) redirect(b *store.Batch, o *outcome) (store.ID, error) {
	fate := store.Fate{State: string(fetch.StateRedirect), Score: o.promise, Next: c.next(answerAfter(o.resp, o.birth.Depth))}
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
		if id, err = c.discover(b, birth, f, frontier.Link{Score: score, Step: c.counts.Pages}); err != nil {
			return 0, err
		}
		fate.Reason = "to " + target
	}
	return id, c.bury(b, o.id, o.queued, fate)
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

// bury ends a URL's wait with its fate; a guest's job has no URL.
func (c *Crawler) bury(b *store.Batch, id store.ID, q store.Queued, fate store.Fate) error {
	if id == 0 {
		return nil
	}
	c.counts.States[fate.State]++
	fate.At = cmp.Or(fate.At, c.opt.Now().UnixMilli())
	fate.Score, fate.Parent = cmp.Or(fate.Score, q.Score), q.Parent
	return b.PutFate(id, fate)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
