package graph

import "fmt"

// CSR is a graph as plain arrays (compressed sparse rows): 4 bytes an edge and 8
// a node, for algorithms that read it often. The successors of v are
// To[Start[v]:Start[v+1]].
type CSR struct {
	Start []int64 // one more than there are nodes
	To    []uint32
}

// Nodes returns the number of nodes.
func (c *CSR) Nodes() int { return max(0, len(c.Start)-1) }

// Successors returns the successors of node v.
func (c *CSR) Successors(v uint32) []uint32 { return c.To[c.Start[v]:c.Start[v+1]] }

// Scan calls do with the successors of the nodes from, …, to−1.
func (c *CSR) Scan(from, to int, do func(v uint32, successors []uint32) error) error {
	if from < 0 || to > c.Nodes() {
		return fmt.Errorf("nodes %d to %d of %d", from, to, c.Nodes())
	}
	for v := from; v < to; v++ {
		if err := do(uint32(v), c.Successors(uint32(v))); err != nil {
			return err
		}
	}
	return nil
}

// Transposed returns a graph with all edges turned round, in memory, and the
// out-degree of each node before. Predecessors grow. While it works it takes 8 bytes an
// edge: successors are decoded once, and kept until they are turned round.
func Transposed(g Lists) (*CSR, []uint32, error) {
	n := g.Nodes()
	degree := make([]uint32, n)
	start := make([]int64, n+2) // counts of s at s+2, so that the sums are where s+1 begins
	var all [][]uint32          // successors of all nodes, in chunks
	var chunk []uint32
	err := g.Scan(0, n, func(v uint32, list []uint32) error {
		degree[v] = uint32(len(list))
		for _, s := range list {
			start[s+2]++
		}
		if len(list) > cap(chunk)-len(chunk) {
			all, chunk = append(all, chunk), make([]uint32, 0, max(1<<18, len(list)))
		}
		chunk = append(chunk, list...)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	all = append(all, chunk)
	for v := range n {
		start[v+2] += start[v+1]
	}
	to := make([]uint32, start[n+1])
	v, left := -1, uint32(0) // of v's successors
	for i, chunk := range all {
		for _, s := range chunk {
			for left == 0 {
				v++
				left = degree[v]
			}
			left--
			to[start[s+1]] = uint32(v)
			start[s+1]++ // in the end, where s+1 begins
		}
		all[i] = nil
	}
	return &CSR{Start: start[:n+1], To: to}, degree, nil
}
