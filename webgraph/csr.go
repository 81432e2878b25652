package webgraph

import (
	"errors"
	"fmt"
)

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
// out-degree of each node before. Predecessors grow.
func Transposed(g Lists) (*CSR, []uint32, error) {
	n := g.Nodes()
	degree := make([]uint32, n)
	t := &CSR{Start: make([]int64, n+1)}
	err := g.Scan(0, n, func(v uint32, list []uint32) error {
		degree[v] = uint32(len(list))
		for _, s := range list {
			t.Start[s+1]++
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for v := range n {
		t.Start[v+1] += t.Start[v]
	}
	t.To = make([]uint32, t.Start[n])
	at := make([]int64, n)
	copy(at, t.Start)
	err = g.Scan(0, n, func(v uint32, list []uint32) error {
		for _, s := range list {
			if at[s] == t.Start[s+1] {
				return errors.New("the graph has changed while it was read")
			}
			t.To[at[s]] = v
			at[s]++
		}
		return nil
	})
	return t, degree, err
}
