package rank

import "fossick/graph"

// trimmed splits a graph into sources, a core, and leaves. Nothing leads to
// sources but earlier sources; leaves lead to nothing but other leaves. Each of
// them is a part of its own. It is what strong components are worth to PageRank
// on a web, at a fraction of their cost, as few edges are looked at. The
// components that the core may have hold little. A source that three passes
// over the nodes do not find stays in the core, which costs time and changes
// nothing else.
func trimmed(in *graph.CSR, degree []uint32) *partition {
	n := in.Nodes()
	outer := make([]bool, n)
	c := &partition{nodes: make([]uint32, 0, n)}
	c.first = append(c.first, 0)
	for range 3 {
		for v := range n {
			if !outer[v] && all(in.Successors(uint32(v)), outer) {
				outer[v] = true
				c.nodes = append(c.nodes, uint32(v))
				c.first = append(c.first, uint32(len(c.nodes)))
			}
		}
	}
	leaves := leavesOf(in, degree, outer)
	for v, is := range outer {
		if !is {
			c.nodes = append(c.nodes, uint32(v))
		}
	}
	if int(c.first[len(c.first)-1]) < len(c.nodes) {
		c.first = append(c.first, uint32(len(c.nodes)))
	}
	for i := len(leaves) - 1; i >= 0; i-- {
		c.nodes = append(c.nodes, leaves[i])
		c.first = append(c.first, uint32(len(c.nodes)))
	}
	return c
}

// all says whether a property holds of all nodes of a list.
func all(list []uint32, has []bool) bool {
	for _, q := range list {
		if !has[q] {
			return false
		}
	}
	return true
}

// leavesOf lists the leaves that are not outer nodes already, those that only lead
// to others after these, and makes them outer.
func leavesOf(in *graph.CSR, degree []uint32, outer []bool) []uint32 {
	left := make([]uint32, len(degree)) // links of each node that do not lead to leaves
	copy(left, degree)
	var leaves []uint32
	for v, d := range degree {
		if d == 0 && !outer[v] {
			leaves = append(leaves, uint32(v))
			outer[v] = true
		}
	}
	for i := 0; i < len(leaves); i++ {
		for _, q := range in.Successors(leaves[i]) {
			if left[q]--; left[q] == 0 && !outer[q] {
				leaves = append(leaves, q)
				outer[q] = true
			}
		}
	}
	return leaves
}
