package change

import (
	"math"
)

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

func bounded(days float64) float64 { return min(max(days, leastDays), mostDays) }

// ripe says that an age may be one of a change: inside its gap, if it has one, and not the
// time of the visit itself, which servers tell that make each page anew.
func ripe(v Interval) bool {
	return positive(v.Age) && v.Age >= freshDays && (!positive(v.Days) || v.Age <= v.Days)
}

func (e *evidence) empty() bool { return e.told == 0 && e.quiet == 0 && len(e.gaps) == 0 }

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

// Last-Modified is made up by many servers: it is the time of the answer, or of the last
// release of all pages, or stays as it is while the content changes. So it is believed of
// hosts that do not contradict themselves. Where the content is the same, a change inside
// the gap is a contradiction; where it is another, one before the gap.

const (
	// freshDays is the age, ten seconds, below which a change is taken for the time of
	// the answer.
	freshDays = 10.0 / (24 * 3600)
	// slackDays is by how much clocks and whole seconds may shift an age.
	slackDays = 2.0 / (24 * 3600)
	// believeFrom is the probability from which a host is believed: what a lie spoils is
	// more than what the truth adds.
	believeFrom = .9
	// slips is how many contradictions a true host has in so many checks, as a Beta(1, 99)
	// has it: a file is touched, or set back.
	slips = 99
)

// Checks counts what a host's Last-Modified, or another such word, could be held against.
type Checks struct{ Made, Failed int }

type truths struct {
	hosts map[string]Checks
	share float64
}

func (t *truths) take(p Page) {
	c := t.hosts[p.Host]
	for _, v := range p.Visits {
		if !v.Told || !positive(v.Days) || math.IsNaN(v.Age) {
			continue
		}
		inside := v.Age < v.Days-slackDays
		if v.Changed {
			inside = v.Age <= v.Days+slackDays
		}
		c.Made++
		if inside != v.Changed {
			c.Failed++
		}
	}
	if c.Made > 0 {
		t.hosts[p.Host] = c
	}
}

// settle estimates the share of true hosts by expectation maximisation; a host's checks
// speak by their marginal likelihood.
func (t *truths) settle() {
	t.share = .5
	for range 50 {
		sum, n := 1.0, 2.0 // as if one true host and one other were known
		for _, c := range t.hosts {
			sum += c.Truth(t.share)
			n++
		}
		t.share = sum / n
	}
}

// Truth is the probability that a host with these checks is true, at a share of true
// hosts. True hosts fail a check seldom, others by any chance from 0 to 1.
func (c Checks) Truth(share float64) float64 {
	failed, passed := float64(c.Failed), float64(c.Made-c.Failed)
	honest := math.Log(share) + logBeta(1+failed, slips+passed) - logBeta(1, slips)
	other := math.Log1p(-share) + logBeta(1+failed, 1+passed)
	return 1 / (1 + math.Exp(other-honest))
}

func logBeta(a, b float64) float64 {
	x, _ := math.Lgamma(a)
	y, _ := math.Lgamma(b)
	z, _ := math.Lgamma(a + b)
	return x + y - z
}

// believed says whether a host's Last-Modified is used. One that was never held against
// anything is not.
func (t *truths) believed(host string) bool {
	return t.hosts[host].Believed(t.share)
}

// Believed says whether a host with these checks is believed, at a share of true hosts.
func (c Checks) Believed(share float64) bool { return c.Made > 0 && c.Truth(share) >= believeFrom }
