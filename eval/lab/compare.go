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

// pairedTest compares the harvest of two policies over the same start sets.
type pairedTest struct {
	A          string      `json:"a"`
	B          string      `json:"b"`
	Difference float64     `json:"difference"`    // mean of A − B
	CI         *[2]float64 `json:"ci"`            // 95 % interval of the difference; nil with one set
	P          float64     `json:"p"`             // paired t-test, two-sided; never 0
	Adjusted   float64     `json:"p_adjusted"`    // P with Holm's correction for all tests of the run
	Exact      float64     `json:"p_permutation"` // P by the permutation test
}

// Up to exactSets sets the permutation test enumerates all 2^n signs; beyond, it draws draws of them.
const (
	exactSets = 16
	draws     = 100_000
)

// pairedTests tests each policy against each later one by harvest, from stats.Fewest sets on. P is the paired
// t-test's, which assumes normal differences; means over hundreds of pages nearly are. Exact is the paired
// permutation test's (Fisher 1935), which assumes nothing: the share of the 2^n choices of signs for which the
// mean difference is at least as far from 0. With ten sets it is at least 2/1024, too much to correct for
// dozens of pairs, so Adjusted corrects P.
func pairedTests(all []policyFigures, rng *rand.Rand) []pairedTest {
	var tests []pairedTest
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
			tests = append(tests, pairedTest{
				A: a.Policy, B: b.Policy, Difference: m.Value, CI: m.CI, P: pairedT(d), Exact: permutation(d, rng),
			})
		}
	}
	holm(tests)
	return tests
}

// pairedT returns the two-sided P of paired differences; 2/2^n, as the permutation test, when all are equal.
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
	limit := math.Abs(sum) - 1e-12 // count equal sums despite rounding
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
	hits := 1 // the observed one
	for range draws {
		if signed(rng.Uint64()) {
			hits++
		}
	}
	return float64(hits) / (draws + 1)
}

// holm fills in Adjusted (Holm 1979): the i-th smallest of m P times m − i + 1, kept non-decreasing.
func holm(tests []pairedTest) {
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

// rhoRange holds the values of ρ of a sweep.
type rhoRange struct{ Values []float64 }

// UnmarshalText reads A:B:STEP with 0 ≤ A ≤ B < 1, the range of ρ in paper A eq. 1.
func (r *rhoRange) UnmarshalText(text []byte) error {
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

type rhoPoint struct {
	Rho     float64     `json:"rho"`
	Harvest float64     `json:"harvest"`
	CI      *[2]float64 `json:"ci"`
}

// policies returns the names of the sweep's policies.
func (r rhoRange) policies() (names []string) {
	for _, rho := range r.Values {
		names = append(names, paperWith(rho))
	}
	return names
}

func paperWith(rho float64) string { return "paper:" + strconv.FormatFloat(rho, 'g', -1, 64) }

// swept returns harvest by rising ρ, over the policies of the sweep (a plot of paper A5).
func swept(sweep []float64, all []policyFigures) []rhoPoint {
	points := []rhoPoint{}
	for _, rho := range sweep {
		i := slices.IndexFunc(all, func(f policyFigures) bool { return f.Policy == paperWith(rho) })
		if i >= 0 {
			points = append(points, rhoPoint{rho, all[i].Harvest.Value, all[i].Harvest.CI})
		}
	}
	return points
}
