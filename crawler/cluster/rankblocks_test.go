package cluster

import (
	"math"
	"testing"
)

// TestFactors: two blocks by hand, and one that holds nothing. Blocks hold h = 2, 4 and 0, have
// a = 0.3 and 0.5 of the base, and their links bring f, so
//
//	z₁ = 0.3 + z₁·0.2/2 + z₂·0.6/4   z₂ = 0.5 + z₁·0.4/2 + z₂·1/4
//
// with the solution z₁ = 0.3/0.645, z₂ = 0.51/0.645. Factors are z/h.
func TestFactors(t *testing.T) {
	got := factors([]float64{2, 4, 0}, []float64{0.3, 0.5, 0}, [][]float64{{0.2, 0.4, 0}, {0.6, 1, 0}, {0, 0, 0}})
	for i, want := range []float64{0.3 / 0.645 / 2, 0.51 / 0.645 / 4, 1} {
		if !(math.Abs(got[i]-want) <= 1e-12) {
			t.Errorf("factor %d is %v, want %v", i, got[i], want)
		}
	}
	for _, a := range []float64{0, math.NaN(), 1e300} {
		if got := factors([]float64{2, 4}, []float64{a, 1}, [][]float64{{0, 0}, {0, 0}}); got[0] != 1 || got[1] != 1 {
			t.Errorf("with %v of the base factors are %v, want 1 and 1", a, got)
		}
	}
}
