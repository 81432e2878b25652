package rank

import (
	"math"
	"math/rand/v2"
	"testing"

	"fossick/graph"
	"fossick/internal/testkit"
)

func hitsOf(t *testing.T, lists [][]uint32, opt Options) *Result {
	t.Helper()
	out := csrOf(lists)
	in, _, err := graph.Transposed(out)
	if err != nil {
		t.Fatal(err)
	}
	h, err := hits(t.Context(), out, in, opt)
	if err != nil {
		t.Fatalf("%v: %v", lists, err)
	}
	return h
}

// TestHITSByHand has two hubs, one with one link more.
func TestHITSByHand(t *testing.T) {
	// 0 → 2, 3; 1 → 3. With a2 = x, a3 = 1: h0 = 1+x, h1 = 1, so x = (1+x)/(2+x).
	h := hitsOf(t, [][]uint32{{2, 3}, {3}, {}, {}}, Options{Epsilon: 1e-14})
	x := (math.Sqrt(5) - 1) / 2
	want := [2][4]float64{{0, 0, x / (1 + x), 1 / (1 + x)}, {(1 + x) / (2 + x), 1 / (2 + x), 0, 0}}
	for v := range 4 {
		if !(math.Abs(h.Score[v]-want[0][v]) <= 1e-13) || !(math.Abs(h.Hub[v]-want[1][v]) <= 1e-13) {
			t.Errorf("node %d: authority %g, hub %g, want %g and %g", v, h.Score[v], h.Hub[v], want[0][v], want[1][v])
		}
	}
	h = hitsOf(t, [][]uint32{{}, {}}, Options{})
	if h.Score[0] != 0 || h.Hub[1] != 0 || h.Residual != 0 {
		t.Errorf("without links: %+v", h)
	}
	hitsOf(t, nil, Options{})
}

// TestHITSOracle compares with a long power iteration, including disconnected graphs, whose parts may share an
// eigenvalue.
func TestHITSOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	compared, graphs := 0, testkit.Rounds(100, 500)
	for range graphs {
		n := 1 + rng.IntN(40)
		lists := sparse(rng, n, 0.5+rng.Float64()*3)
		h := hitsOf(t, lists, Options{Epsilon: 1e-12})
		a, hub, settled := plainHITS(lists)
		if !settled {
			continue
		}
		compared++
		for v := range n {
			if !(math.Abs(h.Score[v]-a[v]) <= 1e-9) || !(math.Abs(h.Hub[v]-hub[v]) <= 1e-9) {
				t.Fatalf("%v: node %d: authority %g, hub %g, want %g and %g after %d", lists, v, h.Score[v], h.Hub[v], a[v], hub[v], h.Iterations)
			}
		}
	}
	if 5*compared < 4*graphs {
		t.Errorf("only %d graphs were compared", compared)
	}
}

// plainHITS iterates the definition until nothing changes.
func plainHITS(lists [][]uint32) (a, h []float64, settled bool) {
	n := len(lists)
	a = make([]float64, n)
	for v := range a {
		a[v] = 1
	}
	for range 20_000 {
		h = make([]float64, n)
		next := make([]float64, n)
		for v, l := range lists {
			for _, w := range l {
				h[v] += a[w]
			}
			for _, w := range l {
				next[w] += h[v]
			}
		}
		sum, hubs, change := 0.0, 0.0, 0.0
		for v := range n {
			sum, hubs = sum+next[v], hubs+h[v]
		}
		for v := range n {
			if sum > 0 {
				next[v], h[v] = next[v]/sum, h[v]/hubs
			}
			change += math.Abs(next[v] - a[v])
		}
		if a = next; change < 1e-15 {
			return a, h, true
		}
	}
	return a, h, false
}
