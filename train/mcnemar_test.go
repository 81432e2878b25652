package train

import (
	"math"
	onebits "math/bits"
	"testing"
)

func TestMcNemar(t *testing.T) {
	for _, c := range []struct {
		name         string
		a, b         int
		statistic, p float64
	}{
		{"never differ", 0, 0, 0, 1},
		{"one row", 1, 0, 0, 1},
		{"even", 5, 5, 0, 1},
		{"five to none", 5, 0, 3.2, 2.0 / 32},
		{"two to eight", 2, 8, 2.5, 112.0 / 1024},
		{"the last exact", 6, 18, 121.0 / 24, 380102.0 / (1 << 24)},
		{"the first by chi-square", 5, 20, 7.84, 0.0051103},
		// Agresti, Categorical Data Analysis, section 10.1: 86 and 150.
		{"approval ratings", 86, 150, 16.8178, 0.0000411},
	} {
		for _, swapped := range []bool{false, true} {
			a, b := c.a, c.b
			if swapped {
				a, b = b, a
			}
			statistic, p := McNemar(a, b)
			if math.Abs(statistic-c.statistic) > 1e-4 || math.Abs(p-c.p) > 1e-6 {
				t.Errorf("%s: McNemar(%d, %d) = %.4f, %.7f, want %.4f, %.7f", c.name, a, b, statistic, p, c.statistic, c.p)
			}
		}
	}
}

// TestMcNemarExact holds the exact p against counting all outcomes of n coins.
func TestMcNemarExact(t *testing.T) {
	for n := 1; n <= 14; n++ {
		for a := range n + 1 {
			extreme := 0
			for coins := range 1 << n {
				heads := onebits.OnesCount(uint(coins))
				if abs(2*heads-n) >= abs(2*a-n) {
					extreme++
				}
			}
			want := float64(extreme) / float64(int(1)<<n)
			if _, p := McNemar(a, n-a); math.Abs(p-want) > 1e-12 {
				t.Errorf("McNemar(%d, %d): p = %v, want %v", a, n-a, p, want)
			}
		}
	}
}

func abs(x int) int { return max(x, -x) }
