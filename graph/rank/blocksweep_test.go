package rank

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/graph"
	"fossick/internal/fulltest"
)

// randomCore is the core of a random graph with random blocks; nil where there is none.
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
	s := newSolver(in, degree, opt)
	if s.groups, err = groupsOf(block); err != nil {
		t.Fatal(err)
	}
	c, _ := s.blockCore(nodes)
	return c
}

// misses is the L1 norm of what the equations of a core miss, and what it holds, by
// definition.
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

// promises says whether a sweep keeps what it promises. left is not less than
// what the equations miss, what is held is right, and without scaling left
// falls by the damping at least.
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

// TestBlockSweep has cores of random graphs.
func TestBlockSweep(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	cores, graphs := 0, fulltest.Rounds(300, 1000)
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

// TestBlockScaling has a core whose blocks are scaled wrongly, by what it believes that they
// hold: it must notice, leave it, and come to the solution all the same.
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

// hostCSR is a synthetic web, transposed, with its hosts.
func hostCSR(t testing.TB, pages int) (in *graph.CSR, degree, host []uint32) {
	t.Helper()
	g := synthetic(t, pages)
	in, degree, err := graph.Transposed(g)
	if err != nil {
		t.Fatal(err)
	}
	return in, degree, g.Hosts().Array(pages)
}

// TestBlockRankParts has a core that is swept in parts, some at the same time
// and some after others. Parts go by hosts, by hosts whose pages are strewn
// over the web, and by one block that is larger than parts may be. Ranks must
// be those of the power iteration, and workers not matter, to the last bit.
func TestBlockRankParts(t *testing.T) {
	fulltest.Only(t, "seconds of processor time; the oracles have small graphs")
	in, degree, host := hostCSR(t, 180_000)
	want, err := PowerIteration(t.Context(), in, degree, Options{Epsilon: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
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
		if tc.name != "hosts" && !fulltest.Asked() {
			all = nil // of these only the sweeps, below
		}
		var first *Result
		for _, workers := range all {
			r, err := byBlocks(t.Context(), in, degree, Options{Epsilon: 1e-12, Workers: workers, Blocks: tc.block})
			if err != nil {
				t.Fatal(err)
			}
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
		groups, err := groupsOf(tc.block)
		if err != nil {
			t.Fatal(err)
		}
		s := newSolver(in, degree, Options{Damping: .85})
		s.groups = groups
		c, _ := s.blockCore(largest(trimmed(in, degree)))
		if len(c.parts)-1 < tc.parts {
			t.Errorf("%s: %d parts, want %d at least; the test tests nothing", tc.name, len(c.parts)-1, tc.parts)
		}
		c.work = 1
		for left := math.Inf(1); left > 1e-4; {
			left = c.promises(t, left)
		}
	}
}

// TestBlockRankIterations: by hosts it takes a fifth of the power iteration's visits of
// links, and a half of those of Gauss–Seidel.
func TestBlockRankIterations(t *testing.T) {
	in, degree, host := hostCSR(t, fulltest.Rounds(30_000, 100_000))
	power, err1 := PowerIteration(t.Context(), in, degree, Options{})
	sweeps, err2 := gaussSeidel(t.Context(), in, degree, Options{})
	blocks, err3 := byBlocks(t.Context(), in, degree, Options{Blocks: host})
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	if 5*blocks.Iterations > power.Iterations || 2*blocks.Iterations > sweeps.Iterations {
		t.Errorf("%d iterations by blocks, %d by Gauss–Seidel, %d by power iteration", blocks.Iterations, sweeps.Iterations, power.Iterations)
	}
}
