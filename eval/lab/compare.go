package lab

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"fossick/internal/stats"
)

// Test compares two policies by the same measure from the same start sets.
type Test struct {
	A          string      `json:"a"`
	B          string      `json:"b"`
	Difference float64     `json:"difference"`    // mean of A − B
	CI         *[2]float64 `json:"ci"`            // 95 %, of the difference; nil with one set
	P          float64     `json:"p"`             // paired t-test, two-sided: that chance alone would do as much; never 0
	Adjusted   float64     `json:"p_adjusted"`    // P by Holm's correction for all tests of the run
	Exact      float64     `json:"p_permutation"` // the same question by the permutation test
}

// exactSets is up to how many sets all 2^n signs are tried; beyond, draws many are
// drawn.
const (
	exactSets = 16
	draws     = 100_000
)

// pairedTests tests each policy against each later one by harvest, twice. The
// paired t-test takes the differences for normal, which means over hundreds of
// pages nearly are. The paired permutation test (Fisher 1935) takes nothing for
// granted. Were the two alike, then in each start set the sign of their
// difference would be chance. Exact is the share of all 2^n ways to choose the
// signs whose mean is as far from 0 as the one measured. But with ten sets it
// is 2/1024 at least, too much to be corrected for dozens of pairs; so it is P
// that is. Of fewer than stats.Fewest sets there is no test.
func pairedTests(all []Figures, rng *rand.Rand) []Test {
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

// RhoRange is the values of ρ of a sweep.
type RhoRange struct{ Values []float64 }

// UnmarshalText reads A:B:STEP, with 0 ≤ A ≤ B < 1 as eq. 1 wants ρ.
func (r *RhoRange) UnmarshalText(text []byte) error {
	var v [3]float64
	parts := strings.Split(string(text), ":")
	if len(parts) != len(v) {
		return fmt.Errorf("%q: want A:B:STEP, as in 0:0.9:0.1", text)
	}
	for i, p := range parts {
		n, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || !(n >= 0 && n < 1) {
			return fmt.Errorf("%q: %q is not a ρ; want numbers from 0 to less than 1, as in 0:0.9:0.1", text, p)
		}
		v[i] = n
	}
	from, to, step := v[0], v[1], v[2]
	switch {
	case from > to:
		return fmt.Errorf("%q: begins above its end; want A:B:STEP with A ≤ B", text)
	case step < 0.01:
		return fmt.Errorf("%q: want a step of at least 0.01, because each step adds a policy with its own crawls", text)
	}
	r.Values = nil
	for i := 0; ; i++ {
		rho := math.Round((from+float64(i)*step)*1e6) / 1e6 // 0.3, not 0.30000000000000004
		if rho > to+step*1e-6 || rho >= 1 {
			return nil
		}
		r.Values = append(r.Values, rho)
	}
}

// rhoPoint is harvest at one ρ.
type rhoPoint struct {
	Rho     float64     `json:"rho"`
	Harvest float64     `json:"harvest"`
	CI      *[2]float64 `json:"ci"`
}

// Policies are the names of the sweep's policies.
func (r RhoRange) Policies() (names []string) {
	for _, rho := range r.Values {
		names = append(names, paperWith(rho))
	}
	return names
}

func paperWith(rho float64) string { return "paper:" + strconv.FormatFloat(rho, 'g', -1, 64) }

// swept returns harvest against ρ: of every policy that is paper with a ρ of the
// sweep, by rising ρ (paper A5 draws it so).
func swept(sweep []float64, all []Figures) []rhoPoint {
	points := []rhoPoint{}
	for _, rho := range sweep {
		i := slices.IndexFunc(all, func(f Figures) bool { return f.Policy == paperWith(rho) })
		if i >= 0 {
			points = append(points, rhoPoint{rho, all[i].Harvest.Value, all[i].Harvest.CI})
		}
	}
	return points
}
