package train

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPseudo(t *testing.T) {
	// Ten pages; the level is far too low for class 1, but the order tells.
	var probs [][]float64
	for i := range 10 {
		p := float64(i) / 100
		probs = append(probs, []float64{1 - p, p})
	}
	if got, want := pseudo(probs, []float64{0.6, 0.4}, 0), []int{0, 0, 0, -1, -1, -1, -1, -1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("round 0: %v, want %v", got, want)
	}
	if got, want := pseudo(probs, []float64{0.6, 0.4}, 1), []int{0, 0, 0, 0, 0, 0, 1, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("round 1: %v, want %v", got, want)
	}
	if got := pseudo(nil, []float64{0.5, 0.5}, 1); len(got) != 0 {
		t.Errorf("of no pages: %v", got)
	}
	if got := pseudo(probs, []float64{1, 0}, 1); slices.Contains(got, 1) || got[9] != -1 {
		t.Errorf("a class that is rarer than a page of ten gets none, nor does the other take all: %v", got)
	}
}

// TestPseudoOnePageOneClass: whatever the probabilities, no class gets more than
// its share and the round's first half is kept in the second.
func TestPseudoOnePageOneClass(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for range 200 {
		k, n := 2+rng.IntN(5), rng.IntN(60)
		shares, probs := make([]float64, k), make([][]float64, n)
		for c := range shares {
			shares[c] = 1 / float64(k)
		}
		for i := range probs {
			probs[i] = make([]float64, k)
			for c := range probs[i] {
				probs[i][c] = rng.Float64()
			}
		}
		for round := range unlabelledRounds {
			got := make([]int, k)
			for _, c := range pseudo(probs, shares, round) {
				if c >= 0 {
					got[c]++
				}
			}
			for c, m := range got {
				if most := min(pseudoMost, max(pseudoLeast, shares[c])*pseudoRounds[round])*float64(n) + 0.5; float64(m) > most {
					t.Fatalf("class %d of %d got %d of %d pages, at most %.1f", c, k, m, n, most)
				}
			}
		}
	}
}
