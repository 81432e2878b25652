package rates

import "math"

// evidence is all that a page's visits tell of its rate λ. Its log likelihood is
//
//	told·log λ − λ·quiet + Σ log(1 − exp(−λ·gap))
//
// A time without a change has the chance exp(−λ·days). A gap with one or more has
// 1 − exp(−λ·gap). When the last change of a gap is known to be age
// ago, the density is λ·exp(−λ·age), whatever came before (CGM, last date of change).
// It is concave in log λ.
type evidence struct {
	told  float64 // changes whose time is known
	quiet float64 // days that are known to be without a change
	gaps  []gap   // between visits with a change at an unknown time
}

// gap is a time between visits with a change, and how many of its length there are.
type gap struct{ days, times float64 }

// alike is by how much, of their length, gaps may differ to count as equal. Rounds of
// visits make gaps of nearly one length, and each length costs logarithms.
const alike = 1e-3

// leastDays and mostDays bound times, so that no product leaves the range of numbers: about
// a millisecond, 2,700 years.
const (
	leastDays = 1e-8
	mostDays  = 1e6
)

// evident returns what visits tell. Ages count where they are believed, and an age that
// contradicts the content does not.
func evident(visits []Interval, believed bool) evidence {
	var e evidence
	for _, v := range visits {
		switch {
		case v.Changed && v.Told && believed && ripe(v):
			e.told++
			e.quiet += bounded(v.Age)
		case !positive(v.Days):
		case v.Changed:
			e.add(bounded(v.Days))
		default:
			e.quiet += bounded(v.Days)
		}
	}
	return e
}

// add takes in a gap with a change.
func (e *evidence) add(days float64) {
	for i := range e.gaps {
		if math.Abs(e.gaps[i].days-days) <= alike*days {
			e.gaps[i].times++
			return
		}
	}
	e.gaps = append(e.gaps, gap{days, 1})
}

// positive says that days are a time.
func positive(days float64) bool { return days > 0 && !math.IsInf(days, 1) }

// bounded is a time within its bounds.
func bounded(days float64) float64 { return min(max(days, leastDays), mostDays) }

// ripe says that an age may be one of a change: inside its gap, if it has one, and not the
// time of the visit itself, which servers tell that make each page anew.
func ripe(v Interval) bool {
	return positive(v.Age) && v.Age >= freshDays && (!positive(v.Days) || v.Age <= v.Days)
}

// empty says that nothing is known.
func (e *evidence) empty() bool { return e.told == 0 && e.quiet == 0 && len(e.gaps) == 0 }

// always says that no time is known to be without a change, so that the likelihood
// only grows with the rate.
func (e *evidence) always() bool { return e.quiet == 0 }

// never says that no change is known.
func (e *evidence) never() bool { return e.told == 0 && len(e.gaps) == 0 }

// log is the log likelihood of log λ. The gaps' chances are multiplied as long as that
// is safe: logarithms are what it costs.
func (e *evidence) log(z float64) float64 {
	rate := math.Exp(z)
	sum, product := e.told*z-rate*e.quiet, 1.0
	for _, g := range e.gaps {
		p := chance(rate * g.days)
		if g.times > 1 {
			sum += g.times * math.Log(p)
			continue
		}
		if product *= p; product < 1e-200 {
			sum += math.Log(product)
			product = 1
		}
	}
	return sum + math.Log(product)
}

// chance is 1 − exp(−x), exact near 0 too.
func chance(x float64) float64 {
	if x > .01 {
		return 1 - math.Exp(-x)
	}
	return -math.Expm1(-x)
}
