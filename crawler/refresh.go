package crawler

import (
	"errors"
	"fmt"
	"time"

	"fossick/crawler/journal"
	"fossick/crawler/refresh"
	"fossick/fetch"
	"fossick/frontier"
	"fossick/graph/orders"
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

// beginRefresh queues the stored pages that were not seen for the time that is
// asked for; they are more urgent than anything else.
func (c *Crawler) beginRefresh() error {
	if !c.refresh.On {
		return nil
	}
	now := c.opt.Now()
	for p, err := range c.archive.Stale(now.Add(-c.opt.Refresh).UnixMilli(), now.UnixMilli()) {
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
	c.refresh.On = false
	if err := c.queueWaiters(); err != nil {
		return err
	}
	c.rescore()
	return nil
}

// prepareRefresh makes a job of a leased URL whose page is stored. Its id is 0, as
// of all jobs that no URL of the queue waits for: what ends it ends no URL.
func (c *Crawler) prepareRefresh(it frontier.Item) (*job, error) {
	old, err := c.archive.CopyOf(store.ID(it.ID))
	if err != nil {
		return nil, fmt.Errorf("page to be refreshed: %w", err)
	}
	h, err := c.hosts.get(page.Host(old.Birth.URL), old.Birth.URL)
	if err != nil {
		return nil, err
	}
	j := &job{host: h, birth: old.Birth, target: old.Birth.URL, priority: it.Priority, old: old,
		queued: store.Queued{Score: old.Page.Parent, Visits: old.Visits}}
	h.health.Reconsider(c.opt.Now())
	switch {
	case h.health.Verdict != "", old.Visits >= maxVisitNumber:
		return nil, c.passRefresh(j)
	case !h.resolved:
		j.task = taskAddress
		return j, nil
	case !c.hosts.robotsFresh(h) || h.health.Probed():
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
	c.refresh.Passed()
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
func (c *Crawler) applyRefresh(b journal.Batch, o *outcome) error {
	r, h := o.resp, o.host
	var err error
	if o.old, err = c.archive.CopyOf(o.old.ID); err != nil { // somebody may have marked it meanwhile
		return fmt.Errorf("page that was refreshed: %w", err)
	}
	c.totals.askedPage(h, r)
	visit := visitOf(r)
	h.Failures = 0
	if err := (&renewal{c, b, o, &visit}).apply(); err != nil {
		return err
	}
	visit.Rest, visit.Own = c.hosts.restOf(h, r).Millis()
	visit.RetryAfter = r.RetryAfter.Milliseconds()
	return b.PutVisit(o.old.ID, o.old.Visits+1, visit)
}

// waitingURLs counts the URLs that wait, also while the frontier does not have them.
func (c *Crawler) waitingURLs() int {
	if c.opt.Refresh <= 0 {
		return c.frontier.Len()
	}
	return c.totals.waiting()
}

// discoverLater gives a URL that waits in the journal the priority that it has by
// one parent more, while the frontier has stored pages only.
func (c *Crawler) discoverLater(b journal.Batch, id, parent store.ID, f found, link orders.Link) error {
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
	return b.Queue(id, q)
}

// next returns the end of a wait that begins now, as the journal has it.
func (c *Crawler) next(after time.Duration) int64 {
	if after <= 0 {
		return 0
	}
	return c.opt.Now().Add(after).UnixMilli()
}

// fateBy returns the fate of a URL that an exchange ended.
func (c *Crawler) fateBy(o *outcome) store.Fate {
	r := o.resp
	return store.Fate{State: string(r.State), Reason: errorText(r.Err), Score: o.promise, Next: c.next(refresh.AfterAnswer(r, o.birth.Depth))}
}

// fateIn returns the fate of a URL that no exchange of its own ended.
func (c *Crawler) fateIn(state, reason string) store.Fate {
	return store.Fate{State: state, Reason: reason, Next: c.next(refresh.After(fetch.State(state), 0))}
}
