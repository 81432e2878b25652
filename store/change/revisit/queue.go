package revisit

import "math"

// Times that no clock shows.
var (
	never    = math.MaxFloat64 // a page that gets no visits
	inFlight = math.Inf(1)     // a page that is being fetched
)

// queue keeps pages by host and time. A heap a host has its pages by when they are due. A heap
// has the free hosts by their first page, another the resting hosts by the end of their rest.
type queue struct {
	due     []float64 // by page, days; one of the two above also
	host    []int32   // by page
	order   []int32   // the hosts' heaps, one after the other
	pos     []int32   // where each page stands in its host's heap
	hosts   []rests
	ready   heap
	resting heap
	dueAt   func(p int32) float64
	shared  bool // there is one host, and it takes requests at any time
}

// rests is what a host asks of its visitors.
type rests struct {
	first, end int32   // its heap in order
	rest       float64 // days between two visits
	free       float64 // when the last rest ends
	busy       bool    // a visit is under way
}

// newQueue takes the host of each page and the days that each host rests; nil: they are
// shared.
func newQueue(due []float64, host []int32, rest []float64) *queue {
	q := &queue{due: due, host: host, shared: rest == nil}
	if q.shared {
		rest = []float64{0}
	}
	q.dueAt = func(p int32) float64 { return q.due[p] }
	q.order, q.pos = make([]int32, len(due)), make([]int32, len(due))
	q.hosts = make([]rests, len(rest))
	for _, h := range host {
		q.hosts[h].end++
	}
	at := int32(0)
	for h := range q.hosts {
		n := q.hosts[h].end
		q.hosts[h] = rests{first: at, end: at, rest: rest[h], free: math.Inf(-1)}
		at += n
	}
	for p, h := range host {
		q.order[q.hosts[h].end] = int32(p)
		q.hosts[h].end++
	}
	pos := make([]int32, 2*len(rest))
	for i := range pos {
		pos[i] = -1
	}
	q.ready = heap{pos: pos[:len(rest)], key: func(h int32) float64 { return q.due[q.top(h)] }}
	q.resting = heap{pos: pos[len(rest):], key: func(h int32) float64 { return q.hosts[h].free }}
	q.rebuild()
	return q
}

// pages is the heap of a host.
func (q *queue) pages(h int32) heap {
	return heap{ids: q.order[q.hosts[h].first:q.hosts[h].end], pos: q.pos, key: q.dueAt}
}

// top is the page of a host that is due first.
func (q *queue) top(h int32) int32 { return q.order[q.hosts[h].first] }

// rebuild puts all in order after any number of pages became due at other times. O(n).
func (q *queue) rebuild() {
	q.ready.ids = q.ready.ids[:0]
	for h := range q.hosts {
		if host := &q.hosts[h]; host.end > host.first {
			q.pages(int32(h)).init()
			if !host.busy && q.resting.pos[h] < 0 {
				q.ready.ids = append(q.ready.ids, int32(h))
			}
		}
	}
	q.ready.init()
}

// set notes when a page is due. O(log n).
func (q *queue) set(p int32, due float64) {
	q.due[p] = due
	h := q.host[p]
	q.pages(h).fix(p)
	if q.ready.pos[h] >= 0 {
		q.ready.fix(h)
	}
}

// first returns the page that is due first of the hosts that are free at a time. Without one it
// returns −1, and when a host will be free; +Inf where that depends on visits under way.
func (q *queue) first(now float64) (p int32, again float64) {
	again = math.Inf(1)
	for len(q.resting.ids) > 0 {
		h := q.resting.ids[0]
		if again = q.hosts[h].free; again > now {
			break
		}
		q.resting.remove(h)
		q.ready.push(h)
		again = math.Inf(1)
	}
	if len(q.ready.ids) == 0 {
		return -1, again
	}
	if p = q.top(q.ready.ids[0]); q.due[p] >= never {
		return -1, again
	}
	return p, now
}

// take puts a page that is first in flight.
func (q *queue) take(p int32) {
	if h := q.host[p]; !q.shared {
		q.hosts[h].busy = true
		q.ready.remove(h)
	}
	q.set(p, inFlight)
}

// done notes that the visit of a page in flight ended, and when the page is due again.
func (q *queue) done(p int32, at, due float64) {
	h := q.host[p]
	host := &q.hosts[h]
	if q.set(p, due); !host.busy {
		return
	}
	host.busy = false
	host.free = max(host.free, at+host.rest)
	q.resting.push(h)
}

// hold makes a host rest until a time at least.
func (q *queue) hold(h int32, until float64) {
	host := &q.hosts[h]
	if q.shared || until <= host.free {
		return
	}
	host.free = until
	switch {
	case q.resting.pos[h] >= 0:
		q.resting.fix(h)
	case !host.busy && host.end > host.first:
		q.ready.remove(h)
		q.resting.push(h)
	}
}
