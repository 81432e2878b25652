package rank

import (
	"context"
	"fmt"
	"slices"

	"fossick/graph"
)

// gaussSeidel computes the same PageRank as PowerIteration from a transposed graph in memory, several times as
// fast. Up to a factor it is the solution of
//
//	y(p) = v(p) + d · Σ_{q→p} y(q)/C(q)
//
// because the rank of pages without links goes to pages by their personal shares, like all teleported rank
// (Gleich, Zhukov and Berkhin, 2004; Del Corso, Gullí and Romani, 2005). Sources and leaves (see trimmed) are
// solved once; only the core is swept, in place, block by block (see blockCore). The parts of a core do not
// depend on the number of workers, so neither does the result, to the last bit. Residual is the L1 change of a
// final step of the power iteration.
//
// Iterations is the number of edge visits divided by the edges, rounded up. The core takes another 4 bytes
// per edge and 64 per node.
func gaussSeidel(ctx context.Context, in *graph.CSR, degree []uint32, groups *partition, opt Options) (*Result, error) {
	opt, err := opt.filled(in.Nodes())
	if err != nil {
		return nil, err
	}
	n := in.Nodes()
	if len(degree) != n {
		return nil, fmt.Errorf("PageRank of %d nodes with %d out-degrees", n, len(degree))
	}
	c, s := trimmed(in, degree), newSolver(in, degree, groups, opt)
	r := &Result{Score: make([]float64, n)}
	tolerance := opt.Epsilon / 2 // see finish
	for n > 0 {
		for i := range c.len() {
			if i%1024 == 0 && ctx.Err() != nil {
				return r, ctx.Err()
			}
			if err := s.solve(ctx, c.of(i), tolerance); err != nil {
				return r, err
			}
		}
		if err := s.finish(r); err != nil {
			return r, err
		}
		edges := max(1, int64(len(in.To)))
		r.Iterations++
		if r.Iterations += int((s.visits + edges - 1) / edges); r.Residual <= opt.Epsilon {
			break
		}
		tolerance /= 4
		if r.Iterations >= opt.MaxIterations {
			return r, tooFew(r.Residual, r.Iterations, opt)
		}
	}
	return r, nil
}

type solver struct {
	in     *graph.CSR
	degree []uint32
	opt    Options
	y      []float64  // the solution so far, by node
	share  []float64  // d·y/C, what a page gives per link; 0 without links
	groups *partition // blocks by number
	place  []uint32   // in the core, from 1; 0 for other nodes
	visits int64      // edges visited
}

func newSolver(in *graph.CSR, degree []uint32, groups *partition, opt Options) *solver {
	n := in.Nodes()
	return &solver{in: in, degree: degree, groups: groups, opt: opt, y: make([]float64, n), share: make([]float64, n), place: make([]uint32, n)}
}

// solve reduces the core's residual below tolerance times its sum, so that the whole residual is below that
// share of S (see finish). A tenth of the tolerance is distributed by node, for cores whose ranks vanish
// because no surfer arrives.
func (s *solver) solve(ctx context.Context, nodes []uint32, tolerance float64) error {
	if len(nodes) == 1 {
		s.single(nodes[0])
		return nil
	}
	c, nodes := s.blockCore(nodes)
	size := float64(len(nodes)) / float64(len(s.y))
	for rounds := 1; ; rounds++ {
		swept := c.sweep(s.opt.Damping)
		s.visits += swept.visits
		if swept.left <= tolerance*(0.9*swept.held+0.1*size) {
			break
		}
		if rounds >= s.opt.MaxIterations {
			return tooFew(swept.left, rounds, s.opt)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for i, v := range nodes {
		s.y[v], s.share[v], s.place[v] = c.share[i]/c.node[i].give, c.share[i], 0
	}
	return nil
}

// single solves a component of one page, which may link to itself.
func (s *solver) single(v uint32) {
	sum, self := s.opt.personal(int(v), len(s.y)), 0.0
	for _, q := range s.in.Successors(v) {
		if q == v {
			self = s.opt.Damping / float64(s.degree[v])
			continue
		}
		sum += s.share[q]
	}
	s.visits += int64(len(s.in.Successors(v)))
	s.y[v] = sum / (1 - self)
	if s.degree[v] > 0 {
		s.share[v] = s.opt.Damping * s.y[v] / float64(s.degree[v])
	}
}

// finish scales y to sum to 1 and makes one step of the power iteration. With r the residual of the linear
// equations and S the sum of y, that step changes r/S − v·Σr/S, so its L1 norm is at most 2|r|/S.
func (s *solver) finish(r *Result) (err error) {
	sum := 0.0
	for _, y := range s.y {
		sum += y
	}
	scaled := make([]float64, len(s.y))
	for v, y := range s.y {
		scaled[v] = y / sum
	}
	p := &power{in: s.in, degree: s.degree, opt: s.opt, share: make([]float64, len(s.y))}
	r.Residual, err = p.step(r.Score, scaled)
	return err
}

// trimmed splits a graph into sources, to which only sources lead, a core, and leaves, which lead only to
// leaves. Sources and leaves are parts of one node each. On a web this gains most of what strong components
// gain, at a fraction of the cost. A source missed by three passes stays in the core, which only costs time.
func trimmed(in *graph.CSR, degree []uint32) *partition {
	n := in.Nodes()
	outer := make([]bool, n)
	c := &partition{nodes: make([]uint32, 0, n)}
	c.first = append(c.first, 0)
	for range 3 {
		for v := range n {
			if !outer[v] && !slices.ContainsFunc(in.Successors(uint32(v)), func(q uint32) bool { return !outer[q] }) {
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

// leavesOf lists the leaves that are not yet outer, each after those it leads to, and marks them outer.
func leavesOf(in *graph.CSR, degree []uint32, outer []bool) []uint32 {
	left := make([]uint32, len(degree)) // per node, links that do not lead to leaves
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

// partition divides a graph's nodes into blocks, or into parts of which none leads to an earlier one.
type partition struct {
	nodes []uint32 // all nodes, part by part, increasing within a part
	first []uint32 // start of each part in nodes, and the end
}

func (p *partition) len() int { return len(p.first) - 1 }

func (p *partition) of(i int) []uint32 { return p.nodes[p.first[i]:p.first[i+1]] }
