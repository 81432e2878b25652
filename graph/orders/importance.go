package orders

import (
	"cmp"
	"fmt"
)

// Orderings by the importance that the links so far give a vertex. All links count.

// relevance visits the vertex with the most relevant visited parent (paper A2, with increase-key). A
// start page's parent has 1 (paper A eq. 1).
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

// opic visits the vertex with the most cash (on-line page importance computation, greedy; Abiteboul,
// Preda and Cobena 2003). A vertex gets a cash of 1 at its discovery; a visit spends a page's cash
// on its links in equal parts. Cash that reaches a visited page, or a page without links, is lost.
type opic struct{ ranked }

func (o *opic) Visit(l Links) {
	cash := 0.0 // start pages are nobody's links
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

// give gives part to each link, and discovers new ones.
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

// opicHistory is opic in which, with each visit, the visited page with the most cash spends it
// again. So the cash of a waiting vertex is all that ever came to it, its history.
type opicHistory struct {
	ranked
	links func(v uint32) ([]uint32, error)
	rich  standings // visited pages with cash
	err   error
}

func newOPICHistory(o SequenceOptions) *opicHistory {
	return &opicHistory{ranked: newRanked(o.Vertices), links: o.Links}
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

// pay divides cash among links and keeps the heap of visited pages, one change at a time.
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

// pageRank visits the vertex with the highest PageRank in the known graph (Cho, Garcia-Molina and
// Page 1998): the visited pages with their links, and the waiting ones as pages without links. It
// pushes residuals: each known page has a residual of 1, and a push moves the damped residual of a
// page to its links. With damping d, pushed and remaining residuals tend to N/(1−d) times PageRank,
// up to a common factor (the share of pages without links). A page is pushed at its visit; now and
// then visited pages are pushed again until none has a residual of pushFrom.
//
// A push takes (1−d) of a residual ≥ pushFrom out of a sum to which each page brings 1, so there are
// at most 1/((1−d)·pushFrom) pushes a page.
type pageRank struct {
	ranked
	links    func(v uint32) ([]uint32, error)
	damping  float64
	pushFrom float64
	every    int
	visits   int      // till now
	due      int      // visits at which it is made up to date
	queue    []uint32 // visited pages with a residual of pushFrom at least, first in first out; their place is 1
	head     int      // of queue
	err      error
}

// pushFrom is the residual from which a visited page is pushed again. Not tuned.
const pushFrom = 0.05

// growth: PageRank is updated when the visited pages grew by one growth-th, unless
// SequenceOptions.Every is set. Not tuned.
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

// push gives a residual to links and queues the visited ones that are due.
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
		if p.head > len(p.queue)/2 && p.head > 1<<12 { // what was read is let go
			n := copy(p.queue, p.queue[p.head+1:])
			p.queue, p.head = p.queue[:n], -1
		}
	}
	p.queue, p.head = p.queue[:0], 0
}

// ranked are waiting vertices in a heap by a number: the largest first, equal ones by discovery. 16
// bytes a vertex and 4 for a waiting one; O(log n) a change. Not safe for concurrent use.
type ranked struct {
	vertices []standing
	waits    standings
	count    uint32 // vertices discovered
}

// standing is one vertex; the zero value is undiscovered.
type standing struct {
	value float64
	found uint32 // its number in the order of discovery, from 1; or taken, or done
	place uint32 // in its heap, from 1; 0 when it is in none
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

// raise gives a waiting vertex a value no smaller than before.
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

// standings is a heap of vertices with four children a node: half the levels of a binary heap, and
// siblings lie together.
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

// before reports which of two goes first; visited vertices, which have lost their discovery number,
// go by their own.
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
