package crawler

import (
	"errors"
	"fmt"

	"fossick/crawler/journal"
	"fossick/fetch"
	"fossick/frontier"
	"fossick/graph/orders"
	"fossick/page"
	"fossick/store"
)

// discover enters a link's target in the journal and the frontier: new, or
// known with a better parent now, or skipped before and wanted now. birth tells
// how it came to be found; link what the ordering may know. It returns the
// target's number.
func (c *Crawler) discover(b journal.Batch, birth store.Birth, f found, link orders.Link) (store.ID, error) {
	seen := f.seen
	if seen.ID == 0 || seen.Skipped { // it may have changed since the look-up
		var err error
		if seen, err = b.Lookup(f.hash); err != nil {
			return 0, err
		}
	}
	if seen.ID != 0 && !seen.Skipped && !c.refresh.On && !c.frontier.Queued(frontier.ID(seen.ID)) {
		return seen.ID, nil // in flight, or done
	}
	if f.skip == "" {
		f.skip = c.cut(f.url)
		f.trap = f.skip != ""
	}
	switch {
	case seen.ID == 0:
		return c.discoverNew(b, birth, f, link)
	case f.skip != "":
		return seen.ID, nil
	case seen.Skipped:
		c.totals.Skipped--
		return seen.ID, b.Requeue(f.hash, seen.ID, c.enqueue(seen.ID, birth.From, f, link))
	}
	if c.refresh.On {
		return seen.ID, c.discoverLater(b, seen.ID, birth.From, f, link)
	}
	return seen.ID, c.discoverAgain(b, seen.ID, birth.From, f, link)
}

// cut says why a URL is a trap's by what is known of its host, "" when it is not.
func (c *Crawler) cut(url string) string {
	if h := c.hosts.cache.get(page.Host(url)); h != nil {
		return c.traps.Cut(&h.trap, url)
	}
	return ""
}

// discoverAgain gives a URL that waits the priority that it has by one parent
// more.
func (c *Crawler) discoverAgain(b journal.Batch, id, parent store.ID, f found, link orders.Link) error {
	place, err := b.Queued(id)
	if c.opt.Refresh > 0 && errors.Is(err, store.ErrUnknown) {
		return nil // a stored page that is still to be refreshed
	}
	if err != nil {
		return fmt.Errorf("URL %d of the queue: %w", id, err)
	}
	old := place.Priority
	link.Queued, link.Old = true, old
	priority := c.opt.Ordering.Priority(link)
	it := c.item(id, c.frontier.Host(page.Host(f.url)), f.url, priority)
	_, rescores := c.rescorer()
	switch {
	case rescores && !c.frontier.Spilled():
		c.frontier.Push(it) // which may not have the priority that was journalled
	case rescores || priority > old:
		c.frontier.Raise(it) // what is on disk falls only when all is rescored
	case priority < old:
		c.frontier.Push(it)
	}
	if !c.moved(place, priority, f.score) {
		return nil
	}
	return b.Queue(id, store.Queued{
		Priority: priority, Score: f.score, Parent: parent, Visits: place.Visits, Excused: place.Excused,
	})
}

func (c *Crawler) discoverNew(b journal.Batch, birth store.Birth, f found, link orders.Link) (store.ID, error) {
	id := c.totals.discovered()
	birth.URL = f.url
	birth.At = c.opt.Now().UnixMilli()
	if err := b.Discover(f.hash, id, birth, f.skip != ""); err != nil {
		return 0, err
	}
	if f.skip == "" {
		return id, b.Queue(id, c.enqueue(id, birth.From, f, link))
	}
	state := fetch.StateNone
	if f.trap {
		state = fetch.StateTrap
		c.totals.ended(string(state))
	} else {
		c.totals.Skipped++
	}
	return id, b.End(id, store.Fate{
		State: string(state), Reason: f.skip, At: birth.At, Score: f.score, Parent: birth.From,
	})
}

// enqueue queues a URL that does not wait, and returns its place for the journal.
func (c *Crawler) enqueue(id, parent store.ID, f found, link orders.Link) store.Queued {
	priority := c.opt.Ordering.Priority(link)
	if !c.refresh.On {
		c.frontier.Push(c.item(id, c.frontier.Host(page.Host(f.url)), f.url, priority))
	}
	return store.Queued{Priority: priority, Score: f.score, Parent: parent}
}
