package rank

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/graph"
	"fossick/internal/testkit"
)

// denseBlocks is the short version of BlockRank by definition, with dense matrices.
func denseBlocks(lists [][]uint32, block []uint32, personal []float64) []float64 {
	n, k := len(lists), 0
	for _, b := range block {
		k = max(k, int(b)+1)
	}
	l := make([]float64, n)
	anew := make([]float64, k)
	for j := range k {
		var nodes []int
		at := map[uint32]int{}
		for v, b := range block {
			if int(b) == j {
				at[uint32(v)] = len(nodes)
				nodes = append(nodes, v)
				anew[j] += personal[v]
			}
		}
		m := make([][]float64, len(nodes)) // m[i][j]: from i to j
		v := make([]float64, len(nodes))
		for i, node := range nodes {
			m[i] = make([]float64, len(nodes))
			inner := 0.0
			for _, w := range lists[node] {
				if _, ok := at[w]; ok {
					inner++
				}
			}
			for _, w := range lists[node] {
				if x, ok := at[w]; ok {
					m[i][x] = 1 / inner
				}
			}
			if v[i] = 1 / float64(len(nodes)); anew[j] > 0 {
				v[i] = personal[node] / anew[j]
			}
		}
		for i, x := range denseChain(m, v) {
			l[nodes[i]] = x
		}
	}
	m := make([][]float64, k)
	for i := range m {
		m[i] = make([]float64, k)
	}
	for v, list := range lists {
		for _, w := range list {
			m[block[v]][block[w]] += l[v] / float64(len(list))
		}
	}
	b := denseChain(m, anew)
	for v := range l {
		l[v] *= b[block[v]]
	}
	return l
}

// denseChain is the PageRank of a matrix; rows that sum to less than 1 teleport the rest.
func denseChain(m [][]float64, v []float64) []float64 {
	x := append([]float64(nil), v...)
	for range 400 {
		y := make([]float64, len(v))
		for i, row := range m {
			rest := 1.0
			for j, share := range row {
				y[j] += .85 * share * x[i]
				rest -= .85 * share
			}
			for j := range y {
				y[j] += rest * x[i] * v[j]
			}
		}
		x = y
	}
	return x
}

// TestBlockRankOracle compares the short version with its definition, and the others with PageRank.
func TestBlockRankOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range testkit.Rounds(100, 500) {
		n := 1 + rng.IntN(40)
		lists := sparse(rng, n, rng.Float64()*4)
		block, personal := make([]uint32, n), make([]float64, n)
		k := 1 + rng.IntN(n)
		for v := range block {
			if block[v] = uint32(rng.IntN(k)); v == 0 {
				block[v] = uint32(k - 1)
			}
			personal[v] = 1 / float64(n)
		}
		if rng.IntN(2) == 0 {
			clear(personal)
			personal[rng.IntN(n)] = 1
		}
		in, degree, err := graph.Transposed(csrOf(lists))
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Method: "blockrank-short", Epsilon: 1e-13, Personal: personal, Blocks: block}
		short, err := byBlocks(t.Context(), in, degree, opt)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "short", short.Score, denseBlocks(lists, block, personal))
		want, err := PowerIteration(t.Context(), in, degree, opt)
		if err != nil {
			t.Fatal(err)
		}
		for _, opt.Method = range []string{"blockrank", "blockrank-kamvar"} {
			whole := testkit.Call(byBlocks(t.Context(), in, degree, opt)).Must(t)
			near(t, "whole", whole.Score, want.Score)
		}
	}
}

func near(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for v := range want {
		if !(math.Abs(got[v]-want[v]) <= 1e-10) {
			t.Fatalf("%s: R(%d) = %g, want %g", what, v, got[v], want[v])
		}
	}
}

// TestBlockRankByHand has two sites, one of which links to the other.
func TestBlockRankByHand(t *testing.T) {
	// Site 0: 0 ⇄ 1, and 1 → 2; site 1: 2 ⇄ 3. Within each site both pages are equal.
	in, degree, err := graph.Transposed(csrOf([][]uint32{{1}, {0, 2}, {3}, {2}}))
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Method: "blockrank-short", Epsilon: 1e-13, Blocks: []uint32{0, 0, 1, 1}}
	r, err := byBlocks(t.Context(), in, degree, opt)
	if err != nil {
		t.Fatal(err)
	}
	// A quarter of site 0's rank goes to site 1: b0 = .075 + .85·¾·b0.
	b0 := .075 / (1 - .85*.75)
	near(t, "by hand", r.Score, []float64{b0 / 2, b0 / 2, (1 - b0) / 2, (1 - b0) / 2})
	if r.Blocks != 2 || r.StartResidual != r.Residual {
		t.Errorf("got %+v", r)
	}
}

// TestBlockRankAlone has one block per page and one block for all, which both give PageRank, and invalid
// blocks.
func TestBlockRankAlone(t *testing.T) {
	in, degree, err := graph.Transposed(csrOf([][]uint32{{1, 2}, {2}, {0}, {}}))
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Method: "blockrank-short", Epsilon: 1e-13}
	want, err := PowerIteration(t.Context(), in, degree, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, opt.Blocks = range [][]uint32{{graph.None, graph.None, graph.None, graph.None}, {3, 3, 3, 3}} {
		r := testkit.Call(byBlocks(t.Context(), in, degree, opt)).Must(t)
		near(t, "alone", r.Score, want.Score)
	}
	for _, opt.Blocks = range [][]uint32{{0}, {0, 1, 2, 4}} {
		if _, err := byBlocks(t.Context(), in, degree, opt); err == nil {
			t.Errorf("blocks %v: no error", opt.Blocks)
		}
	}
	opt.Blocks = nil
	if r, err := byBlocks(t.Context(), &graph.CSR{Start: []int64{0}}, nil, opt); err != nil || len(r.Score) != 0 {
		t.Errorf("of nothing: %v, %v", r, err)
	}
}

// randomCore is the core of a random graph with random blocks; nil if it is empty.
func randomCore(t *testing.T, rng *rand.Rand, workers int) *blockCore {
	t.Helper()
	n := 2 + rng.IntN(60)
	in, degree, err := graph.Transposed(csrOf(sparse(rng, n, 1+rng.Float64()*4)))
	if err != nil {
		t.Fatal(err)
	}
	block := make([]uint32, n)
	for v := range block {
		if block[v] = uint32(rng.IntN(1 + rng.IntN(n))); rng.IntN(10) == 0 {
			block[v] = graph.None
		}
	}
	nodes := largest(trimmed(in, degree))
	if len(nodes) < 2 {
		return nil
	}
	opt, err := Options{Workers: workers}.filled(n)
	if err != nil {
		t.Fatal(err)
	}
	if rng.IntN(2) == 0 {
		opt.Personal = make([]float64, n)
		opt.Personal[rng.IntN(n)] = 1
	}
	groups, err := groupsOf(block)
	if err != nil {
		t.Fatal(err)
	}
	c, _ := newSolver(in, degree, groups, opt).blockCore(nodes)
	return c
}

// misses computes the L1 residual of a core's equations, and its sum, by definition.
func (c *blockCore) misses() (left, held float64) {
	for b := range c.block {
		at, end := c.start[b].inner, c.start[b].outer
		outer := map[uint32][]uint32{}
		for _, row := range c.rows[c.start[b].row:c.start[b+1].row] {
			outer[row.node] = c.to[end-int64(row.links) : end]
			end -= int64(row.links)
		}
		for i := c.first[b]; i < c.first[b+1]; i++ {
			sum := c.base[i]
			for _, j := range append(slices.Clone(outer[i]), c.to[at:at+int64(c.node[i].inner)]...) {
				sum += c.share[j%uint32(c.n)]
			}
			at += int64(c.node[i].inner)
			y := c.share[i] / c.node[i].give
			left, held = left+math.Abs(sum-y), held+y
		}
	}
	return left, held
}

// promises checks a sweep: left bounds the residual, held is exact, and without scaling left falls at least by
// the damping.
func (c *blockCore) promises(t *testing.T, before float64) (left float64) {
	t.Helper()
	scaled := c.scaling
	got := c.sweep(.85)
	left, held := c.misses()
	if left > got.left+1e-12*held || !(math.Abs(held-got.held) <= 1e-12*held) {
		t.Fatalf("%+v, but %g is left and %g held", got, left, held)
	}
	if !scaled && got.left > .85*before+1e-14*held {
		t.Fatalf("%g is left, %g before", got.left, before)
	}
	return got.left
}

func TestBlockSweep(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	cores, graphs := 0, testkit.Rounds(300, 1000)
	for range graphs {
		c := randomCore(t, rng, 1)
		if c == nil {
			continue
		}
		cores++
		c.scaling = rng.IntN(2) == 0
		left := math.Inf(1)
		for range 30 {
			left = c.promises(t, left)
		}
	}
	if 10*cores < 3*graphs {
		t.Errorf("%d of %d graphs have a core; the test tests little", cores, graphs)
	}
}

// TestBlockScaling corrupts a core's block sums: it must notice, stop scaling, and still converge.
func TestBlockScaling(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	noticed := 0
	for range 300 {
		c := randomCore(t, rng, 1)
		if c == nil {
			continue
		}
		for k := range 400 {
			if c.sweep(.85); c.scaling {
				for b := range c.block {
					c.block[b].holds *= 1 + float64((k+b)%2)
				}
			}
		}
		if !c.scaling {
			noticed++
		}
		if left, held := c.misses(); !(left <= 1e-12*held) {
			t.Fatalf("%g of %g is left", left, held)
		}
	}
	if noticed < 100 {
		t.Errorf("%d cores noticed", noticed)
	}
}

// hostCSR is a transposed synthetic web, with its hosts.
func hostCSR(t testing.TB, pages int) (in *graph.CSR, degree, host []uint32) {
	t.Helper()
	g := synthetic(t, pages)
	in, degree, err := graph.Transposed(g)
	if err != nil {
		t.Fatal(err)
	}
	return in, degree, g.Hosts().Array(pages)
}

// TestBlockRankParts sweeps a core in several parts, with hosts, scattered hosts and one oversized block.
// Ranks must equal the power iteration's and not depend on the workers, to the last bit.
func TestBlockRankParts(t *testing.T) {
	testkit.Only(t, "seconds of processor time; the oracles have small graphs")
	in, degree, host := hostCSR(t, 180_000)
	want := testkit.Call(PowerIteration(t.Context(), in, degree, Options{Epsilon: 1e-12})).Must(t)
	strewn, one := make([]uint32, len(host)), make([]uint32, len(host))
	for v := range strewn {
		strewn[v] = uint32(v*7919) % 5000
	}
	for _, tc := range []struct {
		name  string
		block []uint32
		parts int // at least
	}{{"hosts", host, 2*atOnce + 1}, {"strewn", strewn, 2*atOnce + 1}, {"one", one, 2}} {
		all := []int{1, 3}
		if tc.name != "hosts" && !testkit.Asked() {
			all = nil // test only the sweeps below
		}
		var first *Result
		for _, workers := range all {
			r := testkit.Call(byBlocks(t.Context(), in, degree, Options{Epsilon: 1e-12, Workers: workers, Blocks: tc.block})).Must(t)
			if first == nil {
				first = r
				near(t, tc.name, r.Score, want.Score)
			}
			for v := range r.Score {
				if r.Score[v] != first.Score[v] {
					t.Fatalf("%s: R(%d) is %g by one worker, %g by %d", tc.name, v, first.Score[v], r.Score[v], workers)
				}
			}
		}
		groups := testkit.Call(groupsOf(tc.block)).Must(t)
		c, _ := newSolver(in, degree, groups, Options{Damping: .85}).blockCore(largest(trimmed(in, degree)))
		if len(c.parts)-1 < tc.parts {
			t.Errorf("%s: %d parts, want %d at least; the test tests nothing", tc.name, len(c.parts)-1, tc.parts)
		}
		c.work = 1
		for left := math.Inf(1); left > 1e-4; {
			left = c.promises(t, left)
		}
	}
}
