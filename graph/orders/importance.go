package orders

import (
	"cmp"
	"fmt"
)

// Orderings by how important the links till now make a vertex. All links count.

// relevance visits the vertex with the best of its visited parents: the degree of
// relevance of a link is that of its page (paper A2, with increase-key). A start
// page's parent has 1 (paper A eq. 1).
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

// opic visits the vertex with the most cash (on-line page importance computation,
// greedy; Abiteboul, Preda and Cobena 2003). Each vertex has a cash of 1 of its own from
// its discovery on; a visit spends a page's cash on its links in equal parts. What
// comes to a page after its visit stays there, as every page is visited once. The
// cash of a page without links is lost.
type opic struct{ ranked }

func (o *opic) Visit(l Links) {
	cash := 0.0 // start pages are nobody's links
	if !l.Start {
		cash = o.visit(l.Page)
	}
	o.give(l.All, cash/float64(len(l.All)))
}

// visit marks a vertex as visited and takes all its cash.
func (r *ranked) visit(v uint32) float64 {
	r.at(v).found = done
	return r.spend(v)
}

// spend takes all the cash of a visited vertex.
func (r *ranked) spend(v uint32) float64 {
	cash := r.vertices[v].value
	r.vertices[v].value = 0
	return cash
}

// give gives a part of a page's cash to each of its links, and discovers those that
// are new.
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

// opicHistory is opic in which visited pages spend again what comes to them. With each
// visit the one that has most does, for its links are known. So the cash of a vertex
// that waits is all that ever came to it, its history.
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

// pay parts cash among links, and keeps account of the visited ones among them: one
// by one, as a heap bears one change at a time.
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

// pageRank visits the vertex with the highest PageRank in the graph of what is
// known (Cho, Garcia-Molina and Page 1998). That is visited pages with all
// their links, and those that wait as pages without links. It is computed
// incrementally by pushing residuals. Each known page has a residual of 1. A
// push takes the residual of a page and gives the damped part of it to its
// links. With d as the damping, the sum of what was pushed and what is left
// tends to N/(1−d) times PageRank, whatever the order of pushes. It does so up
// to a factor that is the same for all pages: what pages without links would
// give to all. A page is pushed when it is visited; every so many pages those
// visited earlier are pushed till none has a residual of pushFrom. Between
// these, a vertex has its rank by what its parents had when they were pushed.
//
// A push takes (1−d) of a residual of pushFrom at least out of the sum of all, to
// which each page brings 1. So there are at most 1/((1−d)·pushFrom) pushes a page,
// however often it is made up to date.
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

// pushFrom is the residual from which on a visited page is pushed again: a twentieth
// of what each page has of its own. Not tuned.
const pushFrom = 0.05

// growth is the part by which the visited pages have to grow, unless
// SequenceOptions.Every says otherwise, before PageRank is made up to date: a
// tenth. Not tuned.
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

// push gives a residual to links, and queues the visited ones among them that are due.
func (p *pageRank) push(links []uint32, residual float64) {
	p.give(links, p.damping*residual/float64(len(links)))
	for _, v := range links {
		if x := &p.vertices[v]; x.found == done && x.place == 0 && x.value >= p.pushFrom {
			x.place = 1
			p.queue = append(p.queue, v)
		}
	}
}

// update pushes all that is due.
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

// ranked are vertices that wait in a heap by a number, their standing: the largest
// first, of equal ones that which was discovered first. 16 bytes a vertex and 4 for
// one that waits; O(log n) a change. Not safe for concurrent use.
type ranked struct {
	vertices []standing
	waits    standings
	count    uint32 // vertices discovered
}

// standing is one vertex. The zero value is one that was not discovered.
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

// at returns a vertex, making room for it.
func (r *ranked) at(v uint32) *standing {
	if int(v) >= len(r.vertices) {
		r.vertices = append(r.vertices, make([]standing, int(v)+1-len(r.vertices))...)
	}
	return &r.vertices[v]
}

// find discovers a vertex, with a standing.
func (r *ranked) find(v uint32, value float64) {
	r.count++
	*r.at(v) = standing{value: value, found: r.count}
	r.waits.push(r.vertices, v)
}

// raise gives a vertex that waits a standing at least as large as its old one.
func (r *ranked) raise(v uint32, value float64) {
	x := &r.vertices[v]
	x.value = value
	r.waits.up(r.vertices, int(x.place)-1)
}

// Next implements Sequence.
func (r *ranked) Next() (uint32, bool) {
	if len(r.waits) == 0 {
		return 0, false
	}
	v := r.waits[0]
	r.Take(v)
	return v, true
}

// Take implements Sequence.
func (r *ranked) Take(v uint32) {
	x := r.at(v)
	if x.found == 0 || x.found >= taken {
		return
	}
	r.waits.remove(r.vertices, v)
	x.found = taken
}

// Err implements Sequence.
func (r *ranked) Err() error { return nil }

// standings is a heap of vertices. Its nodes have four children: half the levels of
// a binary heap, and the children lie side by side.
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

// before says which of two goes first; visited vertices, which have no number left,
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

// up restores the order after the vertex at i became better.
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

// down restores the order after the vertex at i became worse.
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
