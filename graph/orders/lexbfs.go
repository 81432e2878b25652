package orders

// lexBFS visits the vertex with the largest label, where a visit at step i
// appends n − i to the labels of its targets (lexicographic breadth-first
// search). So earlier visited neighbours weigh more than all later ones.
//
// Vertices with equal labels are a class, and the classes stand in the ring in
// decreasing order of labels (paper B2, algorithm 1). Each visit splits every class
// with targets into these and the others, the targets first. New vertices become a
// new last class, whatever the kind of link. O(links) a step.
//
// As the targets stand directly before those that they part from, a class needs no
// record of its neighbours. A class takes 5 bytes. No class is empty, and one of a single
// vertex is not split. So there are never more classes than vertices that wait: at most
// 17 bytes a vertex in all.
type lexBFS struct {
	ring
	classes
}

func newLexBFS(vertices int) *lexBFS {
	return &lexBFS{newRing(vertices), classes{free: none}}
}

// Next takes the first vertex of the class with the largest label.
func (l *lexBFS) Next() (uint32, bool) {
	v := l.front
	if v == none {
		return 0, false
	}
	l.Take(v)
	return v, true
}

// Take implements Sequence.
func (l *lexBFS) Take(v uint32) {
	x := l.at(v)
	if x.list < waiting {
		return
	}
	l.leave(v, x.list-waiting)
	x.list = visited
}

// leave takes a vertex out of its class and the ring, and drops the class that it
// empties.
func (l *lexBFS) leave(v, class uint32) {
	if head := l.head(class); l.alone(v) {
		l.ops++
		l.drop(class)
	} else if *head == v {
		*head = l.vertices[v].next
	}
	l.remove(v)
}

// Visit implements Sequence.
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

// promote moves a target to the end of the class that its class is split into. That
// stands directly before it, and is made when it is not there. It says whether there is
// one.
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

// split returns the class that the targets of a class go to in this visit, none when
// there is none yet; first is the class's first vertex.
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
