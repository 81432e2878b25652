package frontier

import (
	"cmp"
	"slices"
)

// lexDFS visits the vertex with the largest label, where a visit at step i prepends
// i to the labels of its targets (lexicographic depth-first search): later visited
// neighbours weigh more than all earlier ones. So a visit takes the targets out of
// their classes and puts them before all other vertices, in new classes in the
// order of the old ones. That order is found by sorting the classes touched by a
// number that grows to the front: O(d log d) a step with d links, O(n + m log Δ)
// in all. No linear algorithm is known; the best known bound is O(n + m log log n),
// with a van Emde Boas tree in place of the sort (Spinrad, cited by Corneil and
// Krueger 2008).
type lexDFS struct {
	partition
	rank []uint64 // of each class; larger is nearer to the front
	made uint64   // classes till now
}

func newLexDFS(l lists) *lexDFS {
	return &lexDFS{partition: newPartition(l), rank: make([]uint64, 1)}
}

// front makes a class before all others.
func (l *lexDFS) front() uint32 {
	c := l.newClass(l.classes[0].next)
	for int(c) >= len(l.rank) {
		l.rank = append(l.rank, 0)
	}
	l.made++
	l.rank[c] = l.made
	return c
}

func (l *lexDFS) Visit(links Links) {
	anyFresh := false
	for _, v := range links.Counts { // which classes are touched
		switch x := l.at(v); {
		case x.list == visited:
		case x.list <= waiting:
			anyFresh = true
		case l.classes[x.list-waiting].split == 0:
			l.classes[x.list-waiting].split = 1 // until it is known
			l.touched = append(l.touched, x.list-waiting)
		}
	}
	slices.SortFunc(l.touched, func(a, b uint32) int { return cmp.Compare(l.rank[a], l.rank[b]) })
	fresh := uint32(0)
	if anyFresh { // their labels are the smallest of the targets'
		fresh = l.front()
	}
	for _, c := range l.touched {
		split := l.front()
		l.classes[c].split = split
	}
	l.split(links.Counts, fresh)
	for _, c := range l.touched {
		l.classes[c].split = 0
		if l.heads[c] == none {
			l.drop(c)
		}
	}
	l.touched = l.touched[:0]
	l.find(0, links.Finds)
}

// split moves the targets to the new classes.
func (l *lexDFS) split(counts []uint32, fresh uint32) {
	for _, v := range counts {
		x := &l.vertices[v]
		switch {
		case x.list == visited:
		case x.list == unseen:
			l.append(fresh, v)
		case x.list == waiting:
			l.move(v, fresh)
		default:
			if to := l.classes[x.list-waiting].split; to != 0 {
				l.move(v, to) // else it stands twice
			}
		}
	}
}
