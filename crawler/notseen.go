package crawler

import (
	"iter"
	"time"

	"fossick/store"
)

// notSeen chooses pages once, by when they were last seen to be as they are.
type notSeen struct {
	store *store.Store
	age   time.Duration
	next  func() (store.StalePage, error, bool) // nil before the first
	stop  func()
	ended bool
}

// refreshNotSeen chooses the stored pages that were not seen for so long, once, those first whose
// next visit is longest overdue.
func refreshNotSeen(s *store.Store, age time.Duration) Revisits { return &notSeen{store: s, age: age} }

// Next is as Chooser says. Who asks for a page asks until there is none.
func (c *notSeen) Next(now time.Time, _ bool) (*Due, time.Time, error) {
	if c.ended {
		return nil, time.Time{}, nil
	}
	if c.next == nil {
		c.next, c.stop = iter.Pull2(c.store.Stale(now.Add(-c.age).UnixMilli(), now.UnixMilli()))
	}
	p, err, ok := c.next()
	if !ok || err != nil {
		c.ended = true
		c.stop()
		return nil, time.Time{}, err
	}
	return &Due{ID: p.ID, URL: p.URL, Priority: -float64(p.Next)}, time.Time{}, nil
}

// Source is as Chooser says: pages are not chosen by what anybody says of them.
func (c *notSeen) Source(*store.Announced, time.Time) int { return -1 }

// Announced is as Chooser says.
func (c *notSeen) Announced(store.ID, time.Time) {}

// Answered is as Chooser says; the pages are chosen already.
func (c *notSeen) Answered(store.ID, store.Visit) {}
