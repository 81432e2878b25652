package cluster

import (
	"math"
	"testing"
)

// TestExtrapolation: what changes by a few factors a round, of either sign, is foreseen, by two
// parts together, where without extrapolation .9^14 of it would be left.
func TestExtrapolation(t *testing.T) {
	rates := []float64{0.9, -0.9, 0.5, -0.3}
	apply := func(x []float64) []float64 {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = 1 + rates[i]*(x[i]-1) // 1 is the fixed point
		}
		return y
	}
	x := []float64{5, 3, 2, 9}
	var halves [2]extrapolation
	for range 14 {
		g := apply(x)
		var sum [products]float64
		for h := range halves {
			for i, p := range halves[h].see(g[2*h:2*h+2], x[2*h:2*h+2]) {
				sum[i] += p
			}
		}
		gamma := weights(sum[:])
		x = append([]float64(nil), g...)
		for h := range halves {
			for k, d := range halves[h].dg {
				for i := range d {
					x[2*h+i] -= gamma[k] * d[i]
				}
			}
		}
	}
	for i := range x {
		if off := math.Abs(x[i] - 1); !(off < 1e-6) {
			t.Errorf("part %d is off by %g", i, off)
		}
	}
	if none := weights(make([]float64, products)); none != [depth]float64{} {
		t.Errorf("of nothing: %v", none)
	}
}
