package orders

import "slices"

// ring keeps all waiting vertices in one doubly linked ring in visiting order. 12 bytes per vertex.
type ring struct {
	vertices []vertex
	front    uint32 // first vertex; none if nothing waits
	ops      uint64
}

func newRing(vertices int) ring { return ring{vertices: make([]vertex, vertices), front: none} }

func (r *ring) at(v uint32) *vertex {
	if int(v) >= len(r.vertices) {
		r.vertices = append(r.vertices, make([]vertex, int(v)+1-len(r.vertices))...)
	}
	return &r.vertices[v]
}

// insert puts v before another vertex. Before the front is also the end; the caller sets front accordingly.
func (r *ring) insert(v, before uint32) {
	r.ops++
	x := &r.vertices[v]
	if before == none {
		x.next, x.prev, r.front = v, v, v
		return
	}
	b := &r.vertices[before]
	x.next, x.prev = before, b.prev
	r.vertices[b.prev].next, b.prev = v, v
}

func (r *ring) remove(v uint32) {
	r.ops++
	x := &r.vertices[v]
	if x.next == v {
		r.front = none
		return
	}
	r.vertices[x.next].prev, r.vertices[x.prev].next = x.prev, x.next
	if r.front == v {
		r.front = x.next
	}
}

// alone reports whether a waiting vertex is the only one of its class (vertex.list − waiting), whose members
// are adjacent.
func (r *ring) alone(v uint32) bool {
	x := r.vertices[v]
	return x.next == v || r.vertices[x.next].list != x.list && r.vertices[x.prev].list != x.list
}

func (r *ring) Err() error { return nil }

// classes are the records of a partition's classes, 5 bytes each, in chunks so that growth copies nothing.
// Records of empty classes are reused.
type classes struct {
	chunks []*classChunk
	n      uint32 // number of records
	free   uint32 // first free record, or none; its head is the next free one
}

const classChunkLen = 1 << 10

type classChunk struct {
	heads  [classChunkLen]uint32 // first vertex
	states [classChunkLen]classState
}

// classState is what the current visit did to a class.
type classState uint8

const (
	settled classState = iota // nothing
	growing                   // created it from targets of the class behind it
	closed                    // created it, and the class behind it adds no more
)

func (c *classes) head(i uint32) *uint32 {
	return &c.chunks[i/classChunkLen].heads[i%classChunkLen]
}

func (c *classes) state(i uint32) *classState {
	return &c.chunks[i/classChunkLen].states[i%classChunkLen]
}

func (c *classes) add(head uint32, state classState) uint32 {
	i := c.free
	if i == none {
		if i = c.n; i%classChunkLen == 0 {
			c.chunks = append(c.chunks, new(classChunk))
		}
		c.n++
	} else {
		c.free = *c.head(i)
	}
	*c.head(i), *c.state(i) = head, state
	return i
}

func (c *classes) drop(i uint32) { *c.head(i), c.free = c.free, i }

// lexBFS visits the vertex with the largest label, where a visit at step i appends n − i to the labels of its
// targets (lexicographic breadth-first search): the earliest visited neighbours dominate.
//
// Vertices with equal labels form a class; classes stand in the ring by decreasing label (paper B2, algorithm
// 1). A visit splits every class with targets in two, targets first. New vertices form a new last class,
// whatever the kind of link. O(links) per step; at most 17 bytes per vertex, as targets move directly before
// the rest of their class and a class of 5 bytes suffices.
type lexBFS struct {
	ring
	classes
}

func newLexBFS(vertices int) *lexBFS {
	return &lexBFS{newRing(vertices), classes{free: none}}
}

func (l *lexBFS) Next() (uint32, bool) {
	v := l.front
	if v == none {
		return 0, false
	}
	l.Take(v)
	return v, true
}

func (l *lexBFS) Take(v uint32) {
	x := l.at(v)
	if x.list < waiting {
		return
	}
	l.leave(v, x.list-waiting)
	x.list = visited
}

// leave removes a vertex from its class and the ring, and drops an empty class.
func (l *lexBFS) leave(v, class uint32) {
	if head := l.head(class); l.alone(v) {
		l.ops++
		l.drop(class)
	} else if *head == v {
		*head = l.vertices[v].next
	}
	l.remove(v)
}

func (l *lexBFS) Visit(links Links) {
	fresh := uint32(none) // class of the new vertices
	split := false
	for i, v := range links.All {
		switch x := l.at(v); {
		case x.list == visited:
		case x.list == unseen:
			if fresh == none {
				l.ops++
				fresh = l.add(v, closed)
			}
			l.vertices[v].list = fresh + waiting
			l.insert(v, l.front) // at the end
		case links.counts(i):
			split = l.promote(v, x.list-waiting) || split
		}
	}
	if fresh != none {
		*l.state(fresh) = settled
	}
	if !split {
		return
	}
	for _, v := range links.All {
		if x := l.vertices[v]; x.list >= waiting {
			*l.state(x.list - waiting) = settled
		}
	}
}

// promote moves a target to the end of the new class directly before its own, which it creates if necessary.
// It reports whether such a class exists.
func (l *lexBFS) promote(v, class uint32) bool {
	if *l.state(class) != settled {
		return false // class created by this visit: a repeated target
	}
	head, alone := l.head(class), l.alone(v)
	first := *head // of the class being split
	to := l.split(first)
	if to == none {
		if alone {
			return false // nothing to split
		}
		l.ops++
		to = l.add(v, growing)
	}
	if first == v { // already in the right place
		l.ops++
		*head = l.vertices[v].next
	} else {
		made, front := *l.head(to) == v, l.front == first
		l.remove(v)
		l.insert(v, first)
		if made && front {
			l.front = v
		}
	}
	l.vertices[v].list = to + waiting
	if alone {
		l.ops++
		l.drop(class)
		*l.state(to) = closed
	}
	return true
}

// split returns the class created by this visit before the class that starts with first, or none.
func (l *lexBFS) split(first uint32) uint32 {
	if first == l.front {
		return none
	}
	before := l.vertices[l.vertices[first].prev].list - waiting
	if *l.state(before) != growing {
		return none
	}
	return before
}

// lexDFS visits the vertex with the largest label, where a visit at step i prepends i to the labels of its
// targets (lexicographic depth-first search): the latest visited neighbours dominate. A visit moves its
// targets to the front of the ring, keeping their order, new ones last; numbers that grow towards the front
// give that order by sorting. Vertices with equal labels moved together, so they stay in order of discovery.
// O(d log d) for a step of d links, O(n + m log Δ) in all; the best known bound is O(n + m log log n), with a van
// Emde Boas tree (Spinrad, cited by Corneil and Krueger 2008).
//
// vertex.list holds a waiting vertex's number. 12 bytes per vertex, and 8 per link of the largest page.
type lexDFS struct {
	ring
	made    uint32   // largest number
	targets []uint64 // of this visit: ^number << 32 | index in the links
}

func newLexDFS(vertices int) *lexDFS { return &lexDFS{ring: newRing(vertices)} }

func (l *lexDFS) Next() (uint32, bool) {
	v := l.front
	if v == none {
		return 0, false
	}
	l.Take(v)
	return v, true
}

func (l *lexDFS) Take(v uint32) {
	if x := l.at(v); x.list >= waiting {
		l.remove(v)
		x.list = visited
	}
}

func (l *lexDFS) Visit(links Links) {
	if uint64(l.made)+uint64(len(links.All)) > none-waiting {
		l.renumber()
	}
	l.targets = l.targets[:0]
	for i, v := range links.All {
		x, number := l.at(v), uint32(0)
		switch {
		case x.list == visited, x.list >= waiting && !links.counts(i):
			continue
		case x.list >= waiting:
			number = x.list - waiting
			l.remove(v)
		}
		x.list = visited // marks repeated targets
		l.targets = append(l.targets, uint64(^number)<<32|uint64(i))
	}
	slices.Sort(l.targets)
	for _, t := range slices.Backward(l.targets) { // so that the first ends in front
		v := links.All[uint32(t)]
		l.made++
		l.vertices[v].list = l.made + waiting
		l.insert(v, l.front)
		l.front = v
	}
}

// renumber renumbers the waiting vertices from 1 when numbers run out: once in some billion links.
func (l *lexDFS) renumber() {
	l.made = 0
	if l.front == none {
		return
	}
	for v := l.vertices[l.front].prev; ; v = l.vertices[v].prev { // from the end
		l.made++
		if l.vertices[v].list = l.made + waiting; v == l.front {
			return
		}
	}
}
