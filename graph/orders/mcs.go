package orders

// mcs visits the vertex with the largest visited neighbourhood (maximum
// cardinality search; paper B2, algorithm 2): list k is the class ⟨k⟩ of the
// vertices with k links that count. A link that counts moves its target to ⟨k+1⟩;
// new vertices go to ⟨1⟩, whatever the kind of link. A step costs its links and no more. The highest list rises by one a
// visit at most, so the rises pay for looking down for the highest that is not
// empty.
//
// With weights other than 1 it is a maximal neighbourhood search. As all weights are
// positive, a proper part of another's visited neighbourhood weighs less. mns draws 1
// or 2 for each visited vertex, which gives orders that need be none of the others.
type mcs struct {
	lists
	weight func() uint32 // of the vertex visited now
	top    int           // no list above it holds a vertex
	last   bool          // list 0 has the vertices that no link counts for
}

// newMCSSites returns MCS in which a link that only discovers a vertex does not count, so
// that it comes after all that have one that does: sites without a start page give one
// page each before any gives two. On a synthetic web it reaches a fifth more of them.
func newMCSSites(o SequenceOptions) *mcs {
	m := newMCS(o, one)
	m.last = true
	return m
}

func newMCS(o SequenceOptions, weight func() uint32) *mcs {
	return &mcs{lists: newLists(o.Vertices), weight: weight}
}

func one() uint32 { return 1 }

// backlink visits the vertex with the most links from visited pages (Cho,
// Garcia-Molina and Page 1998): MCS that knows no kinds of links.
type backlink struct{ *mcs }

func (b *backlink) Visit(l Links) { b.mcs.Visit(Alike(l.Page, l.All)) }

func (m *mcs) Next() (uint32, bool) {
	for ; m.top >= 0 && m.top < len(m.heads); m.top-- {
		if v := m.heads[m.top]; v != none {
			m.take(v)
			return v, true
		}
		m.ops++
	}
	m.top = 0
	return 0, false
}

func (m *mcs) Visit(l Links) {
	w := m.weight()
	for i, v := range l.All {
		x := m.at(v)
		list := w
		switch {
		case x.list == visited, x.list >= waiting && !l.counts(i):
			continue
		case x.list >= waiting:
			m.remove(v)
			list = x.list - waiting + w
		case m.last && !l.counts(i):
			list = 0
		}
		m.ensure(int(list) + 1)
		m.append(list, v)
		m.top = max(m.top, int(list))
	}
}
