package rank

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/graph"
	"fossick/internal/fulltest"
)

// reach says by brute force which nodes reach which.
func reach(lists [][]uint32) [][]bool {
	n := len(lists)
	r := make([][]bool, n)
	for v := range r {
		r[v] = make([]bool, n)
		r[v][v] = true
		for todo := []uint32{uint32(v)}; len(todo) > 0; {
			w := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, x := range lists[w] {
				if !r[v][x] {
					r[v][x] = true
					todo = append(todo, x)
				}
			}
		}
	}
	return r
}

// TestStrongComponents compares with reachability on random graphs.
func TestStrongComponents(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range fulltest.Rounds(400, 2000) {
		n := 1 + rng.IntN(40)
		lists := sparse(rng, n, rng.Float64()*3)
		in, _, err := graph.Transposed(csrOf(lists))
		if err != nil {
			t.Fatal(err)
		}
		c := strongComponents(in)
		of, reaches := make([]int, n), reach(lists)
		for v := range of {
			of[v] = -1
		}
		for i := range c.len() {
			for k, v := range c.of(i) {
				if of[v] >= 0 || k > 0 && c.nodes[c.first[i]+uint32(k)-1] >= v {
					t.Fatalf("%v: component %d of %+v: node %d twice or out of order", lists, i, c, v)
				}
				of[v] = i
			}
		}
		for v := range n {
			for w := range n {
				if same := reaches[v][w] && reaches[w][v]; same != (of[v] == of[w]) || reaches[v][w] && of[v] > of[w] {
					t.Fatalf("%v: nodes %d and %d are of components %d and %d", lists, v, w, of[v], of[w])
				}
			}
		}
	}
}

// TestTrimmed checks the order on random graphs: nothing leads to an earlier part.
func TestTrimmed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for range fulltest.Rounds(400, 2000) {
		n := 1 + rng.IntN(40)
		lists := sparse(rng, n, rng.Float64()*2)
		in, degree, err := graph.Transposed(csrOf(lists))
		if err != nil {
			t.Fatal(err)
		}
		c := trimmed(in, degree)
		of := make([]int, n)
		for i := range c.len() {
			for _, v := range c.of(i) {
				of[v] = i + 1
			}
		}
		for v, l := range lists {
			for _, w := range l {
				if of[v] == 0 || of[w] == 0 || len(c.nodes) != n || of[v] > of[w] {
					t.Fatalf("%v: %d → %d are of parts %d and %d of %+v", lists, v, w, of[v], of[w], c)
				}
			}
		}
	}
}

// TestRankVectors refuses vectors that mean nothing.
func TestRankVectors(t *testing.T) {
	in, degree, err := graph.Transposed(csrOf([][]uint32{{1}, {0, 2}, {0}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range [][]float64{{1}, {0, 0, 0}, {-1, 1, 1}, {math.NaN(), 1, 1}, {math.Inf(1), 1, 1}} {
		for _, opt := range []Options{{Personal: x}, {start: x}} {
			if _, err := PowerIteration(t.Context(), in, degree, opt); err == nil {
				t.Errorf("power iteration, %+v: no error", opt)
			}
			if _, err := gaussSeidel(t.Context(), in, degree, opt); err == nil {
				t.Errorf("Gauss–Seidel, %+v: no error", opt)
			}
		}
	}
	empty := &graph.CSR{Start: []int64{0}}
	if r, err := gaussSeidel(t.Context(), empty, nil, Options{}); err != nil || len(r.Score) != 0 {
		t.Errorf("of nothing: %v, %v", r, err)
	}
}

// sparse is a random graph with mean links a node, loops among them.
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

// TestGaussSeidel compares with the power iteration, with and without a personal
// vector, at several dampings.
func TestGaussSeidel(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for range fulltest.Rounds(400, 2000) {
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
		if rng.IntN(2) == 0 {
			opt.start = make([]float64, n)
			opt.start[rng.IntN(n)] = 1
		}
		sameRank(t, in, degree, opt, 1e-11)
	}
}

// sameRank compares Gauss–Seidel with the power iteration.
func sameRank(t *testing.T, in *graph.CSR, degree []uint32, opt Options, tolerance float64) {
	t.Helper()
	want, err := PowerIteration(t.Context(), in, degree, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i, rank := range []func(context.Context, *graph.CSR, []uint32, Options) (*Result, error){gaussSeidel, byComponents} {
		got, err := rank(t.Context(), in, degree, opt)
		if err != nil {
			t.Fatal(err)
		}
		if got.Residual > opt.Epsilon {
			t.Errorf("%d: residual %g, want at most %g", i, got.Residual, opt.Epsilon)
		}
		for v := range want.Score {
			if !(math.Abs(got.Score[v]-want.Score[v]) <= tolerance) {
				t.Fatalf("%d: %+v: R(%d) = %g, by the power iteration %g", i, in, v, got.Score[v], want.Score[v])
			}
		}
	}
}

// TestGaussSeidelParts has a component that is cut into parts: workers must not
// matter, to the last bit.
func TestGaussSeidelParts(t *testing.T) {
	fulltest.Only(t, "seconds of processor time; the oracles have small graphs")
	in, degree, _ := hostCSR(t, 120_000)
	sameRank(t, in, degree, Options{Epsilon: 1e-11}, 1e-11)
	one, err1 := gaussSeidel(t.Context(), in, degree, Options{Workers: 1})
	three, err2 := gaussSeidel(t.Context(), in, degree, Options{Workers: 3})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for v := range one.Score {
		if one.Score[v] != three.Score[v] {
			t.Fatalf("R(%d) is %g by one worker, %g by three", v, one.Score[v], three.Score[v])
		}
	}
	if s := (&solver{in: in, degree: degree, opt: Options{Damping: .85}, y: one.Score, share: one.Score, place: make([]uint32, in.Nodes())}); len(s.component(largest(trimmed(in, degree))).parts) < 3 {
		t.Error("no component was cut into parts; the test tests nothing")
	}
}

// largest returns the largest component.
func largest(c *partition) []uint32 {
	var most []uint32
	for i := range c.len() {
		if nodes := c.of(i); len(nodes) > len(most) {
			most = nodes
		}
	}
	return most
}

// BenchmarkRank compares the ways to ranks, of a graph in memory, on a synthetic web and
// on the graph files that FOSSICK_SCALE names, with commas between.
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
