package webstats

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"
)

// A power law is fitted to degrees as Clauset, Shalizi and Newman do (SIAM Review 51, 2009):
//
//	p(x) = x^−α / ζ(α, x_min)   for x ≥ x_min
//
// α is the maximum of the likelihood (their eq. 3.5, solved and not approximated). x_min is
// the start at which the tail lies nearest to its fit by Kolmogorov and Smirnov's distance.
// What the fit is worth is said by a bootstrap: P is the share of samples of the fitted law
// that lie farther from their own fits. Below 0.1 the law is ruled out (their section 4.1).
const (
	leastTail  = 100 // in a tail of fewer, P rules out not even an exponential law (their section 4.1)
	mostStarts = 40  // values of x_min that are tried, evenly spread where there are more
	bootstraps = 100 // P is good to 0.05 then
	ruledOut   = 0.1
	leastAlpha = 1.01
	mostAlpha  = 20
)

// powerLaw is a fit.
type powerLaw struct {
	n       int64 // of degree 1 or more
	tail    int64 // of x_min or more
	start   int   // x_min
	alpha   float64
	err     float64 // standard error of alpha
	dist    float64 // KS
	p       float64 // see above
	against float64 // the log-normal law, see lognormal.go
}

// fitPowerLaw returns nil where too few have a degree, or all the same.
func fitPowerLaw(all []degreeCount, rng *rand.Rand) *powerLaw {
	best := bestStart(all)
	if best == nil {
		return nil
	}
	best.p = best.worth(all, rng)
	best.against = againstLognormal(tailOf(all, best.start), best)
	return best
}

// bestStart chooses x_min.
func bestStart(all []degreeCount) (best *powerLaw) {
	n := int64(0)
	for _, d := range all {
		n += d.n
	}
	left := n
	var starts []int // indexes
	tails := map[int]int64{}
	for i, d := range all {
		if left < leastTail || i >= len(all)-2 {
			break
		}
		starts, tails[i] = append(starts, i), left
		left -= d.n
	}
	for k, tried := 0, min(len(starts), mostStarts); k < tried; k++ {
		i := starts[k*len(starts)/tried]
		fit := fitTail(all[i:], tails[i])
		if best == nil || fit.dist < best.dist {
			best = &fit
		}
	}
	if best != nil {
		best.n = n
	}
	return best
}

// tailOf are the degrees from start on.
func tailOf(all []degreeCount, start int) []degreeCount {
	for i, d := range all {
		if d.degree >= start {
			return all[i:]
		}
	}
	return nil
}

// fitTail fits α to a tail of n.
func fitTail(tail []degreeCount, n int64) powerLaw {
	start, logs := tail[0].degree, 0.0
	for _, d := range tail {
		logs += float64(d.n) * math.Log(float64(d.degree))
	}
	f := powerLaw{tail: n, start: start}
	f.alpha, f.err = mostLikely(logs/float64(n), float64(start), float64(n))
	f.dist = f.distance(tail, n)
	return f
}

// mostLikely solves −ζ'(α, x_min)/ζ(α, x_min) = mean of ln x by Newton's method; the function
// is convex, so steps are halved at the bounds alone.
func mostLikely(meanLog, start, n float64) (alpha, deviation float64) {
	logZeta := func(a float64) float64 { return math.Log(mathext.Zeta(a, start)) }
	alpha = min(mostAlpha, max(leastAlpha, 1+1/(meanLog-math.Log(start-0.5))))
	const h = 1e-3
	curve := 0.0
	for range 50 {
		h := min(h, (alpha-1)/4)
		up, at, down := logZeta(alpha+h), logZeta(alpha), logZeta(alpha-h)
		slope := (up-down)/(2*h) + meanLog
		curve = max(1e-9, (up-2*at+down)/(h*h))
		next := alpha - slope/curve
		if next < leastAlpha {
			next = (alpha + leastAlpha) / 2
		}
		if next > mostAlpha {
			next = (alpha + mostAlpha) / 2
		}
		done := math.Abs(next-alpha) < 1e-6
		if alpha = next; done {
			break
		}
	}
	return alpha, 1 / math.Sqrt(n*curve)
}

// distance is the largest gap between the tail and its fit, at each degree and just before.
func (f *powerLaw) distance(tail []degreeCount, n int64) (most float64) {
	whole := mathext.Zeta(f.alpha, float64(f.start))
	seen, before := 0.0, 0.0
	for _, d := range tail {
		from := mathext.Zeta(f.alpha, float64(d.degree)) / whole // share of the law from here on
		most = max(most, math.Abs(before-(1-from)))
		seen += float64(d.n) / float64(n)
		from -= math.Pow(float64(d.degree), -f.alpha) / whole
		most = max(most, math.Abs(seen-(1-from)))
		before = seen
	}
	return most
}

// worth is P: samples have the degrees below x_min as they are, and a tail of the law.
func (f *powerLaw) worth(all []degreeCount, rng *rand.Rand) float64 {
	farther := 0
	for range bootstraps {
		if again := bestStart(f.sample(all, rng)); again != nil && again.dist >= f.dist {
			farther++
		}
	}
	return float64(farther) / bootstraps
}

// from is the law's share of x and all above.
func (f *powerLaw) from(x float64) float64 {
	return mathext.Zeta(f.alpha, x) / mathext.Zeta(f.alpha, float64(f.start))
}
