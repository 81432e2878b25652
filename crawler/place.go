package crawler

import (
	"math"

	"fossick/frontier"
	"fossick/page"
	"fossick/store"
)

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

// item is a URL as the frontier knows it.
func (c *Crawler) item(id store.ID, host frontier.Host, url string, priority float64) frontier.Item {
	return frontier.Item{ID: frontier.ID(id), Host: host, Priority: priority, Key: page.Key(url)}
}
