package orders

import "slices"

// lexDFS visits the vertex with the largest label, where a visit at step i
// prepends i to the labels of its targets (lexicographic depth-first search).
// So later visited neighbours weigh more than all earlier ones. So a visit
// takes the targets out of the ring and puts them before all other vertices, in
// the order in which they stood, the new ones last. That order is found by sorting
// the targets by their numbers, which grow to the front. Equal labels began with the
// same visit and moved together ever since, so they stay in the order of discovery.
// It takes O(d log d) a step with d links, O(n + m log Δ) in all. No linear
// algorithm is known. The best known bound is O(n + m log log n), with a van
// Emde Boas tree in place of the sort (Spinrad, cited by Corneil and Krueger
// 2008).
//
// A vertex that waits has its number in vertex.list: 12 bytes a vertex in all, and 8
// for each link of the page that has most.
type lexDFS struct {
	ring
	made    uint32   // the largest number
	targets []uint64 // of this visit: their numbers from the front, and their places among the links
}

func newLexDFS(vertices int) *lexDFS { return &lexDFS{ring: newRing(vertices)} }

// Next takes the first vertex of the class with the largest label.
func (l *lexDFS) Next() (uint32, bool) {
	v := l.front
	if v == none {
		return 0, false
	}
	l.Take(v)
	return v, true
}

// Take implements Sequence.
func (l *lexDFS) Take(v uint32) {
	if x := l.at(v); x.list >= waiting {
		l.remove(v)
		x.list = visited
	}
}

// Visit implements Sequence.
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

// renumber gives the vertices that wait the numbers from 1 on, in their order, when
// numbers run out: once in some billion links.
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
