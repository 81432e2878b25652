package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"

	"fossick/graph"
)

// BlockRank over several agents (paper C4; docs/graph.md): agents compute local ranks, a
// coordinator ranks the blocks, and both repeat until the residual is below ε. The coordinator is
// the agent of part 0.

// RankLinks is an agent's part of the web: the nodes of its own graph, numbered from 0.
type RankLinks struct {
	// In has for each node the nodes that link to it. Sweeps read it in order, so it may be
	// compressed.
	In     graph.Lists
	Degree []uint32
	Keys   []uint64 // of each node's URL: the same at all agents, unique here
	// Page marks pages of this agent. If several agents have a page, the first owns it, and only
	// its links count.
	Page []bool
}

// RankOptions say how ranks are computed; the zero value works.
type RankOptions struct {
	// Method is blockrank [default]; blockrank-kamvar, which uses ranks within blocks and of
	// blocks only to start a power iteration; or power, the power iteration alone.
	Method    string
	Damping   float64 // d, in (0,1) [0.85]
	Epsilon   float64 // greatest distance of the result from PageRank, in the L1 norm [1e-10]
	MaxRounds int     // [1000]
}

// RankMethods are the values of RankOptions.Method.
var RankMethods = []string{"blockrank", "blockrank-kamvar", "power"}

// RankResult tells how the ranks were found.
type RankResult struct {
	Nodes    int
	Edges    int64
	Rounds   int
	Sweeps   int     // sum over rounds of the most sweeps of any part
	Residual float64 // change by a further step of the power iteration, in the L1 norm
	Bytes    uint64  // sent by all
}

// Rank ranks the links of several agents in one process, over an exchange of its own;
// deterministic to the bit.
func Rank(ctx context.Context, links []RankLinks, opt RankOptions) ([]*RankPart, error) {
	hub, at, open := NewHub(), make([]AgentID, len(links)), make([]Exchange, len(links))
	for i := range links {
		at[i] = AgentID(fmt.Sprintf("%016x", i))
		var err error
		if open[i], err = hub.Open(at[i]); err != nil { // all before the first message
			return nil, err
		}
	}
	parts := make([]*RankPart, len(links))
	g, ctx := errgroup.WithContext(ctx)
	for i, l := range links {
		p := newPeer(open[i], 1, i, at, time.Second)
		g.Go(func() (err error) {
			if parts[i], err = newRankPart(l, i, len(links), p, opt); err != nil {
				return err
			}
			return p.serve(ctx, parts[i].run)
		})
	}
	return parts, g.Wait()
}

// Rank ranks an agent's links together with the task's other agents.
func (s TaskSession) Rank(ctx context.Context, links RankLinks, opt RankOptions) (*RankPart, error) {
	part, err := newRankPart(links, s.Me, s.Agents, s.Peer, opt)
	if err != nil {
		return nil, err
	}
	return part, part.run(ctx)
}

// filled returns the options with their defaults, or what is wrong with them.
func (o RankOptions) filled() (RankOptions, error) {
	o.Method, o.Damping = cmp.Or(o.Method, RankMethods[0]), cmp.Or(o.Damping, 0.85)
	o.Epsilon, o.MaxRounds = cmp.Or(o.Epsilon, 1e-10), cmp.Or(o.MaxRounds, 1000)
	if !(o.Damping > 0 && o.Damping < 1) || !(o.Epsilon > 0) || o.MaxRounds < 0 {
		return o, fmt.Errorf("PageRank: damping %g, epsilon %g, %d rounds; want a damping between 0 and 1, and more than 0 for the others", o.Damping, o.Epsilon, o.MaxRounds)
	}
	return o, nil
}

// rankCoordinator decides what all parts do next. It is at part 0.
//
// If a step of the power iteration changes δ, its result is at most δ·d/(1−d) from PageRank. So
// the ranking ends when this bound is at most ε. With r the part that the equations miss and S
// the sum of y, the step changes at most 2|r|/S.
type rankCoordinator struct {
	parts int
	opt   RankOptions
	r     RankResult

	want      float64 // greatest residual of the result
	tolerance float64 // greatest missed part of the equations, as a share of the sum of y
	missed    float64 // in the round before; +Inf before the first
	most      float64 // greatest missed part with which blocks are still scaled
	scaling   bool
	last      bool   // this round is to be the last
	now       blocks // after this round
}

const (
	// startGoal is what parts may miss after the first round, of a sum between 1 and 1/(1−d).
	startGoal = 0.1
	// In a round a part sweeps until it misses roundGoal of its share of the total missed before.
	roundGoal = 0.1
)

func newRankCoordinator(parts int, opt RankOptions) *rankCoordinator {
	want := opt.Epsilon * min(1, (1-opt.Damping)/opt.Damping)
	return &rankCoordinator{parts: parts, opt: opt, want: want, tolerance: want / 2, missed: math.Inf(1), scaling: true}
}

// blocks is the state of all parts after a round.
type blocks struct {
	h, a          []float64   // by part: the sum of its core's y, and of its core's base
	f             [][]float64 // [i][j]: mass that links of part i bring to part j
	holds, leaves float64     // sums of y, of nodes with links and of leaves
	missed        float64
	products      [products]float64
}

// answer returns the order to all parts, given their reports, which are of one kind.
func (c *rankCoordinator) answer(reports []rankMessage) (order rankMessage, err error) {
	switch reports[0].kind {
	case rankHello:
		for _, m := range reports {
			c.r.Nodes, c.r.Edges = c.r.Nodes+int(m.numbers[0]), c.r.Edges+int64(m.numbers[1])
		}
		if c.r.Nodes == 0 {
			return c.done(), nil
		}
		return c.turn(startGoal/float64(c.parts), ones(c.parts), [depth]float64{})
	case rankReport:
		c.read(reports)
		if b := &c.now; c.last && b.missed <= c.tolerance*b.holds {
			return rankMessage{kind: rankFinish, floats: []float64{b.holds + b.leaves, b.leaves}}, nil
		}
		return c.next()
	default: // rankChange
		c.r.Residual, c.r.Bytes = 0, 0
		for _, m := range reports {
			c.r.Residual += m.floats[0]
			c.r.Bytes += m.numbers[0]
		}
		if c.r.Residual <= c.want {
			return c.done(), nil
		}
		c.tolerance /= 4
		return c.next()
	}
}

func (c *rankCoordinator) done() rankMessage {
	r := &c.r
	return rankMessage{kind: rankDone, floats: []float64{r.Residual},
		numbers: []uint64{uint64(r.Nodes), uint64(r.Edges), uint64(r.Rounds), uint64(r.Sweeps), r.Bytes}}
}

// turn orders another round.
func (c *rankCoordinator) turn(goal float64, factor []float64, gamma [depth]float64) (order rankMessage, err error) {
	if c.r.Rounds++; c.r.Rounds > c.opt.MaxRounds {
		return order, fmt.Errorf("PageRank: the error is still %.2g after %d rounds; give an epsilon larger than %g", c.missed, c.opt.MaxRounds, c.opt.Epsilon)
	}
	step := c.opt.Method == "power" || c.opt.Method == "blockrank-kamvar" && c.r.Rounds > 1
	return rankMessage{kind: rankTurn, numbers: []uint64{one(c.last), one(step), uint64(c.r.Nodes)}, floats: slices.Concat([]float64{goal}, factor, gamma[:])}, nil
}

// read adds up the reports of a round.
func (c *rankCoordinator) read(reports []rankMessage) {
	b, sweeps := blocks{}, 0
	for _, m := range reports {
		b.h, b.a, b.f = append(b.h, m.floats[0]), append(b.a, m.floats[2]), append(b.f, m.floats[4:4+c.parts])
		b.holds, b.leaves, b.missed = b.holds+m.floats[0], b.leaves+m.floats[1], b.missed+m.floats[3]
		for i, x := range m.floats[4+c.parts:] {
			b.products[i] += x
		}
		sweeps = max(sweeps, int(m.numbers[0]))
	}
	c.now, c.r.Sweeps = b, c.r.Sweeps+sweeps
}

// next plans the next round. It is the last if the error falls as fast as before.
func (c *rankCoordinator) next() (order rankMessage, err error) {
	b, want := &c.now, c.tolerance*c.now.holds
	rate := min(1, b.missed/c.missed) // 0 after the first
	c.last = c.r.Rounds > 1 && b.missed*rate <= want || b.missed <= want
	// As in graph/rank: scaling need not help, so it ends when sweeps alone would do better.
	if c.most *= math.Sqrt(c.opt.Damping); c.r.Rounds == 1 {
		c.most = 4 * b.missed
	}
	c.scaling = c.scaling && b.missed <= c.most
	c.missed = b.missed
	factor, gamma := ones(c.parts), [depth]float64{}
	if c.scaling && (c.opt.Method == "blockrank" || c.opt.Method == "blockrank-kamvar" && c.r.Rounds == 1) {
		factor = factors(b.h, b.a, b.f)
	}
	if c.scaling && c.opt.Method == "blockrank" {
		gamma = weights(b.products[:])
	}
	return c.turn(max(roundGoal*b.missed, want/4)/float64(c.parts), factor, gamma)
}

// factors returns the factor for each block's y that gives the block the rank that the graph of
// blocks implies (paper C4, Kamvar et al. 2003, with the present ranks within blocks):
//
//	z(J) = a(J) + Σ_I z(I) · f(I,J)/h(I),   factor z(J)/h(J)
//
// Links bring less than h, so the columns of the system are diagonally dominant, and elimination
// needs no pivots; O(k³) for k blocks. The factor is 1 for blocks with h = 0, and for all blocks
// when any factor is not finite or beyond 1e±99.
func factors(h, a []float64, f [][]float64) []float64 {
	k := len(h)
	m := make([][]float64, k)
	for j := range k {
		m[j] = make([]float64, k+1)
		m[j][j], m[j][k] = 1, a[j]
		for i := range k {
			if h[i] > 0 {
				m[j][i] -= f[i][j] / h[i]
			}
		}
	}
	z := solve(m, func(int) bool { return true })
	t := ones(k)
	for j := range k {
		if h[j] == 0 {
			continue
		}
		if t[j] = z[j] / h[j]; !(t[j] > 1e-99 && t[j] < 1e99) {
			return ones(k)
		}
	}
	return t
}

// solve solves linear equations by elimination without pivots; the last column is the right side.
// A column for which use is false when reached has the solution 0.
func solve(m [][]float64, use func(c int) bool) []float64 {
	k := len(m)
	used, x := make([]bool, k), make([]float64, k)
	for c := range k {
		if used[c] = use(c); !used[c] {
			continue
		}
		for r := c + 1; r < k; r++ {
			if by := m[r][c] / m[c][c]; by != 0 {
				for i := c; i <= k; i++ {
					m[r][i] -= by * m[c][i]
				}
			}
		}
	}
	for r := k - 1; r >= 0; r-- {
		if !used[r] {
			continue
		}
		x[r] = m[r][k]
		for i := r + 1; i < k; i++ {
			x[r] -= m[r][i] * x[i]
		}
		x[r] /= m[r][r]
	}
	return x
}

func ones(k int) []float64 { return slices.Repeat([]float64{1}, k) }

// depth is how many differences extrapolation keeps. It needs at least two, as masses that two
// agents pass to and fro change sign each time.
const depth = 4

// products counts scalar products: of f with each difference, then of all differences.
const products = depth + depth*(depth+1)/2

// weights solves for γ of extrapolation, given the sums of all products. A difference that later
// ones determine gets 0. All get 0 when any weight is not below 100.
func weights(sum []float64) (gamma [depth]float64) {
	m := make([][]float64, depth)
	for i := range m {
		m[i] = make([]float64, depth+1)
	}
	var own [depth]float64 // products of each difference with itself
	at := depth
	for i := range depth {
		m[i][depth], own[i] = sum[i], sum[at]
		for j := i; j < depth; j++ {
			m[i][j], m[j][i] = sum[at], sum[at]
			at++
		}
	}
	copy(gamma[:], solve(m, func(c int) bool { return m[c][c] > 1e-6*own[c] }))
	for _, g := range gamma {
		if !(math.Abs(g) < 100) {
			return [depth]float64{}
		}
	}
	return gamma
}

// extrapolation predicts masses from their changes (Anderson, Journal of the ACM 12, 1965; Walker
// and Ni, SIAM Journal on Numerical Analysis 49, 2011). Let x be the masses that a part used in a
// round, g those that then arrived, and f = g − x. For the next round it uses
//
//	g − Σ γ_i·(g_i − g_{i−1}),  γ minimizes |f − Σ γ_i·(f_i − f_{i−1})|
//
// with sums over the rounds before. The coordinator finds γ from all parts' scalar products, at
// the cost of a few bytes. Errors that two hosts of different agents pass to and fro vanish
// sooner.
type extrapolation struct {
	g, f   []float64
	dg, df [][]float64 // between rounds, the latest first
}

// see records the masses g that arrived and x that were used, and returns the products.
func (a *extrapolation) see(g, x []float64) []float64 {
	f := floats.SubTo(make([]float64, len(g)), g, x)
	if a.f != nil {
		a.dg = append([][]float64{floats.SubTo(make([]float64, len(g)), g, a.g)}, a.dg[:min(depth-1, len(a.dg))]...)
		a.df = append([][]float64{floats.SubTo(make([]float64, len(g)), f, a.f)}, a.df[:min(depth-1, len(a.df))]...)
	}
	a.g, a.f = g, f
	all := make([]float64, products)
	for i, d := range a.df {
		all[i] = floats.Dot(d, f)
		for j, e := range a.df[i:] {
			all[depth+i*depth-i*(i-1)/2+j] = floats.Dot(d, e)
		}
	}
	return all
}

func one(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}
