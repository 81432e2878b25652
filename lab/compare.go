package lab

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Test compares two policies by the same measure from the same start sets.
type Test struct {
	A, B       string
	Difference float64     // mean of A − B
	CI         *[2]float64 // 95 %, of the difference; nil with one set
	P          float64     // that chance alone would do as much, two-sided
	Adjusted   float64     // P by Holm's correction for all tests of the run
}

// exactSets is up to how many sets all 2^n signs are tried; beyond, draws many are
// drawn.
const (
	exactSets = 16
	draws     = 100_000
)

// Compare tests each policy against each later one by a paired permutation test
// (Fisher 1935): were the two alike, then in each start set the sign of their
// difference would be chance. P is the share of all 2^n ways to choose the signs
// whose mean difference is as far from 0 as the one measured. It takes no
// distribution for granted; with ten sets the least P is 2/1024.
func Compare(all []Figures, rng *rand.Rand) []Test {
	var tests []Test
	for i, a := range all {
		for _, b := range all[i+1:] {
			d := make([]float64, len(a.Sets))
			for k := range d {
				d[k] = a.Sets[k] - b.Sets[k]
			}
			m := mean(d)
			tests = append(tests, Test{A: a.Policy, B: b.Policy, Difference: m.Value, CI: m.CI, P: permutation(d, rng)})
		}
	}
	holm(tests)
	return tests
}

// permutation returns the two-sided P of paired differences.
func permutation(d []float64, rng *rand.Rand) float64 {
	sum := 0.0
	for _, x := range d {
		sum += x
	}
	limit := math.Abs(sum) - 1e-12 // equal sums must count, whatever their rounding
	signed := func(mask uint64) bool {
		s := 0.0
		for i, x := range d {
			if mask>>i&1 == 1 {
				x = -x
			}
			s += x
		}
		return math.Abs(s) >= limit
	}
	if len(d) <= exactSets {
		hits := 0
		for mask := range uint64(1) << len(d) {
			if signed(mask) {
				hits++
			}
		}
		return float64(hits) / float64(uint64(1)<<len(d))
	}
	hits := 1 // the one measured
	for range draws {
		if signed(rng.Uint64()) {
			hits++
		}
	}
	return float64(hits) / (draws + 1)
}

// holm fills in Adjusted (Holm 1979): the i-th smallest of m P is multiplied by
// m − i + 1, and none is less than one before it.
func holm(tests []Test) {
	order := make([]int, len(tests))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(tests[a].P, tests[b].P) })
	least := 0.0
	for rank, i := range order {
		least = max(least, min(1, tests[i].P*float64(len(tests)-rank)))
		tests[i].Adjusted = least
	}
}
