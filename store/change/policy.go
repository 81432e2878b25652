package change

import (
	"errors"
	"fmt"
	"math"

	"fossick/internal/cli"
)

type crawlPolicy struct {
	Name  string
	About string // a phrase for help

	// rate returns a page's visits per day if one costs price; it falls with price.
	rate func(price, rate, weight float64) float64
	// learns: the policy weighs all possible rates, and reacts to news of a page.
	learns bool
}

// Policies lists the policies in the order of help. uniform and cho are from Cho and Garcia-Molina
// (Effective page refresh policies for web crawlers, TODS 28(4), 2003); learn is ours.
var Policies = []crawlPolicy{
	{Name: "uniform", About: "all pages equally often", rate: func(price, _, _ float64) float64 { return 1 / price }},
	{Name: "cho", About: "largest freshness, by one estimate of each page's rate", rate: choRate},
	{Name: "learn", About: "largest expected freshness, also where rates are uncertain", rate: choRate, learns: true},
}

func byName(name string) (crawlPolicy, error) {
	var names []string
	for _, p := range Policies {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return crawlPolicy{}, fmt.Errorf("no revisit policy %q; choose one of %s", name, cli.SomeNames(name, names))
}

// choRate returns the visits per day at which one more is worth the price (Cho and Garcia-Molina
// 2003):
//
//	weight · dF/dvisits = weight/rate · (1 − (1+r)·e^−r) = price,  r = rate/visits
//
// where F = (1 − e^−r)/r is the share of time for which a copy is fresh. It is 0 if even the first
// visit is worth less: weight/rate ≤ price.
func choRate(price, rate, weight float64) float64 {
	share := price * rate / weight
	if rate == 0 || weight == 0 || share >= 1 {
		return 0
	}
	return rate / stalenessInverse(share)
}

// staleness returns 1 − (1+r)·e^−r, r ≥ 0: the probability of two or more events if r are expected.
func staleness(r float64) float64 { return -math.Expm1(-r) - r*math.Exp(-r) }

// stalenessInverse returns r with staleness(r) = share, for a share in (0,1), to 12 digits, by
// Newton's method on the convex r − ln(1+r) + ln(1−share).
func stalenessInverse(share float64) float64 {
	s := math.Sqrt(2 * share)
	r := s * (1 + s/3)
	if s < 1e-4 {
		return r
	}
	log := math.Log1p(-share)
	if share > 0.5 {
		r = -log + math.Log1p(-log+1)
	}
	for range 40 {
		step := (r - math.Log1p(r) + log) * (1 + r) / r
		r -= step
		if math.Abs(step) <= 1e-13*r {
			break
		}
	}
	return r
}

// Copy describes a page to the policies.
type Copy struct {
	Rate   float64 // changes per day, ≥ 0; NaN if unknown
	Weight float64 // importance, ≥ 0, in any unit
	Last   float64 // last visit, days since the caller's origin
	Host   int     // index of its host
}

// Bounds on the input, which keep products of two values finite.
const (
	mostKnownRate = 1e8
	mostWeight    = 1e30
	mostBudget    = 1e15
)

var errBudget = errors.New("the budget must be a positive number of fetches a day")

func check(pages []Copy, budget float64, hostRates []float64) error {
	if !(budget > 0 && budget <= mostBudget) {
		return fmt.Errorf("%w, not %v", errBudget, budget)
	}
	for i, p := range pages {
		switch {
		case p.Rate < 0 || p.Rate > mostKnownRate:
			return fmt.Errorf("page %d: a rate of %v changes a day; it must be 0 to %g, or NaN where it is not known", i, p.Rate, mostKnownRate)
		case !(p.Weight >= 0 && p.Weight <= mostWeight):
			return fmt.Errorf("page %d: a weight of %v; it must be 0 to %g", i, p.Weight, mostWeight)
		case math.IsNaN(p.Last) || math.IsInf(p.Last, 0):
			return fmt.Errorf("page %d: last visit at %v; it must be a number of days", i, p.Last)
		case hostRates != nil && (p.Host < 0 || p.Host >= len(hostRates)):
			return fmt.Errorf("page %d: host %d; there are %d", i, p.Host, len(hostRates))
		}
	}
	return nil
}
