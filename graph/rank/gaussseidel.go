package rank

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"fossick/graph"
)

// gaussSeidel computes the same PageRank as PowerIteration from a transposed graph in memory, several times as
// fast. Up to a factor it is the solution of
//
//	y(p) = v(p) + d · Σ_{q→p} y(q)/C(q)
//
// because the rank of pages without links goes to pages by their personal shares, like all teleported rank
// (Gleich, Zhukov and Berkhin, 2004; Del Corso, Gullí and Romani, 2005). Sources and leaves (see trimmed) are
// solved once; only the core is swept, in place. A large core is cut into parts that see each other's values of
// the previous sweep. Cuts do not depend on the number of workers, so neither does the result, to the last bit.
// Residual is the L1 change of a final step of the power iteration.
//
// Iterations is the number of edge visits divided by the edges, rounded up. The core takes another 4 bytes
// per edge and 64 per node.
func gaussSeidel(ctx context.Context, in *graph.CSR, degree []uint32, opt Options) (*Result, error) {
	return solve(ctx, in, degree, trimmed, nil, opt)
}

// byComponents is gaussSeidel by strongly connected components in topological order, as in PRPACK (Gleich,
// Greif and others, 2012). It visits fewer edges, but on one core finding the components costs as much.
func byComponents(ctx context.Context, in *graph.CSR, degree []uint32, opt Options) (*Result, error) {
	return solve(ctx, in, degree, func(in *graph.CSR, _ []uint32) *partition { return strongComponents(in) }, nil, opt)
}

// solve solves the parts of split in order; none may lead to an earlier one. With groups, it sweeps by blocks.
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

type solver struct {
	in     *graph.CSR
	degree []uint32
	opt    Options
	y      []float64  // the solution so far, by node
	share  []float64  // d·y/C, what a page gives per link; 0 without links
	groups *partition // blocks by number; may be nil
	place  []uint32   // in the current component, from 1; 0 for other nodes
	visits int64      // edges visited
}

func newSolver(in *graph.CSR, degree []uint32, opt Options) *solver {
	n := in.Nodes()
	s := &solver{in: in, degree: degree, opt: opt, y: make([]float64, n), share: make([]float64, n), place: make([]uint32, n)}
	if opt.start == nil {
		return s // from 0, ranks only grow, so sweeps know the residual exactly
	}
	lost := 0.0 // S is 1/(1 − lost)
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

// solve reduces one component's residual below tolerance times its sum, so that the whole residual is below
// that share of S (see finish). A tenth of the tolerance is distributed by node, for components whose ranks
// vanish because no surfer arrives.
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

// component is a set of nodes that is swept, numbered from 0 by place.
type component struct {
	n     int
	start []int64
	to    []uint32  // sources of links to a node: j, or n + j if j is in another part
	base  []float64 // v, plus the share from other components
	y     []float64
	share []float64 // d·y/C; from n on as of the previous sweep
	give  []float64 // d/C
	back  []float64 // share of a node's rank that goes to nodes which see it only in the next sweep
	parts []int     // start of each part, and the end
	left  []float64 // per part, see sweep
	held  []float64
	work  int // workers
}

const (
	partEdges = 1 << 18 // minimum edges per part, because cuts cost sweeps
	mostParts = 8
)

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

// gather collects the links to node v, number i of a component, in a part.
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

// sweep processes the component once. left bounds the L1 residual of its equations (exactly, if ranks only
// grow); held is the sum of y.
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

// partition divides a graph's nodes into blocks, or into components of which none leads to an earlier one.
type partition struct {
	nodes []uint32 // all nodes, part by part, increasing within a part
	first []uint32 // start of each part in nodes, and the end
}

func (p *partition) len() int { return len(p.first) - 1 }

func (p *partition) of(i int) []uint32 { return p.nodes[p.first[i]:p.first[i+1]] }

// strongComponents finds the strongly connected components of the graph whose transpose is in, in topological
// order: Tarjan's algorithm (SIAM Journal on Computing 1, 1972) without recursion, with one number per node for
// index and low link (Pearce, 2005). O(nodes + edges); at most 25 bytes per node.
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

type tarjan struct {
	in      *graph.CSR
	index   []uint32 // discovery order from 1, lowered to the lowest index reachable on the stack
	lowered []bool   // index was lowered; if not, the node is its component's root
	at      []int64  // next edge to visit
	path    []uint32 // nodes being searched
	stack   []uint32 // nodes without a component yet
	of      []uint32 // component, from 1; 0 while unknown
	met     uint32
	found   uint32
}

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

// lower updates v's index with that of w, which is on the stack.
func (t *tarjan) lower(v, w uint32) {
	if t.index[w] < t.index[v] {
		t.index[v], t.lowered[v] = t.index[w], true
	}
}

// leave closes the component of v if v is its root.
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

func (t *tarjan) sorted() *partition {
	c := &partition{nodes: t.stack[:0], first: make([]uint32, t.found+1)}
	for _, of := range t.of {
		c.first[of]++
	}
	for i := range t.found {
		c.first[i+1] += c.first[i]
	}
	c.nodes = make([]uint32, len(t.of))
	at := t.index[:0] // reuse: index is no longer needed
	at = append(at, c.first...)[:t.found]
	for v, of := range t.of {
		c.nodes[at[of-1]] = uint32(v)
		at[of-1]++
	}
	return c
}
