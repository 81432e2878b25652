package orders

import "slices"

// lexDFS visits the vertex with the largest label, where a visit at step i
// prepends i to the labels of its targets (lexicographic depth-first search).
// So later visited neighbours weigh more than all earlier ones. So a visit
// takes the targets out of their classes and puts them before all other
// vertices, in new classes in the order of the old ones. That order is found by
// sorting the targets by the numbers of their classes, which grow to the front.
// It takes O(d log d) a step with d links, O(n + m log Δ) in all. No linear
// algorithm is known. The best known bound is O(n + m log log n), with a van
// Emde Boas tree in place of the sort (Spinrad, cited by Corneil and Krueger
// 2008).
//
// Classes are numbers and no more: 12 bytes a vertex in all, and 8 for each link of
// the page that has most.
type lexDFS struct {
	ring
	made    uint32   // the number of the class made last; class 0 is below all
	targets []uint64 // of this visit: their classes from the front, and their places among the links
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
	if uint64(l.made)+uint64(len(links.Counts)) > none-waiting {
		l.renumber()
	}
	l.targets = l.targets[:0]
	for i, v := range links.Counts {
		x := l.at(v)
		if x.list == visited {
			continue
		}
		class := uint32(0)
		if x.list >= waiting {
			class = x.list - waiting
			l.remove(v)
		}
		x.list = visited // in case it stands twice
		l.targets = append(l.targets, uint64(^class)<<32|uint64(i))
	}
	slices.Sort(l.targets)
	for i, t := range slices.Backward(l.targets) { // so that the first ends in front
		if i+1 == len(l.targets) || t>>32 != l.targets[i+1]>>32 {
			l.ops++
			l.made++
		}
		v := links.Counts[uint32(t)]
		l.vertices[v].list = l.made + waiting
		l.insert(v, l.front)
		l.front = v
	}
	for _, v := range links.Finds {
		if x := l.at(v); x.list == unseen {
			x.list = waiting
			l.insert(v, l.front) // at the end
		}
	}
}

// renumber gives the classes that there are the numbers from 1 on, in their order, when
// numbers run out: once in some billion classes.
func (l *lexDFS) renumber() {
	l.made = 0
	if l.front == none {
		return
	}
	last := uint32(waiting)
	for v := l.vertices[l.front].prev; ; v = l.vertices[v].prev { // from the end
		x := &l.vertices[v]
		if x.list != last {
			last = x.list
			l.made++
		}
		if last != waiting {
			x.list = l.made + waiting
		}
		if v == l.front {
			return
		}
	}
}
