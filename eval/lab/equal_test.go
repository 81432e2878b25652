package lab

import (
	"fossick/internal/stats"
	"testing"
)

// TestEqualDraws: sets that all gave the same have no interval, for a width of
// 0 would say that nothing else can come. And no test is surer than its number
// of sets allows.
func TestEqualDraws(t *testing.T) {
	for name, x := range map[string][]float64{"one": {0.4}, "five equal": {1, 1, 1, 1, 1}, "equal but for rounding": {0.1 + 0.2, 0.3, 0.3}} {
		if m := stats.MeanOf(x); m.CI != nil {
			t.Errorf("%s: interval %v, want none", name, *m.CI)
		}
	}
	for _, tc := range []struct {
		name string
		d    []float64
		want float64
	}{
		{"equal policies", []float64{0, 0, 0, 0, 0}, 1},
		{"the same lead five times", []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 2.0 / 32},
		{"five times behind by as much", []float64{-0.2, -0.2, -0.2, -0.2, -0.2}, 2.0 / 32},
	} {
		if p := pairedT(tc.d); p != tc.want {
			t.Errorf("%s: P %v, want %v", tc.name, p, tc.want)
		}
	}
}

// TestBandsOfEqualDraws: a curve keeps its band where one point has no interval.
func TestBandsOfEqualDraws(t *testing.T) {
	l := line("x", []Point{{10, Mean{Value: 1}}, {20, Mean{Value: 0.9, CI: &[2]float64{0.8, 1}}}})
	if len(l.Band) != 2 || l.Band[0] != [2]float64{1, 1} || l.Band[1] != [2]float64{0.8, 1} {
		t.Errorf("band %v", l.Band)
	}
	if l := line("x", []Point{{10, Mean{Value: 1}}}); l.Band != nil {
		t.Errorf("a band %v of nothing", l.Band)
	}
}
