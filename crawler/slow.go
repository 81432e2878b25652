package crawler

import (
	"context"
	"sync"
	"time"

	"fossick/fetch"
)

// A server that drips its answer keeps a worker for a minute, a name that no server
// answers for fifteen seconds. With as many of them in the queue as there are workers,
// nothing else was fetched. So a job that takes long goes on beside the workers: another
// worker takes over the place, and the one that had it ends with its job.

const (
	// lookupPatience is how long a look-up may hold a place among the workers. Nearly all
	// are done in a tenth of a second.
	lookupPatience = 500 * time.Millisecond
	// exchangePatience is the same for an exchange.
	exchangePatience = time.Second
	// slowLookups and slowExchanges are how many may go on beside the workers, for each of
	// these. A look-up costs next to nothing but time, an exchange a connection too.
	slowLookups   = 8
	slowExchanges = 4
	// slowBytes bounds what the bodies of these exchanges hold in memory.
	slowBytes = 64 << 20
	// leastStay is how long an exchange may go on beside the workers, whoever waits.
	leastStay = 3 * time.Second
	// askAgain is when a job that found no room asks again.
	askAgain = 250 * time.Millisecond
)

// A room holds the jobs of one kind that go on beside the workers. It is safe for
// concurrent use.
type room struct {
	patience time.Duration
	places   int
	now      func() time.Time

	mu      sync.Mutex // guards the rest
	taken   map[*slowJob]stay
	asked   map[*slowJob]struct{} // those of taken that were told to end
	waiting map[*slowJob]struct{} // found no place so far
}

// stay is since when a job has a place, and how far it was then.
type stay struct {
	since time.Time
	wire  int64 // bytes
}

func newRoom(patience time.Duration, places int, now func() time.Time) *room {
	return &room{patience: patience, places: places, now: now, taken: map[*slowJob]stay{}, asked: map[*slowJob]struct{}{}, waiting: map[*slowJob]struct{}{}}
}

// enter gives e a place. Where there is none, the slowest job in the room is told to end,
// one for each that waits.
func (r *room) enter(e *slowJob) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.taken) < r.places && r.held()+e.pace.HeldBytes() <= slowBytes {
		r.taken[e] = stay{r.now(), e.pace.WireBytes()}
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
func (r *room) leave(e *slowJob) {
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
	var most *slowJob
	for e := range r.taken {
		if _, asked := r.asked[e]; !asked && (most == nil || e.pace.HeldBytes() > most.pace.HeldBytes()) {
			most = e
		}
	}
	r.end(most)
}

// held is the memory of the bodies; mu is held.
func (r *room) held() (bytes int64) {
	for e := range r.taken {
		bytes += e.pace.HeldBytes()
	}
	return bytes
}

// slowest returns the exchange that got the fewest bytes a second since it has its place,
// nil when all are new; mu is held.
func (r *room) slowest() (slowest *slowJob) {
	least, now := 0.0, r.now()
	for e, s := range r.taken {
		age := now.Sub(s.since)
		if _, asked := r.asked[e]; asked || age < leastStay || e.cancel == nil {
			continue
		}
		rate := float64(e.pace.WireBytes()-s.wire) / age.Seconds()
		if slowest == nil || rate < least || rate == least && s.since.Before(r.taken[slowest].since) {
			slowest, least = e, rate
		}
	}
	return slowest
}

// end tells an exchange to end; nil is none; mu is held.
func (r *room) end(e *slowJob) {
	if e != nil {
		r.asked[e] = struct{}{}
		e.cancel(fetch.ErrPlaceWanted)
	}
}

// A slowJob is a job under way, which may outlast the patience of its worker.
type slowJob struct {
	p      *pool
	job    *job
	room   *room
	pace   fetch.Pace
	cancel context.CancelCauseFunc // of the exchange; nil for a look-up
	handed chan struct{}           // closed when the owner knows that it goes on beside the workers

	mu    sync.Mutex // guards the rest
	timer *time.Timer
	over  bool
	asked bool // for a place beside the workers
	aside bool // goes on there
}

// setOut begins a job under work, the context of the workers; the exchange runs
// under the one that it returns.
func (p *pool) setOut(work context.Context, j *job) (*slowJob, context.Context) {
	e := &slowJob{p: p, job: j, room: p.exchanges, handed: make(chan struct{})}
	ctx := work
	if j.task == taskAddress {
		e.room = p.lookups
	} else {
		ctx, e.cancel = context.WithCancelCause(work)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.timer = time.AfterFunc(e.room.patience, func() { e.handOver(work) })
	return e, ctx
}

// handOver gives the worker's place to another one, as soon as there is room beside.
func (e *slowJob) handOver(work context.Context) {
	if !e.ask() {
		return
	}
	e.p.workers.Go(func() { e.p.work(work) })
	e.p.outcomes <- &outcome{job: e.job, slow: true}
	close(e.handed)
}

// ask asks for a place beside the workers, and again later where there is none.
func (e *slowJob) ask() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return false
	}
	e.asked, e.aside = true, e.room.enter(e)
	if !e.aside {
		e.timer.Reset(askAgain)
	}
	return e.aside
}

// end says whether the job was late: another worker has its place by now.
func (e *slowJob) end() (late bool) {
	e.mu.Lock()
	e.timer.Stop()
	e.over, late = true, e.aside
	asked := e.asked
	e.mu.Unlock()
	if e.cancel != nil {
		e.cancel(nil)
	}
	if late {
		<-e.handed // what came of it follows
	}
	if asked {
		e.room.leave(e)
	}
	return late
}
