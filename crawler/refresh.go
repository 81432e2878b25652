package crawler

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"fossick/fetch"
	"fossick/frontier"
	"fossick/page"
	"fossick/store"
)

// A resumed crawl can be told to look again at the pages that it stored long ago
// (paper D, D7: conditional requests). They come before the queue, those first
// whose next visit is longest overdue, under the same manners as all else.
//
// Nothing is journalled of what is to be refreshed: it follows from the times in
// the pages' records. So a kill costs nothing; the next session asks for what is
// still old. A URL keeps its fate and its page until an answer says otherwise.

// Refreshed counts what asking for stored pages again has brought in one session.
type Refreshed struct {
	Asked       uint64 // exchanges for them
	NotModified uint64 // 304, or the same content again
	Changed     uint64 // stored anew
	Gone        uint64 // other answers: the old page stays, unless it says noindex, and its URL has that state
	Failed      uint64 // no answer that tells: to be asked again by the next refresh
}

// refreshing is the state of a refresh, the owner's.
type refreshing struct {
	on bool // only stored pages are asked for; the queue waits in the journal
	Refreshed
}

// beginRefresh queues the stored pages that were not seen for the time that is
// asked for; they are more urgent than anything else.
func (c *Crawler) beginRefresh() error {
	if !c.refresh.on {
		return nil
	}
	now := c.opt.Now()
	for p, err := range c.store.Stale(now.Add(-c.opt.Refresh).UnixMilli(), now.UnixMilli()) {
		if err != nil {
			return fmt.Errorf("pages to be refreshed: %w", err)
		}
		c.pushRefresh(p.ID, p.URL, -float64(p.Next))
	}
	return c.frontier.Err()
}

// pushRefresh queues a stored page. It has no key, so a scorer that learns does
// not move it.
func (c *Crawler) pushRefresh(id store.ID, url string, priority float64) {
	c.frontier.Push(frontier.Item{ID: frontier.ID(id), Host: c.frontier.Host(page.Host(url)), Priority: priority})
}

// endRefresh lets the queue in.
func (c *Crawler) endRefresh() error {
	c.refresh.on = false
	if err := c.queueWaiters(); err != nil {
		return err
	}
	if scorer, ok := c.opt.Scorer.(Rescorer); ok {
		c.rescore(scorer)
	}
	return nil
}

// prepareRefresh makes a job of a leased URL whose page is stored. Its id is 0, as
// of all jobs that no URL of the queue waits for: what ends it ends no URL.
func (c *Crawler) prepareRefresh(it frontier.Item) (*job, error) {
	old, err := c.store.CopyOf(store.ID(it.ID))
	if err != nil {
		return nil, fmt.Errorf("page to be refreshed: %w", err)
	}
	h, err := c.host(page.Host(old.Birth.URL), old.Birth.URL)
	if err != nil {
		return nil, err
	}
	j := &job{host: h, birth: old.Birth, target: old.Birth.URL, priority: it.Priority, old: old,
		queued: store.Queued{Score: old.Page.Parent, Visits: old.Visits}}
	c.reconsider(h)
	switch {
	case h.verdict != "", old.Visits >= maxVisitNumber:
		return nil, c.passRefresh(j)
	case !h.resolved:
		j.task = taskAddress
		return j, nil
	case !c.robotsFresh(h) || h.probed():
		return c.prepareRobots(j)
	case !h.robots.Allowed(c.opt.Agent, pathOf(j.target)):
		return nil, c.passRefresh(j)
	}
	j.task = taskPage
	return j, nil
}

// maxVisitNumber is the last that a visit's key has room for.
const maxVisitNumber = 1<<16 - 1

// passRefresh leaves a page as it is; its host is free again at once.
func (c *Crawler) passRefresh(j *job) error {
	c.refresh.Failed++
	c.frontier.Done(j.host.party, time.Time{})
	return nil
}

// pageRequest asks for a page, on condition that it changed where it is stored.
func (j *job) pageRequest() fetch.Request {
	r := fetch.Request{URL: j.target}
	if j.old != nil {
		r.ETag, r.LastModified = j.old.Page.ETag, j.old.Page.Modified
	}
	return r
}

// urlID is the number of the job's URL, also where no queue knows it.
func (j *job) urlID() store.ID {
	if j.old != nil {
		return j.old.ID
	}
	return j.id
}

// applyRefresh journals the exchange for a page that is stored.
func (c *Crawler) applyRefresh(b *store.Batch, o *outcome) error {
	r, h := o.resp, o.host
	var err error
	if o.old, err = c.store.CopyOf(o.old.ID); err != nil { // somebody may have marked it meanwhile
		return fmt.Errorf("page that was refreshed: %w", err)
	}
	c.counts.Requests++
	c.refresh.Asked++
	h.Requests++
	if r.State == fetch.StateCode {
		c.counts.Codes[r.Code]++
	}
	visit := visitOf(r)
	h.Failures = 0
	switch {
	case o.excused:
		c.requeue(o.job)
	case transient(r):
		h.Failures++
		c.refresh.Failed++
	case r.State == fetch.StateNotModified:
		c.refresh.NotModified++
		err = c.keepCopy(b, o)
	case r.State == fetch.StateOK:
		err = c.compareCopy(b, o, &visit)
	case r.State == fetch.StateRedirect:
		err = c.moveCopy(b, o, &visit)
	default:
		err = c.loseCopy(b, o, c.fateBy(o))
	}
	if err != nil {
		return err
	}
	visit.Rest, visit.Own = c.restOf(h, r).millis()
	visit.RetryAfter = r.RetryAfter.Milliseconds()
	return b.PutVisit(o.old.ID, o.old.Visits+1, visit)
}

// keepCopy notes that a page is as it was.
func (c *Crawler) keepCopy(b *store.Batch, o *outcome) error {
	p := *o.old.Page
	p.Checked = o.resp.Start.UnixMilli()
	if tag := o.resp.Header.Get("ETag"); tag != "" {
		p.ETag = tag
	}
	if modified := o.resp.Header.Get("Last-Modified"); modified != "" {
		p.Modified = modified
	}
	if err := b.PutPageRecord(&p); err != nil {
		return err
	}
	return c.putCopyFate(b, o, store.Fate{State: string(fetch.StateOK), Next: c.next(changeInterval(o.birth.Depth))})
}

// compareCopy stores a page anew if its content has changed. The visit keeps the
// checksum of the content that it replaced.
func (c *Crawler) compareCopy(b *store.Batch, o *outcome, visit *store.Visit) error {
	p, old := o.page, o.old.Page
	if p.NoIndex { // before all else: its text may be the same as ever
		return c.withdrawCopy(b, o)
	}
	if bytes.Equal(p.Checksum[:], old.Checksum) {
		c.refresh.NotModified++
		return c.keepCopy(b, o)
	}
	if f, unwanted := o.unwanted(); unwanted {
		return c.loseCopy(b, o, f)
	}
	other, err := b.PageWith(p.Checksum[:])
	if err != nil {
		return err
	}
	if other != 0 && other != old.Number { // two pages cannot have one content
		visit.State = string(fetch.StateDuplicate)
		return c.loseCopy(b, o, store.Fate{State: string(fetch.StateDuplicate), Next: c.next(changeInterval(o.birth.Depth)),
			Reason: fmt.Sprintf("same content as page %d by now", other)})
	}
	links, err := c.queueLinks(b, o)
	if err != nil {
		return err
	}
	c.refresh.Changed++
	c.obey(o)
	visit.Was = old.Checksum
	record := c.record(o, old.Number, links)
	if err := b.ReplacePage(old, record, o.body); err != nil {
		return err
	}
	c.counts.Bytes += uint64(record.Bytes) - uint64(old.Bytes)
	if record.Relevant {
		c.counts.Relevant++
	}
	if old.Relevant {
		c.counts.Relevant--
	}
	return c.putCopyFate(b, o, store.Fate{State: string(fetch.StateOK), Next: c.next(changeInterval(o.birth.Depth))})
}

// withdrawCopy obeys an author who asks by now that a page be not kept. It is asked
// for again when it is due, and stored again when the author thinks better of it.
func (c *Crawler) withdrawCopy(b *store.Batch, o *outcome) error {
	fate, _ := o.unwanted()
	fate.Next = c.next(changeInterval(o.birth.Depth))
	fate.Reason = store.MetaRobots + " of the page says noindex by now: its content is deleted"
	if old := o.old.Page; !old.Withdrawn {
		if err := b.WithdrawPage(old); err != nil {
			return err
		}
		c.counts.Bytes -= uint64(old.Bytes)
	}
	return c.loseCopy(b, o, fate)
}

// loseCopy notes that a URL gives its page no more. What was stored stays.
func (c *Crawler) loseCopy(b *store.Batch, o *outcome, fate store.Fate) error {
	c.refresh.Gone++
	fate.Stored = true
	return c.putCopyFate(b, o, fate)
}

// moveCopy notes that a page has moved, and queues where to.
func (c *Crawler) moveCopy(b *store.Batch, o *outcome, visit *store.Visit) (err error) {
	fate := c.fateBy(o)
	if visit.Location, err = c.redirect(b, o); err != nil {
		return err
	}
	if target, err := c.targetOf(o.resp); err == nil && visit.Location != 0 {
		fate.Reason = "to " + target
	} else {
		fate.Reason = "its target cannot be used, or there were too many before it"
	}
	return c.loseCopy(b, o, fate)
}

// waitingURLs counts the URLs that wait, also while the frontier does not have them.
func (c *Crawler) waitingURLs() int {
	if c.opt.Refresh <= 0 {
		return c.frontier.Len()
	}
	n := c.counts.URLs - c.counts.Skipped
	for _, ended := range c.counts.States {
		n -= min(n, ended)
	}
	return int(n)
}

// putCopyFate gives a URL whose page is stored a new fate.
func (c *Crawler) putCopyFate(b *store.Batch, o *outcome, fate store.Fate) error {
	old := o.old.Fate
	if c.counts.States[old.State]--; c.counts.States[old.State] == 0 {
		delete(c.counts.States, old.State)
	}
	c.counts.States[fate.State]++
	fate.Page, fate.Score, fate.Parent, fate.At = old.Page, old.Score, old.Parent, c.opt.Now().UnixMilli()
	return b.PutFate(o.old.ID, fate)
}

// discoverLater gives a URL that waits in the journal the priority that it has by
// one parent more, while the frontier has stored pages only.
func (c *Crawler) discoverLater(b *store.Batch, id, parent store.ID, f found, link frontier.Link) error {
	q, err := b.Queued(id)
	if errors.Is(err, store.ErrUnknown) {
		return nil // it has ended
	}
	if err != nil {
		return err
	}
	link.Queued, link.Old = true, q.Priority
	priority := c.opt.Ordering.Priority(link)
	if priority == q.Priority {
		return nil
	}
	q.Priority, q.Score, q.Parent = priority, f.score, parent
	return c.putQueued(b, id, q)
}
