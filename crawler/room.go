package crawler

import (
	"sync"
	"time"

	"fossick/crawler/fetch"
)

const (
	// lookupPatience is how long a look-up may hold a place among the workers. Nearly all
	// are done in a tenth of a second.
	lookupPatience = 500 * time.Millisecond
	// exchangePatience is the same for an exchange.
	exchangePatience = time.Second
	// lookupsAside and ExchangesAside are how many may go on beside the workers, for each of
	// these. A look-up costs next to nothing but time, an exchange a connection too.
	lookupsAside   = 8
	exchangesAside = 4
	// slowBytes bounds what the bodies of these exchanges hold in memory.
	slowBytes = 64 << 20
	// leastStay is how long an exchange may go on beside the workers, whoever waits.
	leastStay = 3 * time.Second
	// askAgain is when a job that found no room asks again.
	askAgain = 250 * time.Millisecond
)

// A Room holds the jobs of one kind that go on beside the workers. It is safe for
// concurrent use.
type room struct {
	patience time.Duration
	places   int
	endable  bool // its jobs can be told to end
	now      func() time.Time

	mu      sync.Mutex // guards the rest
	taken   map[*job]stay
	asked   map[*job]struct{} // those of taken that were told to end
	waiting map[*job]struct{} // found no place so far
}

// stay is since when a job has a place, and how far it was then.
type stay struct {
	since time.Time
	wire  int64 // bytes
}

// lookups returns the room for look-ups beside so many workers.
func lookups(workers int, now func() time.Time) *room {
	return newRoom(lookupPatience, lookupsAside*workers, now)
}

// slowExchanges returns the room for exchanges, which are told to end where others wait.
func slowExchanges(workers int, now func() time.Time) *room {
	r := newRoom(exchangePatience, exchangesAside*workers, now)
	r.endable = true
	return r
}

func newRoom(patience time.Duration, places int, now func() time.Time) *room {
	return &room{patience: patience, places: places, now: now, taken: map[*job]stay{}, asked: map[*job]struct{}{}, waiting: map[*job]struct{}{}}
}

// enter gives e a place. Where there is none, the slowest job in the room is told to end,
// one for each that waits.
func (r *room) enter(e *job) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.taken) < r.places && r.held()+e.Pace.HeldBytes() <= slowBytes {
		r.taken[e] = stay{r.now(), e.Pace.WireBytes()}
		delete(r.waiting, e)
		return true
	}
	r.waiting[e] = struct{}{}
	if len(r.asked) < len(r.waiting) {
		r.end(r.slowest())
	}
	return false
}

// leave ends the stay, or the waiting, of a job that is over.
func (r *room) leave(e *job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.taken, e)
	delete(r.asked, e)
	delete(r.waiting, e)
}

// tidy ends the exchange that holds the most, where all together hold too much: they
// grow after they have entered.
func (r *room) tidy() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held() <= slowBytes {
		return
	}
	var most *job
	for e := range r.taken {
		if _, asked := r.asked[e]; !asked && (most == nil || e.Pace.HeldBytes() > most.Pace.HeldBytes()) {
			most = e
		}
	}
	r.end(most)
}

// held is the memory of the bodies; mu is held.
func (r *room) held() (bytes int64) {
	for e := range r.taken {
		bytes += e.Pace.HeldBytes()
	}
	return bytes
}

// slowest returns the exchange that got the fewest bytes a second since it has its place,
// nil when all are new; mu is held.
func (r *room) slowest() (slowest *job) {
	least, now := 0.0, r.now()
	for e, s := range r.taken {
		age := now.Sub(s.since)
		if _, asked := r.asked[e]; asked || age < leastStay || e.cancel == nil {
			continue
		}
		rate := float64(e.Pace.WireBytes()-s.wire) / age.Seconds()
		if slowest == nil || rate < least || rate == least && s.since.Before(r.taken[slowest].since) {
			slowest, least = e, rate
		}
	}
	return slowest
}

// end tells an exchange to end; nil is none; mu is held.
func (r *room) end(e *job) {
	if e != nil {
		r.asked[e] = struct{}{}
		e.cancel(fetch.ErrPlaceWanted)
	}
}
