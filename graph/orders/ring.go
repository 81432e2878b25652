package orders

// ring keeps all vertices that wait in one doubly linked ring, in the order in which
// they would be visited. 12 bytes a vertex.
type ring struct {
	vertices []vertex
	front    uint32 // the first of all, none when nothing waits
	ops      uint64
}

func newRing(vertices int) ring { return ring{vertices: make([]vertex, vertices), front: none} }

// at returns a vertex, making room for it.
func (r *ring) at(v uint32) *vertex {
	if int(v) >= len(r.vertices) {
		r.vertices = append(r.vertices, make([]vertex, int(v)+1-len(r.vertices))...)
	}
	return &r.vertices[v]
}

// insert puts a vertex that is in no ring before another one. Before the front is the
// end, too: the caller says which of them is meant by what he makes the front.
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

// remove takes a vertex out of the ring.
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

// alone says whether a vertex that waits is the only one of its class
// (vertex.list − waiting), whose vertices stand together.
func (r *ring) alone(v uint32) bool {
	x := r.vertices[v]
	return x.next == v || r.vertices[x.next].list != x.list && r.vertices[x.prev].list != x.list
}

// operations counts as that of lists does.
func (r *ring) operations() uint64 { return r.ops }

// Err implements Sequence.
func (r *ring) Err() error { return nil }
