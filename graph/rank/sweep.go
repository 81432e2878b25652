package rank

import (
	"fossick/graph"
	"math"
	"sync"
)

// component is one strongly connected component that is swept through. Its nodes
// are numbered from 0 by their place.
type component struct {
	n     int
	start []int64
	to    []uint32  // those that lead to a node: j, or n + j when j is of another part
	base  []float64 // v, and what comes from other components
	y     []float64
	share []float64 // d·y/C; from n on as the sweep before left it
	give  []float64 // d/C
	back  []float64 // share of a node's rank that its links lead to nodes which do not see it in the same sweep
	parts []int     // where parts begin, and the end
	left  []float64 // of each part, see sweep
	held  []float64
	work  int // workers
}

const (
	partEdges = 1 << 18 // a part has as many at least: a cut costs sweeps
	mostParts = 8
)

// component gathers what sweeps need of some nodes.
func (s *solver) component(nodes []uint32) *component {
	n := len(nodes)
	c := &component{
		n: n, start: make([]int64, n+1), base: make([]float64, n), y: make([]float64, n), share: make([]float64, 2*n),
		give: make([]float64, n), back: make([]float64, n), work: s.opt.Workers,
	}
	edges := int64(0)
	for i, v := range nodes {
		s.place[v] = uint32(i) + 1
		c.y[i], c.share[i] = s.y[v], s.share[v]
		c.give[i] = s.opt.Damping / float64(s.degree[v])
		edges += int64(len(s.in.Successors(v)))
	}
	copy(c.share[n:], c.share)
	c.cut(s.in, nodes, edges)
	c.to = make([]uint32, 0, edges)
	for p := range len(c.parts) - 1 {
		for i := c.parts[p]; i < c.parts[p+1]; i++ {
			s.gather(c, i, nodes[i], c.parts[p], c.parts[p+1])
		}
	}
	return c
}

// gather gets what leads to node v, the i-th of a component, in a part.
func (s *solver) gather(c *component, i int, v uint32, from, to int) {
	sum := s.opt.personal(int(v), len(s.y))
	for _, q := range s.in.Successors(v) {
		j := int(s.place[q]) - 1
		switch {
		case j < 0:
			sum += s.share[q]
			s.visits++
			continue
		case j < from || j >= to:
			c.to = append(c.to, uint32(c.n+j))
		default:
			c.to = append(c.to, uint32(j))
		}
		if j >= i || j < from {
			c.back[j] += c.give[j]
		}
	}
	c.base[i] = sum
	c.start[i+1] = int64(len(c.to))
}

// cut makes parts with about as many edges each.
func (c *component) cut(in *graph.CSR, nodes []uint32, edges int64) {
	parts := min(mostParts, 1+edges/partEdges)
	c.parts = []int{0}
	seen := int64(0)
	for i, v := range nodes {
		if seen >= edges*int64(len(c.parts))/parts && i > 0 {
			c.parts = append(c.parts, i)
		}
		seen += int64(len(in.Successors(v)))
	}
	c.parts = append(c.parts, c.n)
	c.left, c.held = make([]float64, len(c.parts)-1), make([]float64, len(c.parts)-1)
}

// sweep goes through the component once. left is at least the L1 norm of what its
// equations then miss (equal to it when ranks only grow), held the sum of y.
func (c *component) sweep() (left, held float64) {
	parts := len(c.parts) - 1
	c.each(func(p int) { c.part(p) })
	if parts > 1 {
		c.each(func(p int) { copy(c.share[c.n+c.parts[p]:], c.share[c.parts[p]:c.parts[p+1]]) })
	}
	for p := range parts {
		left, held = left+c.left[p], held+c.held[p]
	}
	return left, held
}

// each calls do with each part, by several workers.
func (c *component) each(do func(p int)) {
	parts := len(c.parts) - 1
	if parts == 1 {
		do(0)
		return
	}
	var workers sync.WaitGroup
	for w := range min(c.work, parts) {
		workers.Go(func() {
			for p := w; p < parts; p += c.work {
				do(p)
			}
		})
	}
	workers.Wait()
}

// part sweeps through one part.
func (c *component) part(p int) {
	left, held := 0.0, 0.0
	from, to := c.parts[p], c.parts[p+1]
	at := c.start[from]
	for i := from; i < to; i++ {
		sum, end := c.base[i], c.start[i+1]
		for _, j := range c.to[at:end] {
			sum += c.share[j]
		}
		at = end
		left += math.Abs(sum-c.y[i]) * c.back[i]
		held += sum
		c.y[i], c.share[i] = sum, sum*c.give[i]
	}
	c.left[p], c.held[p] = left, held
}
