package crawler

import (
	"errors"

	"fossick/fetch"
	"fossick/frontier"
	"fossick/page"
	"fossick/store"
)

// discover enters a link's target in the journal and the frontier: new, or
// known with a better parent now, or skipped before and wanted now. birth tells
// how it came to be found; link what the ordering may know. It returns the
// target's number.
func (c *Crawler) discover(b *store.Batch, birth store.Birth, f found, link frontier.Link) (store.ID, error) {
	seen := f.seen
	if seen.ID == 0 || seen.Skipped { // it may have changed since the look-up
		var err error
		if seen, err = b.Lookup(f.hash); err != nil {
			return 0, err
		}
	}
	if seen.ID != 0 && !seen.Skipped && !c.refresh.on && !c.frontier.Queued(frontier.ID(seen.ID)) {
		return seen.ID, nil // in flight, or done
	}
	if f.skip == "" {
		f.skip = c.trapped(c.hosts.get(page.Host(f.url)), f.url)
		f.trap = f.skip != ""
	}
	switch {
	case seen.ID == 0:
		return c.discoverNew(b, birth, f, link)
	case f.skip != "":
		return seen.ID, nil
	case seen.Skipped:
		c.counts.Skipped--
		if err := b.Unskip(f.hash, seen.ID); err != nil {
			return 0, err
		}
		return seen.ID, c.enqueue(b, seen.ID, birth.From, f, link)
	}
	if c.refresh.on {
		return seen.ID, c.discoverLater(b, seen.ID, birth.From, f, link)
	}
	return seen.ID, c.discoverAgain(b, seen.ID, birth.From, f, link)
}

// discoverAgain gives a URL that waits the priority that it has by one parent
// more.
func (c *Crawler) discoverAgain(b *store.Batch, id, parent store.ID, f found, link frontier.Link) error {
	place, err := c.place(b, id)
	if c.opt.Refresh > 0 && errors.Is(err, store.ErrUnknown) {
		return nil // a stored page that is still to be refreshed
	}
	if err != nil {
		return err
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
	return c.putQueued(b, id, store.Queued{
		Priority: priority, Score: f.score, Parent: parent, Visits: place.Visits, Excused: place.Excused,
	})
}

func (c *Crawler) discoverNew(b *store.Batch, birth store.Birth, f found, link frontier.Link) (store.ID, error) {
	c.counts.URLs++
	id := store.ID(c.counts.URLs)
	birth.URL = f.url
	birth.At = c.opt.Now().UnixMilli()
	if err := b.PutBirth(id, birth); err != nil {
		return 0, err
	}
	if err := b.PutSeen(f.hash, id, f.skip != ""); err != nil {
		return 0, err
	}
	if f.skip == "" {
		return id, c.enqueue(b, id, birth.From, f, link)
	}
	state := fetch.StateNone
	if f.trap {
		state = fetch.StateTrap
		c.counts.States[string(state)]++
	} else {
		c.counts.Skipped++
	}
	return id, b.PutFate(id, store.Fate{
		State: string(state), Reason: f.skip, At: birth.At, Score: f.score, Parent: birth.From,
	})
}

// enqueue queues a URL that does not wait.
func (c *Crawler) enqueue(b *store.Batch, id, parent store.ID, f found, link frontier.Link) error {
	priority := c.opt.Ordering.Priority(link)
	if !c.refresh.on {
		c.frontier.Push(c.item(id, c.frontier.Host(page.Host(f.url)), f.url, priority))
	}
	return c.putQueued(b, id, store.Queued{Priority: priority, Score: f.score, Parent: parent})
}
