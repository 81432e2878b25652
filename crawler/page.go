package crawler

import (
	"fmt"
	"slices"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/store"
)

// arrivals follows new pages from their exchange to their end.
type arrivals struct {
	opt     *Options
	totals  *running
	hosts   *hosts.Table
	traps   *hosts.Detector
	queue   *queue
	endings *endings
	marks   *Book
	latest  *latest
	harvest Watch

	duplicates *duplicates
}

// apply journals the exchange for a page, and what became of its URL.
func (a *arrivals) apply(b journal.Batch, o *outcome) error {
	r, h := o.Resp, o.Host
	a.totals.askedPage(h.Host, r)
	if o.Queued.Visits > o.Queued.Excused {
		h.Health.Retried(o.Excused)
	}
	if !o.Excused {
		a.traps.Answered(&h.Trap, o.Birth.URL)
	}
	visit, visits := visitOf(r), o.Queued.Visits+1
	if err := a.follow(b, o, visits, &visit); err != nil {
		return err
	}
	visit.Rest, visit.Own = a.hosts.RestOf(h, r).Millis()
	visit.Wait = o.Page.Wait
	visit.RetryAfter = r.RetryAfter.Milliseconds()
	return putVisit(b, o, o.ID, visits, visit)
}

// putVisit journals the n-th exchange for a URL, with its headers where these are kept.
func putVisit(b journal.Batch, o *outcome, id store.ID, n int, visit store.Visit) error {
	if err := b.PutVisit(id, n, visit); err != nil || o.Wire.Kind == 0 || o.Wire.Packed == nil {
		return err
	}
	return b.PutWire(id, n, o.Wire)
}

// follow is a page's way from its exchange to its fate. Each return is one of its
// ends: the URL waits again, leads elsewhere, has nothing, repeats what is stored, is not
// wanted, or has given a page.
func (a *arrivals) follow(b journal.Batch, o *outcome, visits int, visit *store.Visit) error {
	r, h := o.Resp, o.Host
	if a.opt.forgotten(o) {
		return a.endings.conclude(b, o.ID, o.Queued, a.dismissed())
	}
	if o.Excused {
		return a.endings.forgive(b, o, visits)
	}
	if hosts.Transient(r) {
		h.Failures++
		return a.endings.retry(b, o, visits, a.hosts.RestOf(h, r).Host)
	}
	h.Failures = 0
	if r.State == fetch.StateRedirect {
		to, err := a.endings.redirect(b, o)
		visit.Location, o.Wire.Kind = to, store.WireRedirect
		return err
	}
	if r.State != fetch.StateOK {
		if r.State == fetch.StateCode {
			a.traps.Missing(&h.Trap, o.Birth.URL)
		}
		return a.endings.conclude(b, o.ID, o.Queued, a.endings.by(o))
	}
	fate := store.Fate{State: string(fetch.StateOK), Score: o.Page.Promise, Next: a.endings.Next(interval(o.Birth.Depth))}
	original, err := repeated(b, o.Read)
	if err != nil {
		return err
	}
	if original != 0 {
		o.Wire.Kind = store.WireRepeat
		a.traps.Duplicate(&h.Trap, o.Birth.URL)
		fate.State, fate.Page, fate.Reason = string(fetch.StateDuplicate), original, "same content as a page that is stored"
		return a.leave(b, o, fate)
	}
	a.traps.Page(&h.Trap, o.Birth.URL, o.Read.Print, o.Read.Across)
	near := o.Read.Near
	if !a.opt.KeepNear {
		near = a.latest.near(o.Read)
	}
	unwanted, is := o.Read.unwanted()
	switch {
	case near.Page != 0:
		a.totals.nearDuplicate()
		fate.State, fate.Page, fate.Resemblance = string(fetch.StateDuplicate), near.Page, near.Resemblance
		fate.Reason = fmt.Sprintf("near-duplicate of page %d (similarity %.2f)", near.Page, near.Resemblance)
	case is:
		fate.State, fate.Reason = unwanted.State, unwanted.Reason
	default:
		if fate.Page, err = a.keep(b, o); err != nil {
			return err
		}
		if err := a.endings.conclude(b, o.ID, o.Queued, fate); err != nil {
			return err
		}
		return a.duplicates.stored(b, o.Birth.URL, o.Read.Signature.Bytes(), o.Read.Checksum[:], o.Read.Raw[:])
	}
	if _, err := a.queue.links(b, o); err != nil {
		return err
	}
	return a.endings.conclude(b, o.ID, o.Queued, fate)
}

// repeated returns the number of a stored page with the content of one that was read; 0 when
// there is none.
func repeated(b journal.Batch, p *readingPage) (original uint64, err error) {
	for i := range p.Sums {
		if original, err = b.PageWith(p.Sums[i][:]); err != nil || original != 0 {
			return original, err
		}
	}
	return 0, nil
}

// leave ends the URL of a page that repeats another one. Of its links those are followed that
// nobody has seen, as those of a mirror are. The others were counted where the content stands.
func (a *arrivals) leave(b journal.Batch, o *outcome, fate store.Fate) error {
	o.Read.Found = slices.DeleteFunc(o.Read.Found, func(f link) bool { return f.Seen.ID != 0 && !f.Seen.Skipped })
	if _, err := a.queue.links(b, o); err != nil {
		return err
	}
	return a.endings.conclude(b, o.ID, o.Queued, fate)
}

// keep stores a page, queues its links and returns its number.
func (a *arrivals) keep(b journal.Batch, o *outcome) (number uint64, err error) {
	number, o.Wire.Kind = a.totals.nextPage(), store.WirePage
	a.obey(o)
	found(o.Host, o.Read.Feeds)
	links, err := a.queue.links(b, o)
	if err != nil {
		return 0, err
	}
	if err := b.PutPage(a.record(o, number, links), journal.Content{Page: o.Read.Page, Body: o.Read.Body}); err != nil {
		return 0, err
	}
	a.latest.add(number, o.Read.Page)
	a.count(o)
	return number, nil
}

func visitOf(r *fetch.Response) store.Visit {
	return store.Visit{
		Start: r.Start.UnixMilli(), Millis: r.Took.Milliseconds(),
		State: string(r.State), Code: r.Code, Bytes: r.WireBytes, Error: r.ErrorText(),
	}
}

func (a *arrivals) count(o *outcome) {
	h := o.Host
	a.hosts.CountPage(h)
	a.totals.stored(o.Read.Size, o.Read.Score.Relevant, o.Read.Score.Topics)
	a.tellPaid()
	if o.Read.Score.Relevant {
		h.Relevant++
		if !o.Read.Score.Echo && !a.opt.Scope.Parties { // a party is wanted whatever is on topic
			a.traps.Relevant(&h.Trap, o.Birth.URL)
		}
	}
	a.harvest.Count(o.Read.Score.Relevant)
}

func (a *arrivals) record(o *outcome, number uint64, links []store.ID) *store.Page {
	p, header := o.Read, o.Resp.Header
	return &store.Page{
		Number: number, ID: o.urlid(), URL: o.Birth.URL,
		ContentType: o.Resp.ContentType, RobotsTag: robotsTag(header),
		Checksum: p.Checksum[:], Raw: p.Raw[:], Sketch: p.Sketch, Signature: p.Signature.Bytes(), Title: p.Title, Lang: p.Lang, Links: links,
		Score: p.Score.Value, Terms: p.Score.Terms, Account: p.Score.Account, Relevant: p.Score.Relevant,
		Label: p.Score.Label, Probability: p.Score.Probability, Rule: p.Score.Rule,
		Bytes: o.Read.Size, At: o.Resp.Start.UnixMilli(), Depth: o.Birth.Depth,
		Charset: p.Charset, LinkKinds: p.LinkKinds(), Unseen: int64(p.Unseen) + 1,
		Rights: a.rights(o), Topics: p.Score.Topics, Parent: o.Queued.Score, ETag: header.Get("ETag"), Modified: header.Get("Last-Modified"),
	}
}

// obey lets what a person said of a URL before it was fetched, also before it was
// fetched again, decide about its page.
func (a *arrivals) obey(o *outcome) {
	a.marks.overrule(o.urlid(), &o.Read.Score)
}
