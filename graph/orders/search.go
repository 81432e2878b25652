package orders

import (
	"math/rand/v2"
	"slices"
)

// The orderings without classes (paper B1).

// next takes the first vertex of the only list.
func (l *lists) next() (uint32, bool) {
	if len(l.heads) == 0 || l.heads[0] == none {
		return 0, false
	}
	v := l.heads[0]
	l.take(v)
	return v, true
}

// bfs visits the neighbour of the earliest visited vertex. That is the one that was
// discovered first, so no further link moves it.
type bfs struct{ lists }

func (b *bfs) Next() (uint32, bool) { return b.next() }

func (b *bfs) Visit(l Links) {
	b.ensure(1)
	for _, v := range l.All {
		if b.at(v).list == unseen {
			b.append(0, v)
		}
	}
}

// dfs visits a neighbour of the latest visited vertex that has one.
type dfs struct{ lists }

func (d *dfs) Next() (uint32, bool) { return d.next() }

func (d *dfs) Visit(l Links) {
	d.ensure(1)
	for i, v := range slices.Backward(l.All) { // so that the first link ends in front
		switch x := d.at(v); {
		case x.list == visited, x.list >= waiting && !l.counts(i):
			continue
		case x.list >= waiting:
			d.remove(v)
		}
		d.append(0, v)
		d.heads[0] = v // the end of a ring is before its head
	}
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
	for _, v := range l.All {
		if x := g.at(v); x.list == unseen {
			x.list, x.next = waiting, uint32(len(g.queue))
			g.queue = append(g.queue, v)
		}
	}
}
