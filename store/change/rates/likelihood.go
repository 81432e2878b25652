package rates

import "math"

// halfChi is half of the 95 % quantile of χ² with one degree of freedom: the interval of
// a likelihood ends where its logarithm is that much below its maximum (Wilks 1938).
const halfChi = 1.920729410347062

// tail is the chance of what was seen at the ends of a one-sided interval.
const tail = .025

// likely is the rate of the highest likelihood, with the interval of the likelihood ratio.
// Visits may come at any times (CGM, irregular accesses), ages may be known (CGM, last date of
// change). Where a
// page always changed, or never, there is no such rate. The estimate is then where what
// was seen has the chance ½, and the interval's inner end where it has 2.5 %.
func likely(m *Model, p Page) Estimate {
	e := evident(p.Visits, m.truths.believed(p.Host))
	at := func(level float64, low bool) float64 { return math.Exp(crossing(&e, level, low)) }
	switch {
	case e.empty():
		return within(0, 0, MostRate)
	case e.never():
		return within(math.Ln2/e.quiet, 0, -math.Log(tail)/e.quiet)
	case e.always():
		return within(at(-math.Ln2, true), at(math.Log(tail), true), MostRate)
	}
	top := peak(&e)
	level := e.log(top) - halfChi
	return within(math.Exp(top), at(level, true), at(level, false))
}

// peak returns the log λ of the highest likelihood of a page that changed and did not.
func peak(e *evidence) float64 {
	return bisect(func(z float64) bool { return e.slope(z) > 0 })
}

// slope is the derivative of the log likelihood by log λ; it falls everywhere.
func (e *evidence) slope(z float64) float64 {
	rate := math.Exp(z)
	sum := e.told - rate*e.quiet
	for _, g := range e.gaps {
		sum += g.times * odds(rate*g.days)
	}
	return sum
}

// odds is x/(exp(x)−1), which falls from 1 to 0.
func odds(x float64) float64 {
	if x < 1e-12 {
		return 1
	}
	return x / math.Expm1(x)
}

// crossing returns the log λ where the log likelihood passes a level, below its top
// (low) or above.
func crossing(e *evidence, level float64, low bool) float64 {
	return bisect(func(z float64) bool {
		if rising := e.slope(z) > 0; rising != low {
			return rising // on the other side of the top
		}
		return (e.log(z) < level) == low
	})
}

// bisect returns where below turns from true to false, among the rates that there are.
func bisect(below func(z float64) bool) float64 {
	lo, hi := math.Log(leastRate), math.Log(MostRate)
	for range 60 {
		if mid := (lo + hi) / 2; below(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (lo + hi) / 2
}
