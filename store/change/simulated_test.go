package change

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"fossick/internal/stats"
)

// changes draws the times at which a page changes, from day −history on, in order.
type changes func(r *rand.Rand, rate, until float64) []float64

// history is how many days pages existed before the first visit.
const history = 2000

func poisson(r *rand.Rand, rate, until float64) (at []float64) {
	// Only the last change before the first visit matters, so earlier ones are not drawn.
	at = append(at, max(-history, -r.ExpFloat64()/rate))
	for t := r.ExpFloat64() / rate; t < until; t += r.ExpFloat64() / rate {
		at = append(at, t)
	}
	return at
}

// periodic changes are equally spaced.
func periodic(r *rand.Rand, rate, until float64) (at []float64) {
	for t := -r.Float64() / rate; t < until; t += 1 / rate {
		at = append(at, t)
	}
	return at
}

// bursty changes come in bursts, five on average within a tenth of the time between two bursts.
func bursty(r *rand.Rand, rate, until float64) (at []float64) {
	const mean = 5
	for t := -2 * mean / rate; t < until; t += r.ExpFloat64() * mean / rate {
		n := 1
		for r.Float64() > 1./mean {
			n++
		}
		for range n {
			at = append(at, t+r.Float64()*.1*mean/rate)
		}
	}
	slices.Sort(at)
	return at[:sort(at, until)]
}

func sort(at []float64, until float64) int {
	n, _ := slices.BinarySearch(at, until)
	return n
}

// visited visits a page at times from 0 on. With told, each visit has the age.
func visited(at, visits []float64, told bool) (seen []Interval) {
	before := func(t float64) float64 {
		n, _ := slices.BinarySearch(at, t)
		if n == 0 {
			return -history
		}
		return at[n-1]
	}
	if told {
		seen = append(seen, Interval{Changed: true, Told: true, Age: visits[0] - before(visits[0])})
	}
	for i := 1; i < len(visits); i++ {
		last := before(visits[i])
		v := Interval{Days: visits[i] - visits[i-1], Changed: last > visits[i-1], Told: told}
		if told {
			v.Age = visits[i] - last
		}
		seen = append(seen, v)
	}
	return seen
}

func every(n int, days float64) []float64 {
	at := make([]float64, n+1)
	for i := range at {
		at[i] = float64(i) * days
	}
	return at
}

// irregular returns n exponentially distributed intervals with a mean of days.
func irregular(r *rand.Rand, n int, days float64) []float64 {
	at := make([]float64, n+1)
	for i := range n {
		at[i+1] = at[i] + days*r.ExpFloat64()
	}
	return at
}

// spreads holds populations of rates around one change in five days.
var spreads = map[string]func(r *rand.Rand) float64{
	// 95 % of pages within a factor of 7 of the median
	"log-normal": func(r *rand.Rand) float64 { return .2 * math.Exp(r.NormFloat64()) },
	// shape 2: the coefficient of variation is .71
	"gamma": func(r *rand.Rand) float64 { return .12 * (r.ExpFloat64() + r.ExpFloat64()) },
	// density ∝ rate^−2.5 above .126, with median .2
	"power law": func(r *rand.Rand) float64 { return .126 * math.Pow(1-r.Float64(), -1/1.5) },
}

var processes = map[string]changes{"poisson": poisson, "periodic": periodic, "bursty": bursty}

type groups struct {
	kinds, depths, sites, topics []float64
}

func newGroups(r *rand.Rand, pages int) groups {
	effects := func(n int, spread float64) []float64 {
		u := make([]float64, n)
		for i := range u {
			u[i] = spread * r.NormFloat64()
		}
		return u
	}
	return groups{effects(6, .7), effects(6, .3), effects(1+pages/40, .7), effects(5, .4)}
}

// draw draws a page's group, and returns it with its median rate.
func (g groups) draw(r *rand.Rand) (Group, float64) {
	k, d, s, t := r.IntN(len(g.kinds)), r.IntN(len(g.depths)), r.IntN(len(g.sites)), r.IntN(len(g.topics))
	return Group{string(rune('a' + k)), d, strconv.Itoa(s), strconv.Itoa(t)},
		.2 * math.Exp(g.kinds[k]+g.depths[d]+g.sites[s]+g.topics[t])
}

// densities holds the densities of log λ of the spreads, up to a constant.
var densities = map[string]func(z float64) float64{
	"log-normal": func(z float64) float64 { d := z - math.Log(.2); return math.Exp(-d * d / 2) },
	"gamma":      func(z float64) float64 { return math.Exp(2*z - math.Exp(z)/.12) },
	"power law": func(z float64) float64 {
		if z < math.Log(.126) {
			return 0
		}
		return math.Exp(-1.5 * z)
	},
}

// bound returns the least median error of change intervals for any estimator on such pages, even if
// it knows the density of rates. An error is within ε if log λ lies in a window of width
// log((1+ε)/(1−ε)). So its probability is at most the mean over pages of the largest posterior mass
// in such a window; the bound is the ε at which that is ½.
func bound(w world, density func(z float64) float64) float64 {
	const points, lo, hi = 2001, -7., 5.
	prior := make([]float64, points)
	for i := range prior {
		prior[i] = density(lo + (hi-lo)*float64(i)/(points-1))
	}
	var masses [][]float64 // cumulative posterior of each page
	for _, p := range w.pages {
		e := evident(p.Visits, true)
		mass, sum := make([]float64, points+1), 0.0
		top := e.log(peakOf(&e))
		for i := range prior {
			if prior[i] > 0 {
				sum += prior[i] * math.Exp(e.log(lo+(hi-lo)*float64(i)/(points-1))-top)
			}
			mass[i+1] = sum
		}
		for i := range mass {
			mass[i] /= sum
		}
		masses = append(masses, mass)
	}
	chance := func(eps float64) (sum float64) {
		width := int(math.Log((1+eps)/(1-eps)) / (hi - lo) * (points - 1))
		for _, mass := range masses {
			best := 0.0
			for i := 0; i+width <= points; i++ {
				best = max(best, mass[i+width]-mass[i])
			}
			sum += best
		}
		return sum / float64(len(masses))
	}
	low, high := 0., .999
	for range 12 {
		if mid := (low + high) / 2; chance(mid) < .5 {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// peakOf returns the likelihood's peak, clipped to the range of rates.
func peakOf(e *evidence) float64 { return min(max(peak(e), -7), 5) }

// peak returns the log λ of greatest likelihood for a page that changed and also did not.
func peak(e *evidence) float64 {
	return bisect(func(z float64) bool { return e.slope(z) > 0 })
}

// slope returns the derivative of the log likelihood by log λ, which falls everywhere.
func (e *evidence) slope(z float64) float64 {
	rate := math.Exp(z)
	sum := e.told - rate*e.quiet
	for _, g := range e.gaps {
		sum += g.times * odds(rate*g.days)
	}
	return sum
}

// odds returns x/(exp(x)−1), which falls from 1 to 0.
func odds(x float64) float64 {
	if x < 1e-12 {
		return 1
	}
	return x / math.Expm1(x)
}

// bisect returns where below turns from true to false, within the allowed rates.
func bisect(below func(z float64) bool) float64 {
	lo, hi := math.Log(leastRate), math.Log(mostRate)
	for range 60 {
		if mid := (lo + hi) / 2; below(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}

// tally returns what the simple estimators use: intervals, changes seen, days.
func tally(visits []Interval) (n, changed int, days float64) {
	for _, v := range visits {
		if !positive(v.Days) {
			continue
		}
		n++
		days += bounded(v.Days)
		if v.Changed {
			changed++
		}
	}
	return n, changed, days
}

// naive is X/T, changes seen per day watched (paper E6: the change interval is T/X). It is too low,
// since several changes between two visits are seen as one. Its interval treats X as a Poisson
// count (Garwood 1936), by Wilson and Hilferty's approximation.
func naive(p Page) Estimate {
	n, changed, days := tally(p.Visits)
	if n == 0 {
		return within(0, 0, mostRate)
	}
	x := float64(changed)
	return within(x/days, chiSquare(x, -stats.Z95)/days, chiSquare(x+1, stats.Z95)/days)
}

// chiSquare approximates a gamma distribution's quantile at z standard deviations, shape k, scale
// 1.
func chiSquare(k, z float64) float64 {
	if k == 0 {
		return 0
	}
	root := 1 - 1/(9*k) + z/(3*math.Sqrt(k))
	return k * max(0, root*root*root)
}
