package lab

import (
	"cmp"
	"fossick/internal/stats"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Test compares two policies by the same measure from the same start sets.
type Test struct {
	A, B       string
	Difference float64     // mean of A − B
	CI         *[2]float64 // 95 %, of the difference; nil with one set
	P          float64     // paired t-test, two-sided: that chance alone would do as much; never 0
	Adjusted   float64     // P by Holm's correction for all tests of the run
	Exact      float64     // the same question by the permutation test
}

// exactSets is up to how many sets all 2^n signs are tried; beyond, draws many are
// drawn.
const (
	exactSets = 16
	draws     = 100_000
)

// Compare tests each policy against each later one by harvest, twice. The
// paired t-test takes the differences for normal, which means over hundreds of
// pages nearly are. The paired permutation test (Fisher 1935) takes nothing for
// granted. Were the two alike, then in each start set the sign of their
// difference would be chance. Exact is the share of all 2^n ways to choose the
// signs whose mean is as far from 0 as the one measured. But with ten sets it
// is 2/1024 at least, too much to be corrected for dozens of pairs; so it is P
// that is. Of fewer than stats.Fewest sets there is no test.
func Compare(all []Figures, rng *rand.Rand) []Test {
	var tests []Test
	if len(all) == 0 || len(all[0].Sets) < stats.Fewest {
		return nil
	}
	for i, a := range all {
		for _, b := range all[i+1:] {
			d := make([]float64, len(a.Sets))
			for k := range d {
				d[k] = a.Sets[k] - b.Sets[k]
			}
			m := stats.MeanOf(d)
			tests = append(tests, Test{
				A: a.Policy, B: b.Policy, Difference: m.Value, CI: m.CI, P: pairedT(d), Exact: permutation(d, rng),
			})
		}
	}
	holm(tests)
	return tests
}

// pairedT returns the two-sided P of a mean of paired differences. Where all of them are
// the same the t-test knows no spread to go by: P is then the least that the permutation
// test can give, 2/2^n.
func pairedT(d []float64) float64 {
	n := float64(len(d))
	m, s := stat.Mean(d, nil), stat.StdDev(d, nil)
	if stats.Alike(d) {
		if math.Abs(m) <= 1e-12 {
			return 1
		}
		return math.Ldexp(2, -len(d))
	}
	t := m * math.Sqrt(n) / s
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.CDF(-math.Abs(t))
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
