package crawler

import (
	"fmt"

	"fossick/frontier"
	"fossick/page"
	"fossick/store"
)

// places remembers what the journal says of the URLs that were queued last, so
// that a small crawl never asks the disk: one slot for each remainder of the
// URL's number.
type places []placed

type placed struct {
	id       store.ID
	priority float64
	visits   int
	excused  int
}

const placesInMemory = 1 << 16

func (p places) slot(id store.ID) *placed { return &p[uint64(id)%uint64(len(p))] }

func (p places) put(id store.ID, q store.Queued) {
	*p.slot(id) = placed{id, q.Priority, q.Visits, q.Excused}
}

// place returns the priority of a URL that waits, as it was journalled last, and
// the exchanges made for it; score and parent are left out.
func (c *Crawler) place(b *store.Batch, id store.ID) (store.Queued, error) {
	if p := c.places.slot(id); p.id == id {
		return store.Queued{Priority: p.priority, Visits: p.visits, Excused: p.excused}, nil
	}
	q, err := b.Queued(id)
	if err != nil {
		return q, fmt.Errorf("URL %d of the queue: %w", id, err)
	}
	c.places.put(id, q)
	return q, nil
}

// putQueued journals a URL's place.
func (c *Crawler) putQueued(b *store.Batch, id store.ID, q store.Queued) error {
	c.places.put(id, q)
	return b.PutQueued(id, q)
}

// item is a URL as the frontier knows it.
func (c *Crawler) item(id store.ID, host frontier.Host, url string, priority float64) frontier.Item {
	return frontier.Item{ID: frontier.ID(id), Host: host, Priority: priority, Key: page.Key(url)}
}
