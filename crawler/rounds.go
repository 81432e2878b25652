package crawler

import (
	"errors"
	"iter"
	"net/http"
	"slices"
	"time"

	"fossick/crawler/fetch"
	"fossick/store"
)

// Due is a stored page that is due to be asked for again, or a URL that gave none.
type Due struct {
	ID       store.ID
	URL      string
	Priority float64 // among the stored pages; the highest goes first
	NoPage   bool    // the URL gave no page, and waits among the new ones
}

// Revisits chooses the stored pages that are asked for again. It belongs to the owner of a
// crawl.
type Revisits interface {
	// Next returns a page that is due. If there is none, again is when to call next; zero
	// means when all pages so far are done, or never if they are. idle says that they are
	// done. A page that still waits is not returned twice.
	Next(now time.Time, idle bool) (p *Due, again time.Time, err error)
	// Answered reports the result of a visit before it is committed.
	Answered(id store.ID, v store.Visit)
	// Source returns which of a host's sitemaps and feeds is due before its next page; −1 for
	// none.
	Source(of *store.Announced, now time.Time) int
	// Announced reports that a source claims a change of a page since it was seen.
	Announced(id store.ID, now time.Time)
}

// hopeful is a Revisits that uses the chances of visits.
type hopeful interface {
	// Expect reports the chance, in (0,1], that a page's next visit succeeds. It comes before
	// Answered of the present visit.
	Expect(id store.ID, chance float64)
}

// counted is a Revisits that works in rounds.
type counted interface {
	Round() int // the number of the round that goes on, or ended last, over all sessions
	Done() bool // all rounds that were asked for have ended
}

// Rounds chooses all stored pages, again and again (paper E, E6). The rounds are journalled:
// one that was cut off is finished first.
type Rounds struct {
	store  *store.Store
	every  time.Duration
	left   int  // rounds to go; negative: without end
	noPage bool // URLs without a page are chosen too

	all   []store.Round // in the journal; the last one goes on if pages is set
	begin time.Time     // earliest begin of the next round
	pages func() (*store.Known, error, bool)
	stop  func()
	drawn bool // pages is exhausted
}

// NewRounds returns a Revisits that ends after so many rounds, 0 for never. Rounds begin at
// least every apart. With noPage it also chooses URLs that gave no page but may have one by
// now.
func NewRounds(s *store.Store, every time.Duration, rounds int, noPage bool) (*Rounds, error) {
	all, err := store.Rounds(s)
	r := &Rounds{store: s, every: every, left: rounds, noPage: noPage, all: all}
	if rounds == 0 {
		r.left = -1
		if n := len(all); n > 0 { // as if the last session had gone on
			r.begin = time.UnixMilli(all[n-1].Began).Add(every)
		}
	}
	return r, err
}

// Round is the number of the present or last round.
func (r *Rounds) Round() int { return len(r.all) }

// Done reports whether all rounds have ended.
func (r *Rounds) Done() bool { return r.left == 0 }

// GoOn continues the rounds with the same store, opened again.
func (r *Rounds) GoOn(s *store.Store) { r.store, r.pages = s, nil }

// Next implements Revisits.
func (r *Rounds) Next(now time.Time, idle bool) (*Due, time.Time, error) {
	for {
		if r.pages == nil {
			if r.left == 0 {
				return nil, time.Time{}, nil
			}
			if n := len(r.all); now.Before(r.begin) && (n == 0 || r.all[n-1].Ended != 0) {
				return nil, r.begin, nil
			}
			if err := r.open(now); err != nil {
				return nil, time.Time{}, err
			}
		}
		if !r.drawn {
			p, err := r.draw()
			if p != nil || err != nil {
				return p, time.Time{}, err
			}
		}
		if !idle {
			return nil, time.Time{}, nil
		}
		if err := r.end(now); err != nil {
			return nil, time.Time{}, err
		}
	}
}

// open begins a round, or resumes one.
func (r *Rounds) open(now time.Time) error {
	if n := len(r.all); n == 0 || r.all[n-1].Ended != 0 {
		r.all = append(r.all, store.Round{Began: now.UnixMilli()})
		if err := store.PutRounds(r.store, r.all); err != nil {
			return err
		}
	}
	r.drawn = false
	urls := r.store.URLs().Watched()
	if r.noPage {
		urls = r.store.URLs().AskedAgain()
	}
	r.pages, r.stop = iter.Pull2(urls)
	return nil
}

// draw returns the next page of the round, or nil.
func (r *Rounds) draw() (*Due, error) {
	began := r.all[len(r.all)-1].Began
	for {
		k, err, ok := r.pages()
		if !ok || err != nil {
			r.stop()
			r.drawn = true
			return nil, err
		}
		if last := lastVisit(k); last < began {
			return &Due{ID: k.ID, URL: k.URL, Priority: -float64(last), NoPage: !k.Outcome.HasPage()}, nil
		}
	}
}

// lastVisit is when a URL was asked for last, Unix milliseconds.
func lastVisit(k *store.Known) int64 {
	if len(k.Visits) == 0 { // lost by damage
		return 0
	}
	return k.Visits[len(k.Visits)-1].Start
}

// end closes the present round.
func (r *Rounds) end(now time.Time) error {
	last := &r.all[len(r.all)-1]
	last.Ended = max(now.UnixMilli(), last.Began+1)
	r.begin = time.UnixMilli(last.Began).Add(r.every)
	r.pages = nil
	if r.left > 0 {
		r.left--
	}
	return store.PutRounds(r.store, r.all)
}

// Source implements Revisits: each source once a round.
func (r *Rounds) Source(of *store.Announced, _ time.Time) int {
	if r.pages == nil {
		return -1
	}
	began := r.all[len(r.all)-1].Began
	return slices.IndexFunc(of.Sources, func(s store.Source) bool { return s.At < began })
}

// Announced does nothing, because all pages of the round wait already.
func (r *Rounds) Announced(store.ID, time.Time) {}

// Answered does nothing, because a round takes all pages.
func (r *Rounds) Answered(store.ID, store.Visit) {}

// The time of the next useful visit is estimated from a URL's state (paper E, E3). In paper
// E's nine crawls, two days apart, a failure followed a failure in three of four cases
// (FF = 0.74). So network failures are worth another visit after two days. Pages changed
// every 7.66 days at depth 0, down to 3.77 days at depth 9.
const (
	Day          = 24 * time.Hour
	afterFailure = 2 * Day
	afterRefusal = 30 * Day // for what seldom changes: a missing page, its type, its size
	deepest      = 9        // greatest depth of paper E
)

// interval returns how often a page of a depth changes: linear between the ends of paper E's
// table.
func interval(depth int) time.Duration {
	const top, bottom = 7.66, 3.77 // days
	share := float64(min(max(depth, 0), deepest)) / deepest
	return time.Duration((top - (top-bottom)*share) * float64(Day))
}

// revisitAfter returns how long after its end in a state a URL may have news; 0 is never.
func revisitAfter(state fetch.State, depth int) time.Duration {
	switch state {
	case fetch.StateOK, fetch.StateNotModified, fetch.StateDuplicate, fetch.StateRedirect, fetch.StateScriptOnly:
		return interval(depth)
	case fetch.StateNoIP, fetch.StateConnectError, fetch.StateConnectTimeout, fetch.StateHeaderError,
		fetch.StateHeaderTimeout, fetch.StateBodyError, fetch.StateBodyTimeout:
		return afterFailure
	case fetch.StateTLSError, fetch.StateChallenge:
		return 7 * Day // certificates are renewed, and edges set up anew
	case fetch.StateRobotsDenied:
		return fetch.RobotsTTL
	case fetch.StateCode, fetch.StatePaymentRequired, fetch.StateTooLarge, fetch.StateWrongType, fetch.StateNoText:
		return afterRefusal
	}
	return 0 // trap, guard_denied, none: decided here, not by the server
}

// revisitAfterAnswer is revisitAfter for an exchange, whose answer tells more.
func revisitAfterAnswer(r *fetch.Response, depth int) time.Duration {
	switch {
	case r.State == fetch.StateRedirect && (r.Code == http.StatusMovedPermanently || r.Code == http.StatusPermanentRedirect),
		r.State == fetch.StateNoIP && errors.Is(r.Err, fetch.ErrNoSuchHost):
		return afterRefusal
	case r.State == fetch.StateChallenge || r.State == fetch.StatePaymentRequired:
		return max(revisitAfter(r.State, depth), r.RetryAfter)
	case r.State != fetch.StateCode:
		return revisitAfter(r.State, depth)
	case r.Code == http.StatusGone:
		return 0
	case r.Code == http.StatusTooManyRequests || r.Code >= 500:
		return max(Day, r.RetryAfter)
	}
	return afterRefusal
}

// notSeen chooses each page once that was not seen for a time.
type notSeen struct {
	store *store.Store
	age   time.Duration
	next  func() (store.StalePage, error, bool) // nil before the first
	stop  func()
	ended bool
}

// newNotSeen chooses, once, the stored pages that were not seen for so long; those whose next
// visit is longest overdue go first.
func newNotSeen(s *store.Store, age time.Duration) Revisits { return &notSeen{store: s, age: age} }

// Next implements Revisits. The caller asks until there is no page left.
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

// Source returns −1, because claims play no part.
func (c *notSeen) Source(*store.Announced, time.Time) int { return -1 }

// Announced does nothing.
func (c *notSeen) Announced(store.ID, time.Time) {}

// Answered does nothing, because the pages are chosen already.
func (c *notSeen) Answered(store.ID, store.Visit) {}
