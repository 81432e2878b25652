package rank

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHighest: the largest scores are those of a stable sort, among the nodes asked for.
func TestHighest(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		score, in := make([]float64, rng.IntN(30)), make([]bool, 30)
		var want []uint32
		for v := range score {
			score[v], in[v] = float64(rng.IntN(5)), rng.IntN(3) > 0
			if in[v] {
				want = append(want, uint32(v))
			}
		}
		slices.SortStableFunc(want, func(v, w uint32) int { return cmp.Compare(score[w], score[v]) })
		n := rng.IntN(12)
		if got := Highest(score, in, n); !slices.Equal(got, want[:min(n, len(want))]) {
			t.Fatalf("seed %d: the %d highest of %v are %v, want %v", seed, n, score, got, want)
		}
	}
	if got := Highest([]float64{1, 3, 2}, nil, 2); !slices.Equal(got, []uint32{1, 2}) {
		t.Errorf("of all: %v", got)
	}
}
