package change

import (
	"cmp"
	"math"

	"fossick/internal/heap"
)

// Special values of due.
var (
	never    = math.MaxFloat64 // a page that gets no visits
	inFlight = math.Inf(1)     // a page that is being fetched
)

// queue keeps pages by host and time. Each host has a heap of its pages by due time. One heap holds
// the free hosts by their first page, another the resting hosts by the end of their rest.
type queue struct {
	due     []float64 // by page, days; or never or inFlight
	host    []int32   // by page
	order   []int32   // the hosts' heaps, one after the other
	pos     []int32   // by page: index in its host's heap
	hosts   []rests
	ready   heap.Heap[int32]
	resting heap.Heap[int32]
	byDue   heap.Heap[int32] // of no page; see pages
	shared  bool             // there is one host, which takes requests at any time
}

type rests struct {
	first, end int32   // its heap in order
	rest       float64 // days between two visits
	free       float64 // end of the last rest
	busy       bool    // a visit is under way
}

// newQueue takes each page's host, and the days that each host rests; nil means no limits.
func newQueue(due []float64, host []int32, rest []float64) *queue {
	q := &queue{due: due, host: host, shared: rest == nil}
	if q.shared {
		rest = []float64{0}
	}
	q.order, q.pos = make([]int32, len(due)), make([]int32, len(due))
	q.byDue = heapOf(q.pos, func(p int32) float64 { return q.due[p] })
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
	q.ready = heapOf(pos[:len(rest)], func(h int32) float64 { return q.due[q.top(h)] })
	q.resting = heapOf(pos[len(rest):], func(h int32) float64 { return q.hosts[h].free })
	q.rebuild()
	return q
}

func (q *queue) pages(h int32) *heap.Heap[int32] {
	pages := q.byDue
	pages.All = q.order[q.hosts[h].first:q.hosts[h].end]
	return &pages
}

func (q *queue) top(h int32) int32 { return q.order[q.hosts[h].first] }

// rebuild restores the order after any number of due times changed. O(n).
func (q *queue) rebuild() {
	q.ready.All = q.ready.All[:0]
	for h := range q.hosts {
		if host := &q.hosts[h]; host.end > host.first {
			q.pages(int32(h)).Init()
			if !host.busy && *q.resting.Place(int32(h)) < 0 {
				q.ready.All = append(q.ready.All, int32(h))
			}
		}
	}
	q.ready.Init()
}

func (q *queue) set(p int32, due float64) {
	q.due[p] = due
	h := q.host[p]
	q.pages(h).Fix(p)
	if *q.ready.Place(h) >= 0 {
		q.ready.Fix(h)
	}
}

// first returns the page that is due first among the free hosts at a time. If there is none it
// returns −1 and the time when a host becomes free; +Inf if that depends on visits under way.
func (q *queue) first(now float64) (p int32, again float64) {
	again = math.Inf(1)
	for len(q.resting.All) > 0 {
		h := q.resting.All[0]
		if again = q.hosts[h].free; again > now {
			break
		}
		q.resting.Remove(h)
		q.ready.Push(h)
		again = math.Inf(1)
	}
	if len(q.ready.All) == 0 {
		return -1, again
	}
	if p = q.top(q.ready.All[0]); q.due[p] >= never {
		return -1, again
	}
	return p, now
}

func (q *queue) take(p int32) {
	if h := q.host[p]; !q.shared {
		q.hosts[h].busy = true
		q.leave(h)
	}
	q.set(p, inFlight)
}

func (q *queue) done(p int32, at, due float64) {
	h := q.host[p]
	host := &q.hosts[h]
	if q.set(p, due); !host.busy {
		return
	}
	host.busy = false
	host.free = max(host.free, at+host.rest)
	q.resting.Push(h)
}

// leave takes a host out of the ready ones, if it is among them.
func (q *queue) leave(h int32) {
	if *q.ready.Place(h) >= 0 {
		q.ready.Remove(h)
	}
}

func (q *queue) hold(h int32, until float64) {
	host := &q.hosts[h]
	if q.shared || until <= host.free {
		return
	}
	host.free = until
	switch {
	case *q.resting.Place(h) >= 0:
		q.resting.Fix(h)
	case !host.busy && host.end > host.first:
		q.leave(h)
		q.resting.Push(h)
	}
}

// heapOf returns an empty heap of ids by key, then id. pos has each id's index, −1 if it is not in the
// heap; heaps of disjoint ids share it.
func heapOf(pos []int32, key func(id int32) float64) heap.Heap[int32] {
	return heap.Heap[int32]{
		Before: func(a, b int32) bool { return cmp.Or(cmp.Compare(key(a), key(b)), cmp.Compare(a, b)) < 0 },
		Place:  func(id int32) *int32 { return &pos[id] },
	}
}

// meter spreads a budget evenly. It drops budget unused for a minute, so no burst follows a pause.
type meter struct {
	every float64 // days between two fetches
	next  float64 // earliest time of the next one
}

const minute = 1.0 / (24 * 60) // of a day

// spend notes a fetch. Any time t has at most (t + minute)/every + 1 of them.
func (m *meter) spend(now float64) { m.next = max(m.next, now-minute) + m.every }
