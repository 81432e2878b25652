package crawler

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSpread holds the quarter that a spread finds against the sorted priorities: it is
// no smaller, and larger only by what lies in one step.
func TestSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for round := range 200 {
		var s spread
		var all []float64
		for range 1 + rng.IntN(3000) {
			p := math.Exp(-12 * rng.Float64() * float64(round%3))
			if rng.IntN(10) == 0 {
				p = -p
			}
			all = append(all, p)
			s.add(p)
		}
		slices.Sort(all)
		slices.Reverse(all)
		cut := s.best(0.25)
		within := len(all) - len(slices.DeleteFunc(slices.Clone(all), func(p float64) bool { return p >= cut }))
		quarter := len(all) / 4
		step := 0
		for _, p := range all {
			if s.bin(p) == s.bin(max(cut, 0)) {
				step++
			}
		}
		if within < quarter || within > quarter+step {
			t.Fatalf("round %d: %d of %d are at least %v, want %d to %d", round, within, len(all), cut, quarter, quarter+step)
		}
	}
	if cut := new(spread).best(0.25); !math.IsInf(cut, -1) {
		t.Errorf("the best of nothing are from %v on, want all", cut)
	}
}
