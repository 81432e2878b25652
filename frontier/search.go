package frontier

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

func (b *bfs) Visit(counts, finds []uint32) {
	b.ensure(2)
	for _, v := range counts {
		switch b.at(v).list {
		case waiting: // its first link that counts
			b.remove(v)
			fallthrough
		case unseen:
			b.append(1, v)
		}
	}
	b.find(0, finds)
}

// dfs visits a neighbour of the latest visited vertex that has one.
type dfs struct{ lists }

func (d *dfs) Next() (uint32, bool) { return d.next() }

func (d *dfs) Visit(counts, finds []uint32) {
	d.ensure(2)
	for i := len(counts) - 1; i >= 0; i-- { // so that the first link ends in front
		v := counts[i]
		switch x := d.at(v); {
		case x.list == visited:
			continue
		case x.list >= waiting:
			d.remove(v)
		}
		d.append(1, v)
		d.heads[1] = v // the end of a ring is before its head
	}
	d.find(0, finds)
}

// generic visits any discovered vertex: one drawn at random.
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
	i := g.rng.IntN(n)
	v := g.queue[i]
	g.queue[i] = g.queue[n-1]
	g.queue = g.queue[:n-1]
	return v, true
}

func (g *generic) Visit(counts, finds []uint32) {
	for _, vs := range [][]uint32{counts, finds} {
		for _, v := range vs {
			if x := g.at(v); x.list == unseen {
				x.list = visited
				g.queue = append(g.queue, v)
			}
		}
	}
}
