package orders

import (
	"cmp"
	"fmt"
)

// relevance visits the vertex with the most relevant visited parent (paper A2, with increase-key). A start
// page's parent has 1 (paper A eq. 1). All links count, as in all orderings of this file.
type relevance struct {
	ranked
	score func(v uint32) float64
}

func (r *relevance) Visit(l Links) {
	score := 1.0
	if !l.Start {
		score = r.score(l.Page)
	}
	for _, v := range l.All {
		switch x := r.at(v); {
		case x.found == 0:
			r.find(v, score)
		case x.found < taken && score > x.value:
			r.raise(v, score)
		}
	}
}

// opic visits the vertex with most cash (on-line page importance computation, greedy; Abiteboul, Preda and
// Cobena 2003). A vertex gets a cash of 1 at discovery; a visit divides a page's cash equally among its links.
// Cash of visited targets, or of pages without links, is lost.
type opic struct{ ranked }

func (o *opic) Visit(l Links) {
	cash := 0.0 // no page links to start pages
	if !l.Start {
		cash = o.visit(l.Page)
	}
	o.give(l.All, cash/float64(len(l.All)))
}

func (r *ranked) visit(v uint32) float64 {
	r.at(v).found = done
	return r.spend(v)
}

func (r *ranked) spend(v uint32) float64 {
	cash := r.vertices[v].value
	r.vertices[v].value = 0
	return cash
}

func (r *ranked) give(links []uint32, part float64) {
	for _, v := range links {
		switch x := r.at(v); x.found {
		case 0:
			r.find(v, 1+part)
		case taken, done:
			x.value += part
		default:
			r.raise(v, x.value+part)
		}
	}
}

// opicHistory is opic in which each visit also lets the visited page with most cash spend it again. A waiting
// vertex thus collects its whole history of cash.
type opicHistory struct {
	ranked
	links func(v uint32) ([]uint32, error)
	rich  standings // visited pages with cash
	err   error
}

func (o *opicHistory) Next() (uint32, bool) {
	if o.err != nil {
		return 0, false
	}
	return o.ranked.Next()
}

func (o *opicHistory) Err() error { return o.err }

func (o *opicHistory) Visit(l Links) {
	if o.err != nil {
		return
	}
	if l.Start {
		o.give(l.All, 0)
		return
	}
	o.pay(l.All, o.visit(l.Page))
	if len(o.rich) == 0 {
		return
	}
	v := o.rich[0]
	o.rich.remove(o.vertices, v)
	links, err := o.links(v)
	if err != nil {
		o.err = fmt.Errorf("ordering opic-history: %w", err)
		return
	}
	o.pay(links, o.spend(v))
}

// pay divides cash among links and updates the heap of visited pages.
func (o *opicHistory) pay(links []uint32, cash float64) {
	for i, v := range links {
		o.give(links[i:i+1], cash/float64(len(links)))
		switch x := &o.vertices[v]; {
		case x.found != done:
		case x.place == 0:
			o.rich.push(o.vertices, v)
		default:
			o.rich.up(o.vertices, int(x.place)-1)
		}
	}
}

// pageRank visits the vertex with the highest PageRank in the known graph (Cho, Garcia-Molina and Page 1998),
// in which waiting vertices have no links. It pushes residuals: each known page starts with 1, and a push
// moves a page's damped residual to its links. With damping d, pushed plus remaining residuals approach
// N/(1−d) times PageRank, up to a common factor for pages without links. A page is pushed when visited, and
// periodically until no visited page has a residual of pushFrom.
//
// A push removes (1−d) of a residual ≥ pushFrom from a sum to which each page adds 1, so there are at most
// 1/((1−d)·pushFrom) pushes per page.
type pageRank struct {
	ranked
	links    func(v uint32) ([]uint32, error)
	damping  float64
	pushFrom float64
	every    int
	visits   int      // so far
	due      int      // visits at which ranks are next updated
	queue    []uint32 // visited pages with residual ≥ pushFrom, FIFO; their place is 1
	head     int      // of queue
	err      error
}

// pushFrom is the residual from which a visited page is pushed again.
const pushFrom = 0.05

// growth is the default update interval: PageRank is updated when the visited pages grew by one growth-th.
const growth = 10

func newPageRank(o SequenceOptions) (Sequence, error) {
	p := &pageRank{
		ranked: newRanked(o.Vertices), links: o.Links, damping: cmp.Or(o.Damping, 0.85), pushFrom: pushFrom, every: o.Every,
	}
	if !(p.damping > 0 && p.damping < 1) || p.every < 0 {
		return nil, fmt.Errorf("ordering pagerank: damping %g, every %d pages; want damping between 0 and 1, and no negative number of pages", p.damping, p.every)
	}
	return p, needs(o.Links != nil, "pagerank", "the links of visited pages")
}

func (p *pageRank) Next() (uint32, bool) {
	if p.visits >= p.due {
		p.due = p.visits + cmp.Or(p.every, 1+p.visits/growth)
		p.update()
	}
	if p.err != nil {
		return 0, false
	}
	return p.ranked.Next()
}

func (p *pageRank) Err() error { return p.err }

func (p *pageRank) Visit(l Links) {
	if l.Start {
		p.give(l.All, 0)
		return
	}
	p.visits++
	p.push(l.All, p.visit(l.Page))
}

// push moves a residual to links and queues visited targets that reach pushFrom.
func (p *pageRank) push(links []uint32, residual float64) {
	p.give(links, p.damping*residual/float64(len(links)))
	for _, v := range links {
		if x := &p.vertices[v]; x.found == done && x.place == 0 && x.value >= p.pushFrom {
			x.place = 1
			p.queue = append(p.queue, v)
		}
	}
}

func (p *pageRank) update() {
	for ; p.head < len(p.queue) && p.err == nil; p.head++ {
		v := p.queue[p.head]
		p.vertices[v].place = 0
		links, err := p.links(v)
		if err != nil {
			p.err = fmt.Errorf("ordering pagerank: %w", err)
			return
		}
		p.push(links, p.spend(v))
		if p.head > len(p.queue)/2 && p.head > 1<<12 { // release the consumed part
			n := copy(p.queue, p.queue[p.head+1:])
			p.queue, p.head = p.queue[:n], -1
		}
	}
	p.queue, p.head = p.queue[:0], 0
}

// ranked is a heap of waiting vertices, largest value first, ties by discovery. 16 bytes per vertex and 4 per
// waiting one; O(log n) per change. Not safe for concurrent use.
type ranked struct {
	vertices []standing
	waits    standings
	count    uint32 // vertices discovered
}

// standing is one vertex; the zero value is undiscovered.
type standing struct {
	value float64
	found uint32 // discovery number from 1, or taken, or done
	place uint32 // in its heap, from 1; 0 if in none
}

const (
	taken = 1<<32 - 2 // to be visited
	done  = 1<<32 - 1 // visited
)

func newRanked(vertices int) ranked { return ranked{vertices: make([]standing, vertices)} }

func (r *ranked) at(v uint32) *standing {
	if int(v) >= len(r.vertices) {
		r.vertices = append(r.vertices, make([]standing, int(v)+1-len(r.vertices))...)
	}
	return &r.vertices[v]
}

func (r *ranked) find(v uint32, value float64) {
	r.count++
	*r.at(v) = standing{value: value, found: r.count}
	r.waits.push(r.vertices, v)
}

// raise gives a waiting vertex a value at least as large.
func (r *ranked) raise(v uint32, value float64) {
	x := &r.vertices[v]
	x.value = value
	r.waits.up(r.vertices, int(x.place)-1)
}

func (r *ranked) Next() (uint32, bool) {
	if len(r.waits) == 0 {
		return 0, false
	}
	v := r.waits[0]
	r.Take(v)
	return v, true
}

func (r *ranked) Take(v uint32) {
	x := r.at(v)
	if x.found == 0 || x.found >= taken {
		return
	}
	r.waits.remove(r.vertices, v)
	x.found = taken
}

func (r *ranked) Err() error { return nil }

// standings is a 4-ary heap of vertices, which has half the levels of a binary heap and better locality.
type standings []uint32

func (h *standings) push(all []standing, v uint32) {
	*h = append(*h, v)
	h.up(all, len(*h)-1)
}

func (h *standings) remove(all []standing, v uint32) {
	q, i, last := *h, int(all[v].place)-1, len(*h)-1
	moved := q[last]
	*h = q[:last]
	all[v].place = 0
	if i == last {
		return
	}
	q[i] = moved
	all[moved].place = uint32(i) + 1
	h.down(all, i)
	h.up(all, int(all[moved].place)-1)
}

// before reports whether v precedes w. Visited vertices have no discovery number, so ties go by vertex number.
func (h standings) before(all []standing, v, w uint32) bool {
	a, b := &all[v], &all[w]
	switch {
	case a.value != b.value:
		return a.value > b.value
	case a.found != b.found:
		return a.found < b.found
	}
	return v < w
}

func (h standings) up(all []standing, i int) {
	v := h[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !h.before(all, v, h[parent]) {
			break
		}
		h[i] = h[parent]
		all[h[i]].place = uint32(i) + 1
		i = parent
	}
	h[i] = v
	all[v].place = uint32(i) + 1
}

func (h standings) down(all []standing, i int) {
	v := h[i]
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		best := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h.before(all, h[c], h[best]) {
				best = c
			}
		}
		if !h.before(all, h[best], v) {
			break
		}
		h[i] = h[best]
		all[h[i]].place = uint32(i) + 1
		i = best
	}
	h[i] = v
	all[v].place = uint32(i) + 1
}
