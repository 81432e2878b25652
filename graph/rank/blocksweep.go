package rank

import (
	"math"
	"sync"
)

// blockCore is a core that is swept block by block. Nodes are numbered so that blocks are contiguous. Inner
// links (from the node's own block) and outer links share one array, because only their total is known in
// advance: inner ones grow from its front, outer ones from its end, with rows reversed.
type blockCore struct {
	n     int
	first []uint32 // start of each block, and the end
	parts []int    // start of each part, as block number, and the end

	to    []uint32 // source j, or n + j if j's part is swept at the same time
	start []blockStart
	rows  []outerRow // nodes with outer links; most have none

	base  []float64 // v, plus the share from sources
	share []float64 // d·y/C; from n on as of the previous sweep
	node  []coreNode
	block []blockSums
	anew  float64 // sum of base

	links   int64
	scaling bool    // see sweep
	mean    float64 // relative error left by the previous sweep; +Inf before the first
	most    float64 // largest error allowed while scaling
	sums    []swept // per part
	work    int     // workers
}

// blockStart is where a block's links begin: inner links from inner on, outer links before outer, their rows
// from row on.
type blockStart struct {
	inner, outer int64
	row          int
}

type outerRow struct{ node, links uint32 }

// blockSums are a block's sum of y, and how much its links pass to its own and to other blocks.
type blockSums struct{ holds, keeps, gives float64 }

type coreNode struct {
	give  float64 // d/C
	inner uint32  // number of inner links to it
	stay  uint32  // its links within its block
	late  uint32  // those of them whose targets see it only in the next sweep
	out   uint32  // its links to other blocks of the core
	back  uint32  // those of them whose targets see it only in the next sweep
}

const (
	// atOnce parts are swept in parallel without seeing each other's results. Sweeping all parts at once
	// would need more sweeps.
	atOnce = 4
	// Minimum number of links per part, and maximum number of parts.
	blockPartEdges = 1 << 17
	mostBlockParts = 64
	// wholeBlock is how many times a part's size a block may have before it is cut, because cuts cost
	// sweeps.
	wholeBlock = 8
)

func (s *solver) blockCore(nodes []uint32) (*blockCore, []uint32) {
	n := len(nodes)
	c := &blockCore{
		n: n, base: make([]float64, n), share: make([]float64, 2*n), node: make([]coreNode, n),
		scaling: true, mean: math.Inf(1), work: s.opt.Workers,
	}
	for _, v := range nodes {
		s.place[v] = 1
	}
	nodes = c.order(s, nodes)
	c.gather(s, nodes)
	copy(c.share[n:], c.share)
	return c, nodes
}

func (c *blockCore) order(s *solver, nodes []uint32) []uint32 {
	edges := int64(0)
	for _, v := range nodes {
		edges += s.in.Start[v+1] - s.in.Start[v]
	}
	size := max(blockPartEdges, edges/mostBlockParts)
	ordered := make([]uint32, 0, len(nodes))
	seen := int64(0) // links in the current part
	c.parts = []int{0}
	for g := range s.groups.len() {
		begun := false
		for _, v := range s.groups.of(g) {
			if s.place[v] == 0 {
				continue
			}
			cut := seen >= size && !begun || seen >= wholeBlock*size
			if cut {
				c.parts, seen = append(c.parts, len(c.first)), 0
			}
			if cut || !begun {
				c.first, begun = append(c.first, uint32(len(ordered))), true
			}
			ordered = append(ordered, v)
			s.place[v] = uint32(len(ordered))
			seen += s.in.Start[v+1] - s.in.Start[v]
		}
	}
	c.parts = append(c.parts, len(c.first))
	c.first = append(c.first, uint32(len(ordered)))
	c.to = make([]uint32, edges)
	return ordered
}

func (c *blockCore) gather(s *solver, nodes []uint32) {
	blocks, parts := len(c.first)-1, len(c.parts)-1
	c.start = make([]blockStart, blocks+1)
	c.block, c.sums = make([]blockSums, blocks), make([]swept, parts)
	for i, v := range nodes {
		c.share[i], c.node[i].give = s.share[v], s.opt.Damping/float64(s.degree[v])
	}
	at := blockStart{outer: int64(len(c.to))}
	for p := range parts {
		together := p / atOnce * atOnce // first part of the parallel group
		g := gathering{solver: s, blockCore: c, at: at, from: c.first[c.parts[p]], to: c.first[c.parts[p+1]],
			low: c.first[c.parts[together]], high: c.first[c.parts[min(parts, together+atOnce)]]}
		for b := c.parts[p]; b < c.parts[p+1]; b++ {
			c.start[b] = g.at
			for i := c.first[b]; i < c.first[b+1]; i++ {
				g.row(i, nodes[i], c.first[b], c.first[b+1])
			}
		}
		at = g.at
	}
	c.start[blocks] = at
	c.links = at.inner + int64(len(c.to)) - at.outer
	for b := range blocks {
		sums := &c.block[b]
		for i := c.first[b]; i < c.first[b+1]; i++ {
			c.anew += c.base[i]
			sums.holds += c.share[i] / c.node[i].give
			sums.keeps += c.share[i] * float64(c.node[i].stay)
		}
	}
}

type gathering struct {
	*solver
	*blockCore
	at        blockStart
	from, to  uint32 // nodes of the part
	low, high uint32 // nodes of the parallel group
}

// row collects the links to node v, number i, in a block of nodes first … next−1.
func (g *gathering) row(i, v, first, next uint32) {
	sum, outer := g.opt.personal(int(v), len(g.y)), uint32(0)
	here := &g.node[i]
	for _, q := range g.in.Successors(v) {
		j := g.place[q] - 1
		switch {
		case g.place[q] == 0:
			sum += g.solver.share[q]
			g.visits++
		case j >= first && j < next:
			g.blockCore.to[g.at.inner] = j
			g.at.inner++
			here.inner++
			g.node[j].stay++
			if j >= i {
				g.node[j].late++
			}
		default:
			other := j >= g.low && j < g.high && (j < g.from || j >= g.to)
			g.node[j].out++
			if other || j >= i {
				g.node[j].back++
			}
			if other {
				j += uint32(g.n)
			}
			g.at.outer--
			g.blockCore.to[g.at.outer] = j
			outer++
		}
	}
	g.base[i] = sum
	if outer > 0 {
		g.rows = append(g.rows, outerRow{i, outer})
		g.at.row++
	}
}

type swept struct {
	left   float64 // upper bound of the L1 residual of the equations
	held   float64 // the sum of y
	visits int64   // edges visited
}

// sweep processes the core once, block by block. Let o(j) be what page j of block J receives from outside
// (personal share and outer links), and k(i) the share of page i that its links keep in J. At the solution
//
//	Σ y(j) = Σ o(j) + Σ k(i)·y(i)
//
// so each block's pages are first scaled by
//
//	t = Σ o(j) / Σ (1 − k(j))·y(j)
//
// which sets J's rank in the block graph of the current ranks: iterative aggregation and disaggregation
// (Koury, McAllister and Stewart, SIAM Journal on Algebraic and Discrete Methods 5, 1984). Then its inner links
// are swept, twice if their error is above the core's average. The core as a whole is scaled first in the
// same way.
//
// Without scaling, left falls at least by the damping d per sweep; with scaling this is observed but not
// proved. So scaling stops for good when left exceeds that bound, starting at four times the first sweep's.
func (c *blockCore) sweep(d float64) swept {
	c.whole()
	parts := len(c.parts) - 1
	for p := 0; p < parts; p += atOnce {
		to := min(parts, p+atOnce)
		c.each(p, to)
		from, end := c.first[c.parts[p]], c.first[c.parts[to]]
		copy(c.share[c.n+int(from):], c.share[from:end])
	}
	all := swept{visits: c.links}
	for _, p := range c.sums {
		all.left, all.held, all.visits = all.left+p.left, all.held+p.held, all.visits+p.visits
	}
	if c.most *= d; math.IsInf(c.mean, 1) {
		c.most = 4 * all.left
	}
	if all.left > c.most {
		c.scaling = false
	}
	c.mean = all.left / all.held
	return all
}

// whole scales the core to its correct total, if the error matters compared with the last sweep's.
func (c *blockCore) whole() {
	held, lost := 0.0, 0.0 // lost: part of held not passed on within the core
	for _, b := range c.block {
		held += b.holds
		lost += b.holds - b.keeps - b.gives
	}
	t := c.anew / lost
	if math.Abs(c.anew-lost) < c.mean*held/10 || !c.may(t) {
		return
	}
	for i := range c.share {
		c.share[i] *= t
	}
	for i := range c.block {
		c.block[i].holds *= t
		c.block[i].keeps *= t
	}
}

// may reports whether scaling by t is allowed; t is NaN where no rank arrives.
func (c *blockCore) may(t float64) bool { return c.scaling && t > 1e-99 && t < 1e99 }

func (c *blockCore) each(from, to int) {
	var workers sync.WaitGroup
	count := min(c.work, to-from)
	for w := range count {
		workers.Go(func() {
			for p := from + w; p < to; p += count {
				c.sums[p] = c.part(p)
			}
		})
	}
	workers.Wait()
}

// part sweeps one part. visits counts only repeated edge visits.
func (c *blockCore) part(p int) (all swept) {
	var have []float64 // per page of a block: rank received from outside
	for b := c.parts[p]; b < c.parts[p+1]; b++ {
		have = append(have[:0], c.base[c.first[b]:c.first[b+1]]...)
		c.elsewhere(b, have)
		late, back := c.within(b, have, c.scaled(b, have))
		all.left += back
		if late > c.mean*c.block[b].holds {
			late, back = c.within(b, have, 1)
			all.left += back
			all.visits += c.start[b+1].inner - c.start[b].inner
		}
		all.left += late
		all.held += c.block[b].holds
	}
	return all
}

func (c *blockCore) elsewhere(b int, have []float64) {
	first, end := c.first[b], c.start[b].outer
	for _, row := range c.rows[c.start[b].row:c.start[b+1].row] {
		sum, at := have[row.node-first], end-int64(row.links)
		for _, j := range c.to[at:end] {
			sum += c.share[j]
		}
		have[row.node-first], end = sum, at
	}
}

// scaled scales a block and returns the inverse factor.
func (c *blockCore) scaled(b int, have []float64) float64 {
	all := 0.0
	for _, x := range have {
		all += x
	}
	t := all / (c.block[b].holds - c.block[b].keeps)
	if !c.may(t) {
		return 1
	}
	share := c.share[c.first[b]:c.first[b+1]]
	for i := range share {
		share[i] *= t
	}
	return 1 / t
}

// within sweeps the inner links of a block. It returns bounds of the error at pages already swept, in the block
// and elsewhere. was is the factor from a share to its value before scaling.
func (c *blockCore) within(b int, have []float64, was float64) (late, back float64) {
	var sums blockSums
	at := c.start[b].inner
	from, to := c.first[b], c.first[b+1]
	share := c.share[from:to]
	for i, node := range c.node[from:to] {
		sum, end := have[i], at+int64(node.inner)
		for _, j := range c.to[at:end] {
			sum += c.share[j]
		}
		at = end
		old, now := share[i], sum*node.give
		late += math.Abs(now-old) * float64(node.late)
		back += math.Abs(now-old*was) * float64(node.back)
		sums.holds += sum
		sums.keeps += now * float64(node.stay)
		sums.gives += now * float64(node.out)
		share[i] = now
	}
	c.block[b] = sums
	return late, back
}
