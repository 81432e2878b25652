package rank

import (
	"math"
	"math/rand/v2"
	"testing"

	"fossick/graph"
	"fossick/internal/fulltest"
)

// denseBlocks is BlockRank's short version by its definition, with whole matrices.
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

// denseChain is the PageRank of a matrix; what a row lacks to 1 starts anew.
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

// TestBlockRankOracle compares the short version with its definition, and the whole
// with PageRank.
func TestBlockRankOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range fulltest.Rounds(100, 500) {
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
			whole, err := byBlocks(t.Context(), in, degree, opt)
			if err != nil {
				t.Fatal(err)
			}
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

// TestBlockRankByHand has two sites of which only the one links to the other.
func TestBlockRankByHand(t *testing.T) {
	// Site 0: 0 ⇄ 1, and 1 → 2; site 1: 2 ⇄ 3. Within each both pages are alike.
	in, degree, err := graph.Transposed(csrOf([][]uint32{{1}, {0, 2}, {3}, {2}}))
	if err != nil {
		t.Fatal(err)
	}
	opt := Options{Method: "blockrank-short", Epsilon: 1e-13, Blocks: []uint32{0, 0, 1, 1}}
	r, err := byBlocks(t.Context(), in, degree, opt)
	if err != nil {
		t.Fatal(err)
	}
	// Of site 0's rank a quarter leads to site 1: b0 = .075 + .85·¾·b0.
	b0 := .075 / (1 - .85*.75)
	near(t, "by hand", r.Score, []float64{b0 / 2, b0 / 2, (1 - b0) / 2, (1 - b0) / 2})
	if r.Blocks != 2 || r.StartResidual != r.Residual {
		t.Errorf("got %+v", r)
	}
}

// TestBlockRankAlone has a block a page, where the short version is PageRank itself,
// one block for all, where local rank is, and blocks that cannot be.
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
		r, err := byBlocks(t.Context(), in, degree, opt)
		if err != nil {
			t.Fatal(err)
		}
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
