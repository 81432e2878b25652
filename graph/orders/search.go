package orders

import "math/rand/v2"

// The orderings without classes (paper B1). List 0 holds what no link counts for.

// first returns the first vertex of list 1, else of list 0.
func (l *lists) first() (uint32, bool) {
	for list := len(l.heads) - 1; list >= 0; list-- {
		if v := l.heads[list]; v != none {
			return v, true
		}
	}
	return 0, false
}

// next takes what first returns.
func (l *lists) next() (uint32, bool) {
	v, ok := l.first()
	if ok {
		l.take(v)
	}
	return v, ok
}

// bfs visits the neighbour of the earliest visited vertex.
type bfs struct{ lists }

func (b *bfs) Next() (uint32, bool) { return b.next() }

func (b *bfs) Visit(l Links) {
	b.ensure(2)
	for _, v := range l.Counts {
		switch b.at(v).list {
		case waiting: // its first link that counts
			b.remove(v)
			fallthrough
		case unseen:
			b.append(1, v)
		}
	}
	b.find(0, l.Finds)
}

// dfs visits a neighbour of the latest visited vertex that has one.
type dfs struct{ lists }

func (d *dfs) Next() (uint32, bool) { return d.next() }

func (d *dfs) Visit(l Links) {
	d.ensure(2)
	for i := len(l.Counts) - 1; i >= 0; i-- { // so that the first link ends in front
		v := l.Counts[i]
		switch x := d.at(v); {
		case x.list == visited:
			continue
		case x.list >= waiting:
			d.remove(v)
		}
		d.append(1, v)
		d.heads[1] = v // the end of a ring is before its head
	}
	d.find(0, l.Finds)
}

// generic visits any discovered vertex: one drawn at random. A vertex that waits has
// its place in queue where the others have their neighbours in a ring.
type generic struct {
	lists // for what was discovered
	queue []uint32
	rng   *rand.Rand
}

func (g *generic) Next() (uint32, bool) {
	n := len(g.queue)
	if n == 0 {
		return 0, false
	}
	v := g.queue[g.rng.IntN(n)]
	g.Take(v)
	return v, true
}

func (g *generic) Take(v uint32) {
	x := g.at(v)
	if x.list < waiting {
		return
	}
	last := g.queue[len(g.queue)-1]
	g.queue[x.next] = last
	g.vertices[last].next = x.next
	g.queue = g.queue[:len(g.queue)-1]
	x.list = visited
}

func (g *generic) Visit(l Links) {
	for _, vs := range [][]uint32{l.Counts, l.Finds} {
		for _, v := range vs {
			if x := g.at(v); x.list == unseen {
				x.list, x.next = waiting, uint32(len(g.queue))
				g.queue = append(g.queue, v)
			}
		}
	}
}
