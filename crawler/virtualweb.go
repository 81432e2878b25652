package crawler

import (
	"container/heap"
	"context"
	"net/http"
	"time"

	"fossick/crawler/reading"
	"fossick/crawler/traps"
	"fossick/fetch"
	"fossick/page"
)

// Answer is what a web in memory says to a URL: a page, or where it moved to, or
// neither of them, which is a page that is not there.
type Answer struct {
	Page     *page.Page         // parsed; shared by all crawls, so nobody may change it
	Print    *traps.Fingerprint // of Page, by one Fingerprinter for all; nil when it is to be found out
	Moved    string             // target of a redirect
	DeadHost bool               // no host of that name answers
	Took     time.Duration      // the exchange
}

// virtualClock goes from one event to the next.
type virtualClock struct{ now time.Time }

// virtualEpoch is when virtual crawls begin: any time at which no age is negative.
var virtualEpoch = time.Unix(1_000_000_000, 0)

// Now returns the time.
func (c *virtualClock) Now() time.Time { return c.now }

// virtualWeb is the executor of a virtual crawl, which simulates events: an exchange
// begins at once, its answer is read and rated when the clock comes to its end. All hosts
// are known by name, and none has a robots.txt. To ask for that takes time like any request,
// where there are manners.
type virtualWeb struct {
	opt         *Options
	reader      *reading.Reader
	web         func(url string) Answer
	clock       *virtualClock
	interrupted <-chan struct{} // nil once it was told
	deadline    time.Time       // zero when there is none, or it was told
	ends        exchangeEnds
	begun       int
}

func newVirtualWeb(ctx context.Context, opt *Options, r *reading.Reader, clock *virtualClock, web func(url string) Answer) *virtualWeb {
	w := &virtualWeb{opt: opt, reader: r, web: web, clock: clock, interrupted: ctx.Done()}
	if opt.MaxTime > 0 {
		w.deadline = clock.now.Add(opt.MaxTime)
	}
	return w
}

func (w *virtualWeb) start(j *job) {
	o := &outcome{job: j}
	w.ask(o)
	w.begun++
	end := exchangeEnd{at: w.clock.now, begun: w.begun, outcome: o}
	if o.resp != nil {
		end.at = end.at.Add(o.resp.Took)
	}
	heap.Push(&w.ends, end)
}

// ask has the web answer.
func (w *virtualWeb) ask(o *outcome) {
	var a Answer
	if o.task != taskRobots || !w.opt.Delay.Off {
		a = w.web(o.target)
	}
	r := &fetch.Response{URL: o.target, State: fetch.StateOK, Code: http.StatusOK, Start: w.clock.now, Took: a.Took}
	switch {
	case a.DeadHost:
		r.State, r.Code, r.Err = fetch.StateNoIP, 0, fetch.ErrNoSuchHost
	case o.task == taskAddress:
		return // an address is no answer
	case o.task == taskPage && a.Moved != "":
		r.State, r.Code, r.Location = fetch.StateRedirect, http.StatusMovedPermanently, a.Moved
	case o.task == taskPage && a.Page != nil:
		o.read = &reading.Page{Page: a.Page}
		if a.Print != nil {
			o.read.Print = *a.Print
		} else {
			o.read.Print = w.reader.Print(a.Page)
		}
	default:
		r.State, r.Code = fetch.StateCode, http.StatusNotFound
	}
	o.resp = r
}

func (w *virtualWeb) wait(wake time.Time) event {
	select {
	case <-w.interrupted:
		w.interrupted = nil
		return event{what: interrupt}
	default:
	}
	next := wake
	if len(w.ends) > 0 && (wake.IsZero() || !w.ends[0].at.After(wake)) {
		next = w.ends[0].at
	}
	if !w.deadline.IsZero() && next.After(w.deadline) {
		w.deadline = time.Time{}
		return event{what: deadline}
	}
	if next.After(w.clock.now) {
		w.clock.now = next
	}
	if len(w.ends) == 0 || w.ends[0].at.After(next) {
		return event{what: timeToLease}
	}
	o := heap.Pop(&w.ends).(exchangeEnd).outcome
	if o.read != nil {
		o.err = w.reader.Rate(o.read, o.order())
	}
	return event{what: jobEnded, outcome: o}
}

// ready returns nothing: there is no worker that would wait.
func (w *virtualWeb) ready() *outcome { return nil }

// end does nothing: nothing goes on beside the owner.
func (w *virtualWeb) end(bool) {}

// exchangeEnd is the end of an exchange under way.
type exchangeEnd struct {
	at      time.Time
	begun   int // of two ends at one time the one begun first comes first
	outcome *outcome
}

// exchangeEnds has the first one first.
type exchangeEnds []exchangeEnd

func (e exchangeEnds) Len() int { return len(e) }

func (e exchangeEnds) Less(i, j int) bool {
	if !e[i].at.Equal(e[j].at) {
		return e[i].at.Before(e[j].at)
	}
	return e[i].begun < e[j].begun
}

func (e exchangeEnds) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

// Push is heap.Interface's.
func (e *exchangeEnds) Push(x any) { *e = append(*e, x.(exchangeEnd)) }

// Pop is heap.Interface's.
func (e *exchangeEnds) Pop() any {
	old := *e
	last := old[len(old)-1]
	old[len(old)-1] = exchangeEnd{}
	*e = old[:len(old)-1]
	return last
}
