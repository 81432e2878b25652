package webgraph

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

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
		in, _, err := Transposed(csrOf(lists))
		if err != nil {
			t.Fatal(err)
		}
		c := StrongComponents(in)
		of, reaches := make([]int, n), reach(lists)
		for v := range of {
			of[v] = -1
		}
		for i := range c.Len() {
			for k, v := range c.Node[c.First[i]:c.First[i+1]] {
				if of[v] >= 0 || k > 0 && c.Node[c.First[i]+uint32(k)-1] >= v {
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
		in, degree, err := Transposed(csrOf(lists))
		if err != nil {
			t.Fatal(err)
		}
		c := trimmed(in, degree)
		of := make([]int, n)
		for i := range c.Len() {
			for _, v := range c.Node[c.First[i]:c.First[i+1]] {
				of[v] = i + 1
			}
		}
		for v, l := range lists {
			for _, w := range l {
				if of[v] == 0 || of[w] == 0 || len(c.Node) != n || of[v] > of[w] {
					t.Fatalf("%v: %d → %d are of parts %d and %d of %+v", lists, v, w, of[v], of[w], c)
				}
			}
		}
	}
}

// TestRankVectors refuses vectors that mean nothing.
func TestRankVectors(t *testing.T) {
	in, degree, err := Transposed(csrOf([][]uint32{{1}, {0, 2}, {0}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range [][]float64{{1}, {0, 0, 0}, {-1, 1, 1}, {math.NaN(), 1, 1}, {math.Inf(1), 1, 1}} {
		for _, opt := range []RankOptions{{Personal: x}, {Start: x}} {
			if _, err := PageRank(t.Context(), in, degree, opt); err == nil {
				t.Errorf("power iteration, %+v: no error", opt)
			}
			if _, err := GaussSeidel(t.Context(), in, degree, opt); err == nil {
				t.Errorf("Gauss–Seidel, %+v: no error", opt)
			}
		}
	}
	empty := &CSR{Start: []int64{0}}
	if r, err := GaussSeidel(t.Context(), empty, nil, RankOptions{}); err != nil || len(r.Score) != 0 {
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
		in, degree, err := Transposed(csrOf(sparse(rng, n, rng.Float64()*4)))
		if err != nil {
			t.Fatal(err)
		}
		opt := RankOptions{Epsilon: 1e-13, Damping: 0.5 + 0.45*rng.Float64()}
		if rng.IntN(2) == 0 {
			opt.Personal = make([]float64, n)
			opt.Personal[rng.IntN(n)] = 3
			opt.Personal[rng.IntN(n)] = 1
		}
		if rng.IntN(2) == 0 {
			opt.Start = make([]float64, n)
			opt.Start[rng.IntN(n)] = 1
		}
		sameRank(t, in, degree, opt, 1e-11)
	}
}

// sameRank compares Gauss–Seidel with the power iteration.
func sameRank(t *testing.T, in *CSR, degree []uint32, opt RankOptions, tolerance float64) {
	t.Helper()
	want, err := PageRank(t.Context(), in, degree, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i, rank := range []func(context.Context, *CSR, []uint32, RankOptions) (*Rank, error){GaussSeidel, ComponentRank} {
		got, err := rank(t.Context(), in, degree, opt)
		if err != nil {
			t.Fatal(err)
		}
		if got.Residual > opt.Epsilon {
			t.Errorf("%d: residual %g, want at most %g", i, got.Residual, opt.Epsilon)
		}
		for v := range want.Score {
			if math.Abs(got.Score[v]-want.Score[v]) > tolerance {
				t.Fatalf("%d: %+v: R(%d) = %g, by the power iteration %g", i, in, v, got.Score[v], want.Score[v])
			}
		}
	}
}

// syntheticCSR is a synthetic web, transposed.
func syntheticCSR(t testing.TB, pages int) (*CSR, []uint32) {
	t.Helper()
	s, err := NewSynthetic(pages, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := &CSR{Start: make([]int64, 1, pages+1)}
	if err := s.Each(t.Context(), func(_ uint32, l []uint32) error {
		c.To = append(c.To, l...)
		c.Start = append(c.Start, int64(len(c.To)))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	in, degree, err := Transposed(c)
	if err != nil {
		t.Fatal(err)
	}
	return in, degree
}

// TestGaussSeidelParts has a component that is cut into parts: workers must not
// matter, to the last bit.
func TestGaussSeidelParts(t *testing.T) {
	in, degree := syntheticCSR(t, 120_000)
	sameRank(t, in, degree, RankOptions{Epsilon: 1e-11}, 1e-11)
	one, err1 := GaussSeidel(t.Context(), in, degree, RankOptions{Workers: 1})
	three, err2 := GaussSeidel(t.Context(), in, degree, RankOptions{Workers: 3})
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for v := range one.Score {
		if one.Score[v] != three.Score[v] {
			t.Fatalf("R(%d) is %g by one worker, %g by three", v, one.Score[v], three.Score[v])
		}
	}
	if s := (&solver{in: in, degree: degree, opt: RankOptions{Damping: .85}, y: one.Score, share: one.Score, place: make([]uint32, in.Nodes())}); len(s.component(largest(trimmed(in, degree))).parts) < 3 {
		t.Error("no component was cut into parts; the test tests nothing")
	}
}

// largest returns the largest component.
func largest(c *Components) []uint32 {
	var most []uint32
	for i := range c.Len() {
		if nodes := c.Node[c.First[i]:c.First[i+1]]; len(nodes) > len(most) {
			most = nodes
		}
	}
	return most
}

// BenchmarkRank compares the ways to PageRank on a synthetic web.
func BenchmarkRank(b *testing.B) {
	in, degree := syntheticCSR(b, 325_557)
	for _, way := range []struct {
		name string
		rank func(*testing.B) (*Rank, error)
	}{
		{"power", func(b *testing.B) (*Rank, error) { return PageRank(b.Context(), in, degree, RankOptions{}) }},
		{"gauss-seidel", func(b *testing.B) (*Rank, error) { return GaussSeidel(b.Context(), in, degree, RankOptions{}) }},
		{"components", func(b *testing.B) (*Rank, error) { return ComponentRank(b.Context(), in, degree, RankOptions{}) }},
	} {
		b.Run(way.name, func(b *testing.B) {
			began, runs := cpuTime(b).Seconds(), 0.0
			for b.Loop() {
				r, err := way.rank(b)
				if err != nil {
					b.Fatal(err)
				}
				runs++
				b.ReportMetric((cpuTime(b).Seconds()-began)/runs, "cpu-s")
				b.ReportMetric(float64(r.Iterations), "iterations")
				b.ReportMetric(r.Residual*1e10, "residual/1e-10")
			}
		})
	}
}
