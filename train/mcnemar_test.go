package train

import (
	"math"
	mathbits "math/bits"
	"testing"
)

// TestMcNemar: worked by hand. χ² of 121 against 59 is (62 − 1)²/180, as in the usual textbook table.
func TestMcNemar(t *testing.T) {
	for _, c := range []struct {
		name      string
		b, c      int
		statistic float64
		p, within float64
		exact     bool
	}{
		{"no difference at all", 0, 0, 0, 1, 0, true},
		{"one page", 1, 0, 0, 1, 0, true},
		{"five against none, 2/2⁵", 5, 0, 3.2, 0.0625, 0, true},
		{"none against six, 2/2⁶", 0, 6, 25. / 6, 0.03125, 0, true},
		{"2 · (1+10+45)/2¹⁰", 8, 2, 2.5, 0.109375, 0, true},
		{"equal", 7, 7, 0, 1, 0, true},
		{"the last exact one, 2 · 190051/2²⁴", 18, 6, 121. / 24, 2 * 190051. / (1 << 24), 0, true},
		{"the first by χ²: √2.56 = 1.6", 17, 8, 2.56, 0.109599, 1e-6, false},
		{"equal and many", 50, 50, 0, 1, 0, false},
		// Agresti, Categorical Data Analysis, section 10.1.
		{"approval ratings", 86, 150, 3969. / 236, 4.11e-5, 1e-7, false},
		{"textbook", 121, 59, 3721. / 180, 5.45e-6, 1e-8, false},
	} {
		for range 2 { // which of the two is called A changes nothing but the names
			r := mcNemar(c.b, c.c)
			if r.AOnly != c.b || r.BOnly != c.c || r.Exact != c.exact ||
				!(math.Abs(r.Statistic-c.statistic) <= 1e-12) || !(math.Abs(r.P-c.p) <= c.within) {
				t.Errorf("%s: McNemar(%d, %d) = %+v, want statistic %v, p %v, exact %v", c.name, c.b, c.c, r, c.statistic, c.p, c.exact)
			}
			c.b, c.c = c.c, c.b
		}
	}
}

// TestMcNemarCounts throws all coins: of the 2ⁿ ways in which n pages fall to two equal models, P is
// the share that is at least as uneven.
func TestMcNemarCounts(t *testing.T) {
	for n := 1; n <= 16; n++ {
		for b := 0; b <= n; b++ {
			uneven := 0
			for throw := range uint32(1) << n {
				heads := mathbits.OnesCount32(throw)
				if abs(2*heads-n) >= abs(2*b-n) {
					uneven++
				}
			}
			want := float64(uneven) / float64(uint32(1)<<n)
			if p := mcNemar(b, n-b).P; p != want {
				t.Errorf("McNemar(%d, %d): p %v, want %v", b, n-b, p, want)
			}
		}
	}
}

func abs(x int) int { return max(x, -x) }

// TestMcNemarMeets: at the seam the two ways agree as the comment says.
func TestMcNemarMeets(t *testing.T) {
	for b := 0; b <= exactBelow; b++ {
		if p, exact := mcNemar(b, exactBelow-b).P, signTest(min(b, exactBelow-b), exactBelow); !(math.Abs(p-exact) <= 0.005) {
			t.Errorf("%d against %d: χ² says %v, the binomial %v", b, exactBelow-b, p, exact)
		}
	}
}

// TestMcNemarIsNeverSure: however many pages, P is not 0.
func TestMcNemarIsNeverSure(t *testing.T) {
	if p := mcNemar(100_000, 0); !(p.P > 0) || p.Exact {
		t.Errorf("P %v of 100,000 pages to none", p.P)
	}
}
