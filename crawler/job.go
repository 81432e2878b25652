package crawler

import (
	"context"
	"sync"
	"time"

	"fossick/crawler/fetch"
)

// A Job is under way, and may outlast the patience of its worker.
type job struct {
	Pace fetch.Pace // of its exchange

	room   *room
	goesOn func()                  // tells that it goes on beside the workers
	cancel context.CancelCauseFunc // of the exchange; nil for a look-up
	told   chan struct{}           // closed when goesOn is through

	mu    sync.Mutex // guards the rest
	timer *time.Timer
	over  bool
	asked bool // for a place beside the workers
	aside bool // goes on there
}

// begin begins a job; it goes on under the context that is returned. Once it has lost its
// worker's patience and has a place beside, goesOn is called, from another goroutine.
func (r *room) begin(ctx context.Context, goesOn func()) (*job, context.Context) {
	e := &job{room: r, goesOn: goesOn, told: make(chan struct{})}
	if r.endable {
		ctx, e.cancel = context.WithCancelCause(ctx)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.timer = time.AfterFunc(r.patience, e.late)
	return e, ctx
}

// late gives the worker's place to another one, as soon as there is room beside.
func (e *job) late() {
	if e.ask() {
		e.goesOn()
		close(e.told)
	}
}

// ask asks for a place beside the workers, and again later where there is none.
func (e *job) ask() bool {
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

// End says whether the job was late: another worker has its place by now.
func (e *job) End() (late bool) {
	e.mu.Lock()
	e.timer.Stop()
	e.over, late = true, e.aside
	asked := e.asked
	e.mu.Unlock()
	if e.cancel != nil {
		e.cancel(nil)
	}
	if late {
		<-e.told // what came of it follows
	}
	if asked {
		e.room.leave(e)
	}
	return late
}
