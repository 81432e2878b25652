package stats

import (
	"math"
	"testing"
)

func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n   int
		lo, hi float64
	}{
		{0, 0, 0, 1},
		{0, 10, 0, 0.2775},
		{10, 10, 0.7225, 1},
		{81, 263, 0.2553, 0.3662}, // Newcombe 1998, table I, method 3
		{15, 148, 0.0624, 0.1605}, // the same
		{0, 20, 0, 0.1611},        // the same
		{1, 29, 0.0061, 0.1718},   // the same
		{41, 60, 0.5576, 0.7869},
	} {
		if ci := Wilson(c.k, c.n); math.Abs(ci[0]-c.lo) > 1e-4 || math.Abs(ci[1]-c.hi) > 1e-4 {
			t.Errorf("%d of %d: got %v, want %v to %v", c.k, c.n, ci, c.lo, c.hi)
		}
	}
}

// TestWilsonSolvesTheScoreEquation: the interval's ends solve (p−π)² = z²·π(1−π)/n.
func TestWilsonSolvesTheScoreEquation(t *testing.T) {
	for n := 1; n < 60; n++ {
		for k := 0; k <= n; k++ {
			p := float64(k) / float64(n)
			for _, end := range Wilson(k, n) {
				left, right := (p-end)*(p-end), Z95*Z95*end*(1-end)/float64(n)
				if math.Abs(left-right) > 1e-12 {
					t.Fatalf("Wilson(%d, %d): at %v: (p−π)² = %v, z²π(1−π)/n = %v", k, n, end, left, right)
				}
			}
		}
	}
}
