package crawler

import (
	"fmt"
	"math"

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
	score    float64
	visits   int
	excused  int
}

const placesInMemory = 1 << 16

func (p places) slot(id store.ID) *placed { return &p[uint64(id)%uint64(len(p))] }

func (p places) put(id store.ID, q store.Queued) {
	*p.slot(id) = placed{id, q.Priority, q.Score, q.Visits, q.Excused}
}

// place returns the priority and score of a URL that waits, as they were journalled
// last, and the exchanges made for it; the parent is left out.
func (c *Crawler) place(b *store.Batch, id store.ID) (store.Queued, error) {
	if p := c.places.slot(id); p.id == id {
		return store.Queued{Priority: p.priority, Score: p.score, Visits: p.visits, Excused: p.excused}, nil
	}
	q, err := b.Queued(id)
	if err != nil {
		return q, fmt.Errorf("URL %d of the queue: %w", id, err)
	}
	c.places.put(id, q)
	return q, nil
}

// Where the scorer rescores, farPlace is by how much the priority of a URL that waits, a
// probability, may differ from what is journalled of it, and a link is a better one than
// that of which the record is from so many times its score on.
const (
	farPlace   = 0.2
	betterLink = 1.5
)

// moved says whether the place that one more parent gives to a URL that waits is worth
// a record. What a scorer that rescores says of a URL changes with each link to it and
// each page, and the journal is no place to keep that: a resumed crawl rescores the
// queue at once. So of its opinions those are written that name a clearly better parent
// than the journal does, which is what the record is of, or that have moved far: of a URL
// that the scorer forgets, a resumed crawl knows no other.
func (c *Crawler) moved(old store.Queued, priority, score float64) bool {
	if _, rescores := c.rescorer(); rescores {
		return score > betterLink*old.Score+farPlace/10 || math.Abs(priority-old.Priority) > farPlace
	}
	return priority != old.Priority
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
