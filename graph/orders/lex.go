package orders

import "slices"

// ring keeps all waiting vertices in one doubly linked ring, in the order of their visits. 12 bytes
// a vertex.
type ring struct {
	vertices []vertex
	front    uint32 // the first of all, none when nothing waits
	ops      uint64
}

func newRing(vertices int) ring { return ring{vertices: make([]vertex, vertices), front: none} }

func (r *ring) at(v uint32) *vertex {
	if int(v) >= len(r.vertices) {
		r.vertices = append(r.vertices, make([]vertex, int(v)+1-len(r.vertices))...)
	}
	return &r.vertices[v]
}

// insert puts a vertex before another one. The place before the front is also the end; the caller
// sets front accordingly.
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

// alone reports whether a waiting vertex is the only one of its class (vertex.list − waiting); a
// class stands together.
func (r *ring) alone(v uint32) bool {
	x := r.vertices[v]
	return x.next == v || r.vertices[x.next].list != x.list && r.vertices[x.prev].list != x.list
}

func (r *ring) operations() uint64 { return r.ops }

func (r *ring) Err() error { return nil }

// classes are the records of a partition's classes, 5 bytes each, in chunks so that growth copies
// nothing. Empty classes' records are reused.
type classes struct {
	chunks []*classChunk
	n      uint32 // records there are
	free   uint32 // the first that is free, none for none; its head is the next one
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
	growing                   // made it, of targets of the class behind it
	closed                    // made it, and nothing comes to it from the class behind it
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

// lexBFS visits the vertex with the largest label, where a visit at step i appends n − i to the
// labels of its targets (lexicographic breadth-first search): earlier visited neighbours outweigh
// all later ones.
//
// Vertices with equal labels form a class, and the classes stand in the ring by decreasing label
// (paper B2, algorithm 1). A visit splits every class with targets in two, targets first. New
// vertices become a new last class, whatever the kind of link. O(links) a step.
//
// Targets stand directly before the rest of their class, so a class (5 bytes) needs no record of its
// neighbours. At most 17 bytes a vertex in all.
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

// leave takes a vertex out of its class and the ring, and drops the class if it is now empty.
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
	fresh := uint32(none) // the class of the new vertices
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

// promote moves a target to the end of the class that its class is split into, directly before it,
// which it makes if need be. It reports whether there is one.
func (l *lexBFS) promote(v, class uint32) bool {
	if *l.state(class) != settled {
		return false // of this visit: the target stands twice
	}
	head, alone := l.head(class), l.alone(v)
	first := *head // of those that it parts from
	to := l.split(first)
	if to == none {
		if alone {
			return false // there is nobody to part from
		}
		l.ops++
		to = l.add(v, growing)
	}
	if first == v { // it stands where it should
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

// split returns the class for this visit's targets of a class whose first vertex is first; none if
// it is not made yet.
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

// lexDFS visits the vertex with the largest label, where a visit at step i prepends i to the labels
// of its targets (lexicographic depth-first search): later visited neighbours outweigh all earlier
// ones. A visit moves its targets to the front of the ring, in the order in which they stood, new
// ones last; sorting by their numbers, which grow to the front, gives that order. Vertices with
// equal labels moved together, so they stay in the order of discovery. O(d log d) for a step of d
// links, O(n + m log Δ) in all. The best known bound is O(n + m log log n), with a van Emde Boas
// tree in place of the sort (Spinrad, cited by Corneil and Krueger 2008).
//
// vertex.list holds a waiting vertex's number: 12 bytes a vertex, and 8 for each link of the largest
// page.
type lexDFS struct {
	ring
	made    uint32   // the largest number
	targets []uint64 // of this visit: their numbers from the front, and their places among the links
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
		x.list = visited // in case it stands twice
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

// renumber numbers the waiting vertices from 1 on, in order, when numbers run out: once in some
// billion links.
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
