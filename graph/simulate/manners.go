package simulate

import (
	"container/heap"
	"context"
	"fmt"
	"fossick/graph"
	"time"
)

// Manners are those of a virtual crawl, in simulated time. A fetch takes Fetch,
// no host is fetched twice at once (paper D2), and after a fetch it rests for
// Rest (paper E2). A page's links are known when its fetch ends. Pages that
// have no host are each on one of their own.
type Manners struct {
	Workers int // fetches at a time
	Fetch   time.Duration
	Rest    time.Duration
	// Ahead is how many pages may be put aside as their hosts are busy [one a worker]. They go
	// before all others once their host is free, in the order in which they were put
	// aside: what is found about them meanwhile changes nothing. So with many the order is
	// that of the hosts and not the ordering's; with few, workers wait.
	Ahead int
	// Hosts is Graph.Hosts().Array; Crawl makes it when it is nil.
	Hosts []uint32
}

// polite is the state of a crawl with manners.
type polite struct {
	Manners
	now     time.Duration
	fetches events // in flight: when they end, page
	free    []time.Duration
	parked  map[uint32][]uint32 // by host, first in first out
	resting events              // hosts with parked pages: when their rest ends
	ready   events              // those whose rest is over: by when their first page was parked
	order   map[uint32]int64    // of each parked page, when it was
	count   int64               // pages parked till now
}

// politely crawls in simulated time.
func (r *crawling) politely(ctx context.Context) (Result, error) {
	p := &polite{Manners: *r.Manners, parked: map[uint32][]uint32{}, order: map[uint32]int64{}}
	if p.Workers < 1 || p.Fetch < 0 || p.Rest < 0 || p.Ahead < 0 {
		return r.done, fmt.Errorf("a crawl with %d workers, fetches of %s, rests of %s, %d pages ahead; want a worker at least, and nothing negative", p.Workers, p.Fetch, p.Rest, p.Ahead)
	}
	if p.Ahead == 0 {
		p.Ahead = p.Workers
	}
	if p.Hosts == nil {
		p.Hosts = r.Graph.Hosts().Array(r.Graph.Nodes())
	}
	p.free = make([]time.Duration, r.Graph.Hosts().Count())
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return r.done, ctx.Err()
		}
		for p.fetches.len() > 0 && time.Duration(p.fetches.first()) <= p.now {
			r.done.Time, r.now = p.now, p.now
			if err := r.page(p.fetches.take()); err != nil {
				return r.done, err
			}
		}
		enough := r.MaxPages > 0 && r.done.Pages+p.fetches.len() >= r.MaxPages
		if !enough && p.fetches.len() < p.Workers {
			if v, ok := p.choose(r); ok {
				p.fetch(v)
				continue
			}
		}
		if !p.wait(enough) {
			return r.done, r.Order.Err()
		}
	}
}

// choose returns the page to be fetched next; false when nothing can be now.
func (p *polite) choose(r *crawling) (uint32, bool) {
	for p.resting.len() > 0 && time.Duration(p.resting.first()) <= p.now {
		host := p.resting.take()
		p.ready.add(p.order[p.parked[host][0]], host)
	}
	if p.ready.len() > 0 {
		host := p.ready.take()
		v := p.parked[host][0]
		delete(p.order, v)
		if p.parked[host] = p.parked[host][1:]; len(p.parked[host]) == 0 {
			delete(p.parked, host)
		}
		return v, true
	}
	for len(p.order) < p.Ahead {
		v, ok := r.Order.Next()
		if !ok {
			return 0, false
		}
		host := p.host(v)
		if host == graph.None || p.free[host] <= p.now && p.parked[host] == nil {
			return v, true
		}
		if p.parked[host] == nil {
			p.resting.add(int64(p.free[host]), host)
		}
		p.parked[host] = append(p.parked[host], v)
		p.order[v] = p.count
		p.count++
	}
	return 0, false
}

func (p *polite) host(v uint32) uint32 {
	if int(v) >= len(p.Hosts) {
		return graph.None
	}
	return p.Hosts[v]
}

// fetch begins a fetch. Its host is free again after the rest.
func (p *polite) fetch(v uint32) {
	p.fetches.add(int64(p.now+p.Fetch), v)
	host := p.host(v)
	if host == graph.None {
		return
	}
	p.free[host] = p.now + p.Fetch + p.Rest
	if p.parked[host] != nil {
		p.resting.add(int64(p.free[host]), host)
	}
}

// wait lets time pass until something happens: a fetch ends or, unless enough is
// fetched or all workers are busy, a rest. False when nothing will.
func (p *polite) wait(enough bool) bool {
	var next time.Duration
	switch rests := p.resting.len() > 0 && !enough && p.fetches.len() < p.Workers; {
	case p.fetches.len() > 0 && rests:
		next = time.Duration(min(p.fetches.first(), p.resting.first()))
	case p.fetches.len() > 0:
		next = time.Duration(p.fetches.first())
	case rests:
		next = time.Duration(p.resting.first())
	default:
		return false
	}
	p.now = max(p.now, next)
	return true
}

// events is a queue of what happens first; of what happens at one time, what was
// added first.
type events struct {
	heap  eventHeap
	added int64
}

type event struct {
	at    int64
	added int64
	x     uint32
}

func (e *events) len() int { return len(e.heap) }

// first returns when the first one happens.
func (e *events) first() int64 { return e.heap[0].at }

func (e *events) add(at int64, x uint32) {
	e.added++
	heap.Push(&e.heap, event{at, e.added, x})
}

func (e *events) take() uint32 { return heap.Pop(&e.heap).(event).x }

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].added < h[j].added
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}
