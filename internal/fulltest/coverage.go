package fulltest

import (
	"math"
	"testing"
)

// Accepted coverage of 95 % intervals, and the error probability at which a count contradicts it.
const (
	leastHeld = 0.90
	mostHeld  = 0.99
	unlikely  = 0.01
)

// Coverage checks that 90 to 99 of 100 intervals hold the truth. It fails if a coverage in that
// range would hardly produce the count.
func Coverage(t testing.TB, what string, held, of int) {
	t.Helper()
	t.Logf("%s: %d of %d intervals hold the truth", what, held, of)
	switch {
	case of == 0:
		t.Errorf("%s: no interval", what)
	case atMost(held, of, leastHeld) < unlikely:
		t.Errorf("%s: %d of %d intervals hold the truth, too few for %g of them", what, held, of, leastHeld)
	case atMost(of-held, of, 1-mostHeld) < unlikely:
		t.Errorf("%s: %d of %d intervals hold the truth, too many for %g of them", what, held, of, mostHeld)
	}
}

// atMost returns the probability of at most k hits in n independent draws of probability p.
func atMost(k, n int, p float64) float64 {
	sum := 0.0
	for i := range k + 1 {
		sum += math.Exp(logChoose(n, i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return sum
}

func logChoose(n, k int) float64 { return logFactorial(n) - logFactorial(k) - logFactorial(n-k) }

func logFactorial(n int) float64 {
	v, _ := math.Lgamma(float64(n) + 1)
	return v
}
