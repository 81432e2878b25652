package rank

import (
	"context"
	"fmt"
	"fossick/graph"
)

// gaussSeidel computes the same PageRank as PowerIteration does, from a
// transposed graph in memory, several times as fast. What the pages without
// links hold goes to the pages in the shares of the personal vector, as all
// that is not damped does. So the result is up to a factor the solution of
//
//	y(p) = v(p) + d · Σ_{q→p} y(q)/C(q)
//
// where those pages do not occur (Gleich, Zhukov and Berkhin, 2004; Del Corso, Gullí
// and Romani, 2005). So sources and leaves (see trimmed) are solved once, and only the
// core between is swept through. It is done in place: a page takes what those before it
// have in this sweep. A large core is cut into parts that do not depend on the number
// of workers. Each is swept by one worker, and parts see each other as of the sweep
// before. So the result does not depend on the workers either, to the last bit. ε is
// kept as PowerIteration keeps it: Residual is what a last step of the power iteration
// changed, in the L1 norm.
//
// Iterations are edges visited by the edges of the graph, rounded up. The core is
// held once more in memory, in 4 bytes an edge and 64 a node.
func gaussSeidel(ctx context.Context, in *graph.CSR, degree []uint32, opt Options) (*Result, error) {
	return solve(ctx, in, degree, trimmed, nil, opt)
}

// byComponents does what gaussSeidel does by strongly connected components, each
// solved when those that lead to it are, as PRPACK does (Gleich, Greif and others,
// 2012). It visits fewer edges, and takes as long to find the components, on one
// core, as it saves.
func byComponents(ctx context.Context, in *graph.CSR, degree []uint32, opt Options) (*Result, error) {
	return solve(ctx, in, degree, func(in *graph.CSR, _ []uint32) *partition { return strongComponents(in) }, nil, opt)
}

// solve solves the parts that split gives, none of which leads to an earlier
// one, in order. With groups, the nodes of each block, sweeps go by blocks.
func solve(ctx context.Context, in *graph.CSR, degree []uint32, split func(*graph.CSR, []uint32) *partition, groups *partition, opt Options) (*Result, error) {
	opt, err := opt.filled(in.Nodes())
	if err != nil {
		return nil, err
	}
	n := in.Nodes()
	if len(degree) != n {
		return nil, fmt.Errorf("PageRank of %d nodes with %d out-degrees", n, len(degree))
	}
	c, s := split(in, degree), newSolver(in, degree, opt)
	s.groups = groups
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

// solver is the state of a Gauss–Seidel iteration.
type solver struct {
	in     *graph.CSR
	degree []uint32
	opt    Options
	y      []float64  // the solution so far, by node
	share  []float64  // d·y/C, what a page gives to each of its links; 0 without links
	groups *partition // of blocks, by number; nil when there are none
	place  []uint32   // in the component at hand, from 1; 0 for other nodes
	visits int64      // of edges
}

func newSolver(in *graph.CSR, degree []uint32, opt Options) *solver {
	n := in.Nodes()
	s := &solver{in: in, degree: degree, opt: opt, y: make([]float64, n), share: make([]float64, n), place: make([]uint32, n)}
	if opt.start == nil {
		return s // from 0 on ranks only grow, so that sweeps know the residual exactly
	}
	lost := 0.0 // so S is 1/(1 − lost)
	for v, x := range opt.start {
		if degree[v] > 0 {
			lost += opt.Damping * x
		}
	}
	for v, x := range opt.start {
		if s.y[v] = x / (1 - lost); degree[v] > 0 {
			s.share[v] = opt.Damping * s.y[v] / float64(degree[v])
		}
	}
	return s
}

// solve brings one component's part of the residual below a share of what it holds.
// Then the whole residual is below that share of S, see finish. A tenth goes by nodes,
// for components where surfers never come and ranks vanish.
func (s *solver) solve(ctx context.Context, nodes []uint32, tolerance float64) error {
	if len(nodes) == 1 {
		v := nodes[0]
		s.single(v)
		return nil
	}
	if s.groups != nil {
		c, nodes := s.blockCore(nodes)
		if err := s.sweeps(ctx, func() swept { return c.sweep(s.opt.Damping) }, len(nodes), tolerance); err != nil {
			return err
		}
		for i, v := range nodes {
			s.y[v], s.share[v], s.place[v] = c.share[i]/c.node[i].give, c.share[i], 0
		}
		return nil
	}
	c := s.component(nodes)
	sweep := func() swept {
		left, held := c.sweep()
		return swept{left, held, int64(len(c.to))}
	}
	if err := s.sweeps(ctx, sweep, len(nodes), tolerance); err != nil {
		return err
	}
	for i, v := range nodes {
		s.y[v], s.share[v], s.place[v] = c.y[i], c.share[i], 0
	}
	return nil
}

// sweeps goes through a component of n nodes until what is left is small against what
// is held.
func (s *solver) sweeps(ctx context.Context, sweep func() swept, n int, tolerance float64) error {
	size := float64(n) / float64(len(s.y))
	for rounds := 1; ; rounds++ {
		c := sweep()
		s.visits += c.visits
		if c.left <= tolerance*(0.9*c.held+0.1*size) {
			return nil
		}
		if rounds >= s.opt.MaxIterations {
			return tooFew(c.left, rounds, s.opt)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
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

// finish scales y to sum to 1 and makes a step of the power iteration from there.
// With r what the linear equations miss and S the sum of y that step changes
// r/S − v·Σr/S, so its L1 norm is at most 2|r|/S.
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
