package rank

import "fossick/graph"

// partition is a partition of a graph's nodes, into blocks or into components of which
// none leads to an earlier one.
type partition struct {
	nodes []uint32 // all nodes, part by part; those of one grow
	first []uint32 // where each part begins in nodes, and the end
}

func (p *partition) len() int { return len(p.first) - 1 }

// of returns the nodes of a part.
func (p *partition) of(i int) []uint32 { return p.nodes[p.first[i]:p.first[i+1]] }

// strongComponents finds the strongly connected components of the graph whose
// transposed one is in. By Tarjan's algorithm (SIAM Journal on Computing 1, 1972)
// without recursion, with one number a node for index and low link (Pearce, 2005).
// Of a graph it gives components before those that lead to them, so of the
// transposed graph it gives them after. O(nodes + edges); at most 25 bytes a node
// beside the graph.
func strongComponents(in *graph.CSR) *partition {
	n := in.Nodes()
	t := tarjan{in: in, index: make([]uint32, n), at: make([]int64, n), lowered: make([]bool, n), of: make([]uint32, n)}
	for v := range n {
		if t.index[v] == 0 {
			t.from(uint32(v))
		}
	}
	return t.sorted()
}

// tarjan is the state of a search in depth.
type tarjan struct {
	in      *graph.CSR
	index   []uint32 // when a node was met, from 1; lowered to the lowest that it reaches on the stack
	lowered []bool   // whether that happened; if not, it is the first met of its component
	at      []int64  // next edge to look at
	path    []uint32 // nodes that are being searched
	stack   []uint32 // nodes met whose component is not known
	of      []uint32 // component, from 1; 0 while it is not known
	met     uint32
	found   uint32
}

// from searches all that can be reached from a node.
func (t *tarjan) from(root uint32) {
	t.meet(root)
	for len(t.path) > 0 {
		v := t.path[len(t.path)-1]
		if w, ok := t.next(v); ok {
			t.meet(w)
			continue
		}
		t.path = t.path[:len(t.path)-1]
		t.leave(v)
		if len(t.path) > 0 && t.of[v] == 0 {
			t.lower(t.path[len(t.path)-1], v)
		}
	}
}

func (t *tarjan) meet(v uint32) {
	t.met++
	t.index[v] = t.met
	t.at[v] = t.in.Start[v]
	t.path, t.stack = append(t.path, v), append(t.stack, v)
}

// next returns a neighbour that was not met yet.
func (t *tarjan) next(v uint32) (uint32, bool) {
	for end := t.in.Start[v+1]; t.at[v] < end; {
		w := t.in.To[t.at[v]]
		t.at[v]++
		switch {
		case t.index[w] == 0:
			return w, true
		case t.of[w] == 0:
			t.lower(v, w)
		}
	}
	return 0, false
}

// lower notes that v reaches what w, on the stack, reaches.
func (t *tarjan) lower(v, w uint32) {
	if t.index[w] < t.index[v] {
		t.index[v], t.lowered[v] = t.index[w], true
	}
}

// leave closes the component of which v was the first to be met, if it was: then v
// reaches no node of the stack below itself.
func (t *tarjan) leave(v uint32) {
	if t.lowered[v] {
		return
	}
	t.found++
	for {
		w := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.of[w] = t.found
		if w == v {
			return
		}
	}
}

// sorted lists the nodes by component.
func (t *tarjan) sorted() *partition {
	c := &partition{nodes: t.stack[:0], first: make([]uint32, t.found+1)}
	for _, of := range t.of {
		c.first[of]++
	}
	for i := range t.found {
		c.first[i+1] += c.first[i]
	}
	c.nodes = make([]uint32, len(t.of))
	at := t.index[:0] // not needed any more
	at = append(at, c.first...)[:t.found]
	for v, of := range t.of {
		c.nodes[at[of-1]] = uint32(v)
		at[of-1]++
	}
	return c
}
