package frontier

// partition keeps the vertices with equal labels in classes, and the classes in
// decreasing order of labels, in a doubly linked ring (paper B2). Class 0 holds the
// vertices with an empty label, which are below all others; it is the ring's head,
// too. A class takes 16 bytes and is used again when it is empty.
type partition struct {
	lists           // list i is that of class i
	classes []class // as many as lists
	free    []uint32
	touched []uint32 // classes that lose vertices to their split in this visit
}

type class struct {
	prev, next uint32
	split      uint32 // the class that takes its vertices in this visit; 0 for none
}

func newPartition(l lists) partition {
	p := partition{lists: l}
	p.newList()
	p.classes = append(p.classes, class{})
	return p
}

// newClass makes an empty class before another one.
func (p *partition) newClass(before uint32) uint32 {
	var c uint32
	if n := len(p.free); n > 0 {
		c = p.free[n-1]
		p.free = p.free[:n-1]
	} else {
		c = p.newList()
		p.classes = append(p.classes, class{})
	}
	p.link(c, before)
	return c
}

func (p *partition) link(c, before uint32) {
	p.ops++
	prev := p.classes[before].prev
	p.classes[c] = class{prev: prev, next: before}
	p.classes[prev].next, p.classes[before].prev = c, c
}

func (p *partition) drop(c uint32) {
	p.ops++
	x := p.classes[c]
	p.classes[x.prev].next, p.classes[x.next].prev = x.next, x.prev
	p.free = append(p.free, c)
}

// Next takes the first vertex of the class with the largest label.
func (p *partition) Next() (uint32, bool) {
	c := p.classes[0].next // class 0 itself when there is no other
	v := p.heads[c]
	if v == none {
		return 0, false
	}
	p.Take(v)
	return v, true
}

// Take drops the class that it empties.
func (p *partition) Take(v uint32) {
	x := p.at(v)
	if x.list < waiting {
		return
	}
	c := x.list - waiting
	p.take(v)
	if c != 0 && p.heads[c] == none {
		p.drop(c)
	}
}

// move gives a vertex to another class.
func (p *partition) move(v, to uint32) {
	p.remove(v)
	p.append(to, v)
}

// lexBFS visits the vertex with the largest label, where a visit at step i appends
// n − i to the labels of its targets (lexicographic breadth-first search): earlier
// visited neighbours weigh more than all later ones. Each visit splits every class
// with targets into these and the others, the targets first; vertices whose label
// was empty, new ones too, become a new last class. O(links) a step.
type lexBFS struct{ partition }

func newLexBFS(l lists) *lexBFS { return &lexBFS{newPartition(l)} }

func (l *lexBFS) Visit(links Links) {
	fresh := uint32(0) // the class of those with an empty label till now
	for _, v := range links.Counts {
		x := l.at(v)
		if x.list == visited {
			continue
		}
		if x.list <= waiting { // unseen, or of class 0
			if fresh == 0 {
				fresh = l.newClass(0)
			}
			if x.list == waiting {
				l.remove(v)
			}
			l.append(fresh, v)
			continue
		}
		c := x.list - waiting
		if c == fresh {
			continue // a target that stands twice
		}
		split := l.classes[c].split
		if split == 0 {
			split = l.newClass(c)
			l.classes[c].split = split
			l.touched = append(l.touched, c)
		}
		l.move(v, split)
	}
	for _, c := range l.touched {
		l.classes[c].split = 0
		if l.heads[c] == none {
			l.drop(c)
		}
	}
	l.touched = l.touched[:0]
	l.find(0, links.Finds)
}
