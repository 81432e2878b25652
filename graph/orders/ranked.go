package orders

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
