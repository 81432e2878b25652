package change

import (
	"math"
)

// evidence is all that a page's visits tell about its rate λ. Its log likelihood is
//
//	told·log λ − λ·quiet + Σ log(1 − exp(−λ·gap))
//
// The probability of days without a change is exp(−λ·days), of a gap with one or more 1 −
// exp(−λ·gap). If the last change of a gap is age days ago, the density is λ·exp(−λ·age), whatever
// came before (CGM, last date of change). It is concave in log λ.
type evidence struct {
	told  float64 // changes at a known time
	quiet float64 // days known to be without a change
	gaps  []gap   // between visits, with a change at an unknown time
}

type gap struct{ days, times float64 }

// alike is the relative difference up to which gaps count as equal. Regular visits make gaps of
// nearly one length, and each distinct length costs logarithms.
const alike = 1e-3

// leastDays (a millisecond) and mostDays (2,700 years) prevent overflows.
const (
	leastDays = 1e-8
	mostDays  = 1e6
)

// evident returns the evidence of visits. Ages count if believed and consistent with the content.
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

// positive reports whether days is a finite, positive time.
func positive(days float64) bool { return days > 0 && !math.IsInf(days, 1) }

func bounded(days float64) float64 { return min(max(days, leastDays), mostDays) }

// ripe reports whether an age can be that of a change: it lies inside the gap, if any, and is not
// the time of the answer, which servers send for generated pages.
func ripe(v Interval) bool {
	return positive(v.Age) && v.Age >= freshDays && (!positive(v.Days) || v.Age <= v.Days)
}

func (e *evidence) empty() bool { return e.told == 0 && e.quiet == 0 && len(e.gaps) == 0 }

// log returns the log likelihood at log λ = z, multiplying probabilities to save logarithms.
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

// chance returns 1 − exp(−x), accurate near 0 too.
func chance(x float64) float64 {
	if x > .01 {
		return 1 - math.Exp(-x)
	}
	return -math.Expm1(-x)
}

// Many servers make up Last-Modified: it is the time of the answer or of the last release of all
// pages, or stays while the content changes. So only hosts that do not contradict themselves are
// believed. A contradiction is a change inside the gap if the content is equal, or one before the
// gap if it differs.

const (
	// freshDays, ten seconds, is the age below which a change is taken for the time of the answer.
	freshDays = 10.0 / (24 * 3600)
	// slackDays allows for differences of clocks and rounding to seconds.
	slackDays = 2.0 / (24 * 3600)
	// believeFrom is the least probability of a believed host: lies spoil more than the truth adds.
	believeFrom = .9
	// slips gives true hosts a prior Beta(1, slips) of contradictions: a file may be touched.
	slips = 99
)

// Checks counts the checks of a host's announcements, such as Last-Modified.
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

// settle estimates the share of true hosts by expectation maximisation.
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

// Truth returns the probability that a host with these checks is true, given the share of true
// hosts. True hosts seldom fail a check; other hosts fail with any probability in [0,1].
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

// believed reports whether a host's Last-Modified is used; without any check it is not.
func (t *truths) believed(host string) bool {
	return t.hosts[host].Believed(t.share)
}

// Believed reports whether a host with these checks is believed, given the share of true hosts.
func (c Checks) Believed(share float64) bool { return c.Made > 0 && c.Truth(share) >= believeFrom }
