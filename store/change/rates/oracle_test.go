package rates

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// slowLog is the log likelihood of a rate as it stands in doc comments, visit by visit.
func slowLog(visits []Interval, rate float64, believed bool) (sum float64) {
	for _, v := range visits {
		switch {
		case v.Changed && v.Told && believed:
			sum += math.Log(rate) - rate*v.Age
		case v.Changed:
			sum += math.Log(1 - math.Exp(-rate*v.Days))
		default:
			sum -= rate * v.Days
		}
	}
	return sum
}

// someVisits draws a history that has a change and a quiet time.
func someVisits(r *rand.Rand) []Interval {
	told := r.IntN(2) == 0
	visits := []Interval{{Days: 1 + r.Float64(), Changed: true}, {Days: .1 + r.ExpFloat64()}}
	for range r.IntN(12) {
		v := Interval{Days: .1 + 5*r.ExpFloat64(), Changed: r.IntN(2) == 0, Told: told}
		v.Age = (.01 + .9*r.Float64()) * v.Days
		visits = append(visits, v)
	}
	return visits
}

func honest() *Model {
	m := unlearned()
	m.truths = truths{hosts: map[string]Checks{"h": {Made: 100}}, share: .5}
	return m
}

// TestLikelihoodAgainstGrid: the highest likelihood and the ends of its interval are those
// that a search over a fine grid finds.
func TestLikelihoodAgainstGrid(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const points = 10000
	at := func(i int) float64 { return math.Exp(-8 + 14*float64(i)/points) }
	for range 25 {
		visits := someVisits(r)
		var logs []float64
		for i := range points {
			logs = append(logs, slowLog(visits, at(i), true))
		}
		top := 0
		for i := range logs {
			if logs[i] > logs[top] {
				top = i
			}
		}
		lo := slices.IndexFunc(logs, func(l float64) bool { return l > logs[top]-halfChi })
		hi := top
		for hi < points-1 && logs[hi] > logs[top]-halfChi {
			hi++
		}
		got := estimate(t, "likelihood", honest(), Page{Host: "h", Visits: visits})
		for _, c := range [][2]float64{{got.Rate, at(top)}, {got.Lo, at(lo)}, {got.Hi, at(hi)}} {
			if math.Abs(math.Log(c[0]/c[1])) > .003 {
				t.Errorf("%+v: %+v, want rate %g in %g to %g", visits, got, at(top), at(lo), at(hi))
			}
		}
	}
}

// TestPosteriorAgainstSums: median and interval are those of sums over a fine grid, for
// narrow and wide priors and mixtures.
func TestPosteriorAgainstSums(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const points = 20000
	for range 25 {
		m := honest()
		m.prior.rest = []bell{{.7, -.5, math.Exp(2 * r.NormFloat64())}, {.3, 1, .1 + r.Float64()}}
		visits := someVisits(r)
		mass, sum := make([]float64, points), 0.0
		for i := range mass {
			z := math.Log(leastRate) + float64(i)/points*math.Log(MostRate/leastRate)
			prior := 0.0
			for _, b := range m.prior.rest {
				d := z - b.mean - firstMean
				prior += b.weight * math.Exp(-d*d/2/b.variance) / math.Sqrt(b.variance)
			}
			sum += prior * math.Exp(slowLog(visits, math.Exp(z), true))
			mass[i] = sum
		}
		quantile := func(p float64) float64 {
			i, _ := slices.BinarySearch(mass, p*sum)
			return math.Exp(math.Log(leastRate) + float64(i)/points*math.Log(MostRate/leastRate))
		}
		got := estimate(t, "bayes", m, Page{Host: "h", Visits: visits})
		for _, c := range [][2]float64{{got.Rate, quantile(.5)}, {got.Lo, quantile(.025)}, {got.Hi, quantile(.975)}} {
			if math.Abs(math.Log(c[0]/c[1])) > .01 {
				t.Errorf("prior %v, %+v: %+v, want %g in %g to %g", m.prior.rest, visits, got, quantile(.5), quantile(.025), quantile(.975))
			}
		}
	}
}

// TestManyVisits: what thousands of visits tell overrules the prior, and all but the
// naive estimator find the rate.
func TestManyVisits(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	times := irregular(r, 20000, .5)
	p := Page{Visits: visited(poisson(r, 2, times[20000]), times, false)}
	for _, name := range []string{"bayes", "likelihood"} {
		if got := estimate(t, name, nil, p); math.Abs(got.Rate-2) > .1 || got.Lo > 2 || got.Hi < 2 || got.Hi-got.Lo > .2 {
			t.Errorf("%s: %+v, want 2", name, got)
		}
	}
}
