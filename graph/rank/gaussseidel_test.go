package rank

import (
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/graph"
	"fossick/internal/testkit"
)

// sparse is a random graph with mean links per node, including loops.
func sparse(rng *rand.Rand, n int, mean float64) [][]uint32 {
	lists := make([][]uint32, n)
	for v := range lists {
		for w := range n {
			if rng.Float64() < mean/float64(n) {
				lists[v] = append(lists[v], uint32(w))
			}
		}
	}
	return lists
}

// TestGaussSeidel compares with the power iteration.
func TestGaussSeidel(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for range testkit.Rounds(400, 2000) {
		n := 1 + rng.IntN(60)
		in, degree, err := graph.Transposed(csrOf(sparse(rng, n, rng.Float64()*4)))
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Epsilon: 1e-13, Damping: 0.5 + 0.45*rng.Float64()}
		if rng.IntN(2) == 0 {
			opt.Personal = make([]float64, n)
			opt.Personal[rng.IntN(n)] = 3
			opt.Personal[rng.IntN(n)] = 1
		}
		sameRank(t, in, degree, opt, 1e-11)
	}
}

func sameRank(t *testing.T, in *graph.CSR, degree []uint32, opt Options, tolerance float64) {
	t.Helper()
	want, err := PowerIteration(t.Context(), in, degree, opt)
	if err != nil {
		t.Fatal(err)
	}
	got, err := gaussSeidel(t.Context(), in, degree, oneBlock(in.Nodes()), opt)
	if err != nil {
		t.Fatal(err)
	}
	if got.Residual > opt.Epsilon {
		t.Errorf("residual %g, want at most %g", got.Residual, opt.Epsilon)
	}
	for v := range want.Score {
		if !(math.Abs(got.Score[v]-want.Score[v]) <= tolerance) {
			t.Fatalf("%+v: R(%d) = %g, by the power iteration %g", in, v, got.Score[v], want.Score[v])
		}
	}
}

func largest(c *partition) []uint32 {
	var most []uint32
	for i := range c.len() {
		if nodes := c.of(i); len(nodes) > len(most) {
			most = nodes
		}
	}
	return most
}

// BenchmarkRank compares the methods on a synthetic web, or on the comma-separated graph files in
// FOSSICK_SCALE.
func BenchmarkRank(b *testing.B) {
	graphs := map[string]*graph.Graph{"synthetic": synthetic(b, 325_557)}
	if named := os.Getenv("FOSSICK_SCALE"); named != "" {
		clear(graphs)
		for path := range strings.SplitSeq(named, ",") {
			graphs[filepath.Base(path)] = opened(b, path)
		}
	}
	for name, g := range graphs {
		in, degree, err := graph.Transposed(g)
		if err != nil {
			b.Fatal(err)
		}
		for _, method := range Methods()[1:] {
			b.Run(name+"/"+method, func(b *testing.B) {
				for b.Loop() {
					r, err := arrays(b.Context(), g, in, degree, Options{Method: method, Blocks: g.Hosts().Array(g.Nodes())})
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(r.Iterations), "iterations")
					b.ReportMetric(r.Residual*1e10, "residual/1e-10")
				}
			})
		}
	}
}

func csrOf(lists [][]uint32) *graph.CSR {
	c := &graph.CSR{Start: make([]int64, 1, len(lists)+1)}
	for _, l := range lists {
		c.To = append(c.To, l...)
		c.Start = append(c.Start, int64(len(c.To)))
	}
	return c
}

// TestPageRankByHand has the ranks of a small graph, from its linear equations.
func TestPageRankByHand(t *testing.T) {
	// 0 → 1, 2; 1 → 2; 2 → 0; 3 has no links in or out.
	in, degree, err := graph.Transposed(csrOf([][]uint32{{1, 2}, {2}, {0}, {}}))
	if err != nil {
		t.Fatal(err)
	}
	const d = 0.85
	r, err := PowerIteration(t.Context(), in, degree, Options{Epsilon: 1e-14})
	if err != nil {
		t.Fatal(err)
	}
	x := r.Score
	base := (1-d)/4 + d*x[3]/4
	want := []float64{base + d*x[2], base + d*x[0]/2, base + d*(x[0]/2+x[1]), base}
	sum := 0.0
	for v := range x {
		sum += x[v]
		if !(math.Abs(x[v]-want[v]) <= 1e-13) {
			t.Errorf("R(%d) = %g, its equation says %g", v, x[v], want[v])
		}
	}
	if !(math.Abs(sum-1) <= 1e-13) || !(math.Abs(x[3]-0.15/(4-d)) <= 1e-13) {
		t.Errorf("the sum is %g, R(3) %g, want 1 and %g", sum, x[3], 0.15/(4-d))
	}
}

// TestPageRankOracle compares with a dense matrix, disk with memory, and one worker with several, to the last
// bit.
func TestPageRankOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		n := 1 + rng.IntN(80)
		lists := sparse(rng, n, rng.Float64()*6)
		in, degree, err := graph.Transposed(csrOf(lists))
		if err != nil {
			t.Fatal(err)
		}
		r, err := PowerIteration(t.Context(), in, degree, Options{Epsilon: 1e-13})
		if err != nil {
			t.Fatal(err)
		}
		want := denseRank(lists)
		for v := range want {
			if !(math.Abs(r.Score[v]-want[v]) <= 1e-11) {
				t.Fatalf("%v: R(%d) = %g, want %g", lists, v, r.Score[v], want[v])
			}
		}
	}
	g := synthetic(t, 3*rankBlock+5)
	in, degree, err := graph.Transposed(g)
	if err != nil {
		t.Fatal(err)
	}
	one, err1 := PowerIteration(t.Context(), in, degree, Options{Workers: 1, Epsilon: 1e-6})
	three, err2 := PowerIteration(t.Context(), in, degree, Options{Workers: 3, Epsilon: 1e-6})
	out := filepath.Join(t.TempDir(), "t")
	if err := g.Transpose(t.Context(), out, 0); err != nil {
		t.Fatal(err)
	}
	disk, err3 := PowerIteration(t.Context(), opened(t, out), degree, Options{Epsilon: 1e-6})
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	if !slices.Equal(one.Score, three.Score) || !slices.Equal(one.Score, disk.Score) {
		t.Error("the ranks depend on the workers or on where the graph lies")
	}
}

// denseRank is power iteration with a dense matrix.
func denseRank(lists [][]uint32) []float64 {
	n := len(lists)
	x := make([]float64, n)
	for v := range x {
		x[v] = 1 / float64(n)
	}
	for range 400 {
		y := make([]float64, n)
		for v := range y {
			y[v] = 0.15 / float64(n)
		}
		for v, l := range lists {
			for w := range n {
				switch {
				case len(l) == 0:
					y[w] += 0.85 * x[v] / float64(n)
				case slices.Contains(l, uint32(w)):
					y[w] += 0.85 * x[v] / float64(len(l))
				}
			}
		}
		x = y
	}
	return x
}

func TestPageRankRefuses(t *testing.T) {
	in, degree, err := graph.Transposed(csrOf([][]uint32{{1}, {0, 2}, {0}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, opt := range []Options{{Damping: 1}, {Damping: -1}, {Epsilon: -1}, {Damping: math.NaN()}, {MaxIterations: 1}} {
		if _, err := PowerIteration(t.Context(), in, degree, opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
	if r, err := PowerIteration(t.Context(), &graph.CSR{Start: []int64{0}}, nil, Options{}); err != nil || len(r.Score) != 0 {
		t.Errorf("of nothing: %v, %v", r, err)
	}
}

// TestKendall compares with the definition, pair by pair.
func TestKendall(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		n := 2 + rng.IntN(40)
		levels := 1 + rng.IntN(30)
		a, b := make([]float64, n), make([]float64, n)
		for i := range a {
			a[i], b[i] = float64(rng.IntN(levels)), float64(rng.IntN(levels))
		}
		var score, untiedA, untiedB float64
		for i := range a {
			for j := range i {
				x, y := float64(cmp.Compare(a[i], a[j])), float64(cmp.Compare(b[i], b[j]))
				score += x * y
				untiedA += x * x
				untiedB += y * y
			}
		}
		want := score / math.Sqrt(untiedA*untiedB)
		if got := Kendall(a, b); !(math.Abs(got-want) <= 1e-12) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%v, %v: got %g, want %g", a, b, got, want)
		}
	}
	if got := Kendall([]float64{1, 2, 3}, []float64{3, 2, 1}); got != -1 {
		t.Errorf("turned round: %g", got)
	}
}

func synthetic(t testing.TB, pages int) *graph.Graph {
	t.Helper()
	web, err := graph.NewWeb(pages, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "web.graph")
	if err := web.Write(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	g, err := graph.Open(path)
	return closing(t, g, err)
}

func opened(t testing.TB, path string) *graph.Graph {
	t.Helper()
	g, err := graph.Open(path)
	return closing(t, g, err)
}

func closing(t testing.TB, g *graph.Graph, err error) *graph.Graph {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}
