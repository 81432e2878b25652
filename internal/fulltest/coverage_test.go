package fulltest

import (
	"math"
	"testing"
)

// counting counts errors without failing.
type counting struct {
	testing.TB
	errors int
}

func (c *counting) Helper()               {}
func (c *counting) Logf(string, ...any)   {}
func (c *counting) Errorf(string, ...any) { c.errors++ }

// TestCoverage: counts plausible for a coverage between .90 and .99 pass, others fail.
func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		held, of int
		good     bool
	}{
		{95, 100, true}, {90, 100, true}, {84, 100, true}, {81, 100, false}, {100, 100, true}, {2, 3, true}, {1, 4, false},
		{0, 0, false}, {300, 300, true}, {600, 600, false}, {580, 600, true}, {500, 600, false},
	} {
		got := &counting{}
		if Coverage(got, "x", c.held, c.of); got.errors == 0 != c.good {
			t.Errorf("%d of %d: good %v, want %v", c.held, c.of, got.errors == 0, c.good)
		}
	}
	if got := atMost(1, 3, 0.5); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("at most one of three: %g", got)
	}
}
