package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"fossick/graph"
)

// BlockRank over several agents (paper C4; docs/graph.md): agents compute local ranks, a
// coordinator ranks the blocks, and both repeat until the residual is below ε.

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
	Meeting  uint64  // of these, before the first round
}

// rankPeers carries messages between numbered peers, the coordinator last, with the guarantees of
// peer.
type rankPeers interface {
	Send(ctx context.Context, to int, message []byte) error
	Receive(ctx context.Context) (from int, message []byte, err error)
}

// inProcess is rankPeers in one process. Peers stay within a few messages, so no box stays full.
type inProcess struct {
	me    int
	boxes []chan peerMessage
}

const boxMessages = 64 // capacity for each peer

func newInProcess(count int) []rankPeers {
	boxes, peers := make([]chan peerMessage, count), make([]rankPeers, count)
	for i := range peers {
		boxes[i] = make(chan peerMessage, boxMessages*count)
		peers[i] = inProcess{i, boxes}
	}
	return peers
}

func (p inProcess) Send(ctx context.Context, to int, message []byte) error {
	select {
	case p.boxes[to] <- peerMessage{from: p.me, bytes: message}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p inProcess) Receive(ctx context.Context) (from int, message []byte, err error) {
	select {
	case m := <-p.boxes[p.me]:
		return m.from, m.bytes, nil
	case <-ctx.Done():
		return 0, nil, ctx.Err()
	}
}

// Rank ranks the links of several agents in one process, a goroutine each; deterministic to the
// bit.
func Rank(ctx context.Context, links []RankLinks, opt RankOptions) ([]*RankPart, *RankResult, error) {
	peers := newInProcess(len(links) + 1)
	parts := make([]*RankPart, len(links))
	for i, l := range links {
		var err error
		if parts[i], err = newRankPart(l, i, len(links), peers[i], false); err != nil {
			return nil, nil, err
		}
	}
	var r *RankResult
	g, ctx := errgroup.WithContext(ctx)
	for _, p := range parts {
		g.Go(func() error { return p.run(ctx) })
	}
	g.Go(func() (err error) {
		r, err = coordinateRank(ctx, peers[len(links)], len(links), opt)
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, r, err
	}
	return parts, r, nil
}

// errLate reports that this part returned after the others had ended the ranking.
var errLate = errors.New("the ranks were complete, and the other agents have dropped their messages")

// Rank ranks an agent's links together with the task's other agents, and coordinates if it leads.
func (s TaskSession) Rank(ctx context.Context, links RankLinks, opt RankOptions) (*RankPart, error) {
	part, err := newRankPart(links, s.Me, s.Agents, s.Peer, s.Again)
	if err != nil {
		return nil, err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return part.run(ctx) })
	if s.Leader != nil {
		g.Go(func() error {
			_, err := coordinateRank(ctx, s.Leader, s.Agents, opt)
			return err
		})
	}
	if err = g.Wait(); errors.Is(err, errLate) {
		err = errors.Join(ErrAnew, err)
	}
	return part, err
}

func (o RankOptions) filled() (RankOptions, error) {
	if o.Method == "" {
		o.Method = RankMethods[0]
	}
	if o.Damping == 0 {
		o.Damping = 0.85
	}
	if o.Epsilon == 0 {
		o.Epsilon = 1e-10
	}
	if o.MaxRounds == 0 {
		o.MaxRounds = 1000
	}
	if !(o.Damping > 0 && o.Damping < 1) || !(o.Epsilon > 0) || o.MaxRounds < 0 {
		return o, fmt.Errorf("PageRank: damping %g, epsilon %g, %d rounds; want a damping between 0 and 1, and more than 0 for the others", o.Damping, o.Epsilon, o.MaxRounds)
	}
	return o, nil
}

type rankCoordinator struct {
	line  *rankLine
	parts int
	opt   RankOptions
	r     RankResult

	tolerance float64 // greatest missed part of the equations, as a share of the sum of y
	missed    float64 // in the round before; +Inf before the first
	most      float64 // greatest missed part with which blocks are still scaled
	scaling   bool
}

const (
	// startGoal is what parts may miss after the first round, of a sum between 1 and 1/(1−d).
	startGoal = 0.1
	// In a round a part sweeps until it misses roundGoal of its share of the total missed before.
	roundGoal = 0.1
)

// coordinateRank leads the ranking of so many parts. It is peer number parts.
//
// If a step of the power iteration changes δ, its result is at most δ·d/(1−d) from PageRank. So
// the ranking ends when this bound is at most ε. With r the part that the equations miss and S
// the sum of y, the step changes at most 2|r|/S.
func coordinateRank(ctx context.Context, peers rankPeers, parts int, opt RankOptions) (*RankResult, error) {
	opt, err := opt.filled()
	if err != nil {
		return nil, err
	}
	want := opt.Epsilon * min(1, (1-opt.Damping)/opt.Damping)
	c := &rankCoordinator{line: newRankLine(peers, parts+1), parts: parts, opt: opt, tolerance: want / 2, missed: math.Inf(1), scaling: true}
	if err := c.greet(ctx); err != nil {
		return nil, err
	}
	factor, goal, last := ones(parts), startGoal/float64(parts), false
	var gamma [depth]float64
	for c.r.Nodes > 0 {
		if c.r.Rounds++; c.r.Rounds > opt.MaxRounds {
			return &c.r, fmt.Errorf("PageRank: the error is still %.2g after %d rounds; give an epsilon larger than %g", c.missed, opt.MaxRounds, opt.Epsilon)
		}
		b, lost, err := c.turn(ctx, goal, factor, gamma, last)
		if err != nil {
			return &c.r, err
		}
		if last && !lost && b.missed <= c.tolerance*b.holds {
			if lost, err = c.finish(ctx, b); err != nil {
				return &c.r, err
			}
			if !lost && c.r.Residual <= want {
				break
			}
			if !lost {
				c.tolerance /= 4
			}
		}
		factor, goal, last = c.next(b)
		gamma = [depth]float64{}
		if c.scaling && c.opt.Method == "blockrank" {
			gamma = weights(b.products[:])
		}
	}
	r := &c.r
	return r, c.all(ctx, rankMessage{kind: rankDone, floats: []float64{r.Residual},
		numbers: []uint64{uint64(r.Nodes), uint64(r.Edges), uint64(r.Rounds), uint64(r.Sweeps), r.Bytes, r.Meeting}})
}

type blocks struct {
	h, a          []float64   // by part: the sum of its core's y, and of its core's base
	f             [][]float64 // [i][j]: mass that links of part i bring to part j
	holds, leaves float64     // sums of y, of nodes with links and of leaves
	missed        float64
	products      [products]float64
}

func (c *rankCoordinator) greet(ctx context.Context) error {
	said, _, err := c.gather(ctx, rankHello, 0, 3, 0)
	if err != nil {
		return err
	}
	for _, m := range said {
		c.r.Nodes += int(m.numbers[0])
		c.r.Edges += int64(m.numbers[1])
		c.r.Meeting += m.numbers[2]
	}
	return c.all(ctx, rankMessage{kind: rankBegin, numbers: []uint64{uint64(c.r.Nodes)}, floats: []float64{c.opt.Damping}})
}

// turn runs a round. lost says that a part died in it: some parts may have received its masses
// and others not, so the round cannot be the last.
func (c *rankCoordinator) turn(ctx context.Context, goal float64, factor []float64, gamma [depth]float64, last bool) (b blocks, lost bool, err error) {
	step := c.opt.Method == "power" || c.opt.Method == "blockrank-kamvar" && c.r.Rounds > 1
	m := rankMessage{kind: rankTurn, round: c.r.Rounds, numbers: []uint64{one(last), one(step)}, floats: slices.Concat([]float64{goal}, factor, gamma[:])}
	if err := c.all(ctx, m); err != nil {
		return b, false, err
	}
	said, lost, err := c.gather(ctx, rankReport, c.r.Rounds, 1, 4+c.parts+products)
	if err != nil {
		return b, false, err
	}
	sweeps := 0
	for _, m := range said {
		b.h, b.a, b.f = append(b.h, m.floats[0]), append(b.a, m.floats[2]), append(b.f, m.floats[4:4+c.parts])
		b.holds, b.leaves, b.missed = b.holds+m.floats[0], b.leaves+m.floats[1], b.missed+m.floats[3]
		for i, x := range m.floats[4+c.parts:] {
			b.products[i] += x
		}
		sweeps = max(sweeps, int(m.numbers[0]))
	}
	c.r.Sweeps += sweeps
	return b, lost, nil
}

// next plans the next round. It is the last if the error falls as fast as before.
func (c *rankCoordinator) next(b blocks) (factor []float64, goal float64, last bool) {
	want := c.tolerance * b.holds
	rate := min(1, b.missed/c.missed) // 0 after the first
	last = c.r.Rounds > 1 && b.missed*rate <= want || b.missed <= want
	// As in graph/rank: scaling need not help, so it ends when sweeps alone would do better.
	if c.most *= math.Sqrt(c.opt.Damping); c.r.Rounds == 1 {
		c.most = 4 * b.missed
	}
	c.scaling = c.scaling && b.missed <= c.most
	c.missed = b.missed
	factor = ones(c.parts)
	if c.scaling && (c.opt.Method == "blockrank" || c.opt.Method == "blockrank-kamvar" && c.r.Rounds == 1) {
		factor = factors(b.h, b.a, b.f)
	}
	return factor, max(roundGoal*b.missed, want/4) / float64(c.parts), last
}

func (c *rankCoordinator) finish(ctx context.Context, b blocks) (lost bool, err error) {
	if err := c.all(ctx, rankMessage{kind: rankFinish, round: c.r.Rounds, floats: []float64{b.holds + b.leaves, b.leaves}}); err != nil {
		return false, err
	}
	said, lost, err := c.gather(ctx, rankChange, c.r.Rounds, 1, 1)
	if err != nil || lost {
		return lost, err
	}
	c.r.Residual, c.r.Bytes = 0, c.line.bytes
	for _, m := range said {
		c.r.Residual += m.floats[0]
		c.r.Bytes += m.numbers[0]
	}
	return false, nil
}

func (c *rankCoordinator) all(ctx context.Context, m rankMessage) error {
	for to := range c.parts {
		if err := c.line.send(ctx, to, m); err != nil {
			return err
		}
	}
	return nil
}

// gather waits for a message of each part. lost says that a part died and came back meanwhile;
// gather then does not wait for rankChange.
func (c *rankCoordinator) gather(ctx context.Context, k rankKind, round, numbers, floats int) (said []*rankMessage, lost bool, err error) {
	said = make([]*rankMessage, c.parts)
	for slices.Contains(said, nil) {
		from, m, err := c.line.receive(ctx)
		if err == nil && from == c.parts {
			err = fmt.Errorf("%w: the coordinator cannot send to itself", errRank)
		}
		if err != nil {
			return nil, lost, err
		}
		switch {
		case m.kind == rankAgain:
			if lost = true; k == rankChange {
				return nil, true, nil
			}
			said[from] = nil
		case m.kind == k && m.round == round:
			if err := m.has(numbers, floats); err != nil {
				return nil, lost, fmt.Errorf("part %d: %w", from, err)
			}
			said[from] = &m
		}
	}
	return said, lost, nil
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
	f := minus(g, x)
	if a.f != nil {
		a.dg = append([][]float64{minus(g, a.g)}, a.dg[:min(depth-1, len(a.dg))]...)
		a.df = append([][]float64{minus(f, a.f)}, a.df[:min(depth-1, len(a.df))]...)
	}
	a.g, a.f = g, f
	all := make([]float64, products)
	for i, d := range a.df {
		all[i] = dot(d, f)
		for j, e := range a.df[i:] {
			all[depth+i*depth-i*(i-1)/2+j] = dot(d, e)
		}
	}
	return all
}

func minus(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func one(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}
