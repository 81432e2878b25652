package crawler

import (
	"time"

	"fossick/store"
)

// Due is a stored page, or a URL that gave none, whose turn it is to be asked for.
type Due struct {
	ID       store.ID
	URL      string
	Priority float64 // among the stored pages that wait: the highest first
	NoPage   bool    // it is a URL that gave none, and waits among those that are new
}

// Revisits says which stored pages are asked for again. It belongs to the owner of a crawl.
type Revisits interface {
	// Next returns a page that is to be asked for by now. Where there is none, again is when
	// to ask for one; the zero time: not before all pages so far are done with, and then
	// never. idle says that they are. A page that still waits is not asked for twice.
	Next(now time.Time, idle bool) (p *Due, again time.Time, err error)
	// Answered tells what a visit found, while it is being journalled.
	Answered(id store.ID, v store.Visit)
	// Source returns which of a host's sitemaps and feeds is asked for now, before its next
	// page; −1 for none.
	Source(of *store.Announced, now time.Time) int
	// Announced tells that, by such a source, a page has changed since it was seen.
	Announced(id store.ID, now time.Time)
}

// hopeful is a Chooser that goes by the chances of visits.
type hopeful interface {
	// Expect tells the chance, in (0,1], that the next visit of a page that was asked for
	// succeeds, before Answered tells what this one found.
	Expect(id store.ID, chance float64)
}

// counted is a Chooser that works in rounds.
type counted interface {
	Round() int // the number of the round that goes on, or ended last, over all sessions
	Done() bool // all rounds that were asked for have ended
}
