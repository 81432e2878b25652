package webgraph

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestRankTurns compares the ways to PageRank in turns, seven of each, on the graph
// files that FOSSICK_SCALE names, and logs medians. On a web of many hosts BlockRank takes
// half the processor time of the power iteration at most.
func TestRankTurns(t *testing.T) {
	names := os.Getenv("FOSSICK_SCALE")
	if names == "" {
		t.Skip("FOSSICK_SCALE names graph files, with commas between")
	}
	for _, path := range strings.Split(names, ",") {
		g := openGraph(t, path)
		if g.Hosts().Count() == 0 {
			t.Fatalf("%s has no hosts", path)
		}
		in, degree, err := Transposed(g)
		if err != nil {
			t.Fatal(err)
		}
		ways := rankWays(t, in, degree, g.Hosts().Array(g.Nodes()))
		used, took, iterations := make([][]float64, len(ways)), make([][]float64, len(ways)), make([]int, len(ways))
		for range 7 {
			for i, way := range ways {
				cpu, began := cpuTime(t), time.Now()
				r, err := way.rank()
				if err != nil {
					t.Fatal(err)
				}
				used[i] = append(used[i], (cpuTime(t) - cpu).Seconds())
				took[i] = append(took[i], time.Since(began).Seconds())
				iterations[i] = r.Iterations
			}
		}
		for i, way := range ways {
			faster := ratio(used[0], used[i])
			t.Logf("%s, %d nodes, %d hosts: %-12s %3d iterations, %.4f s of processor time, %.4f s; %.2f and %.2f times as fast as power",
				filepath.Base(path), g.Nodes(), g.Hosts().Count(), way.name, iterations[i], median(used[i]), median(took[i]), faster, ratio(took[0], took[i]))
			if way.name == "blockrank" && g.Nodes() >= 100_000 && g.Hosts().Count() >= 1000 && faster < 2 {
				t.Errorf("%s: BlockRank is %.2f times as fast as the power iteration, want 2 at least", path, faster)
			}
		}
	}
}

// rankWay is one way to PageRank.
type rankWay struct {
	name string
	rank func() (*Rank, error)
}

func rankWays(t *testing.T, in *CSR, degree, host []uint32) []rankWay {
	return []rankWay{
		{"power", func() (*Rank, error) { return PageRank(t.Context(), in, degree, RankOptions{}) }},
		{"components", func() (*Rank, error) { return ComponentRank(t.Context(), in, degree, RankOptions{}) }},
		{"gauss-seidel", func() (*Rank, error) { return GaussSeidel(t.Context(), in, degree, RankOptions{}) }},
		{"blockrank", func() (*Rank, error) {
			r, err := BlockRank(t.Context(), in, degree, host, BlockOptions{})
			if err != nil {
				return nil, err
			}
			return &r.Rank, nil
		}},
	}
}

// ratio is the median of a/b, pair by pair.
func ratio(a, b []float64) float64 {
	r := make([]float64, len(a))
	for i := range r {
		r[i] = a[i] / b[i]
	}
	return median(r)
}

func median(x []float64) float64 {
	return slices.Sorted(slices.Values(x))[len(x)/2]
}
