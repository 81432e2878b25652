package revisit

import (
	"errors"
	"fmt"
	"math"
)

// Page is what a policy is told of a page.
type Page struct {
	Rate    float64 // changes a day, ≥ 0; NaN where it is not known
	Weight  float64 // importance, ≥ 0, in any unit
	Last    float64 // the last visit, days since the caller's origin
	Host    int     // index of its host
	Signals bool    // it tells of each change at once (Scheduler.Signal), and truly
}

// Allocation is how a budget is shared.
type Allocation struct {
	Rates      []float64 // visits a day, by page
	Price      float64   // what the last visit of a day is worth; next to nothing where hosts bound all
	HostPrices []float64 // the same by host: more than Price where the host's rate binds
}

// What is let in, so that no product of two of them overflows: a change a millisecond, and
// more visits a day than any crawler makes.
const (
	mostRate   = 1e8
	mostWeight = 1e30
	mostBudget = 1e15
)

// ErrBudget reports a budget that is no positive number of fetches a day.
var ErrBudget = errors.New("the budget must be a positive number of fetches a day")

// Allocate returns the visits a day that a policy of Policies gives to each page. All of them
// are within budget (fetches a day, > 0). Those of host h are within hostRates[h] (fetches a
// day, > 0; +Inf: no bound). Without hostRates hosts bound nothing. All rates must
// be known; of signals it takes no note.
//
// The sum is concave, so that prices decide (Karush, Kuhn, Tucker): each page gets the visits
// that are worth the price of its host, which is the common price or, where the host's rate
// binds, what keeps it. O(n) a step; some ten steps, and as many for a host that binds.
func Allocate(pages []Page, policy string, budget float64, hostRates []float64) (Allocation, error) {
	p, err := byName(policy)
	if err != nil {
		return Allocation{}, err
	}
	if err := check(pages, budget, hostRates); err != nil {
		return Allocation{}, err
	}
	for i := range pages {
		if math.IsNaN(pages[i].Rate) {
			return Allocation{}, fmt.Errorf("page %d: its rate is not known; estimate it first", i)
		}
	}
	demand := func(i int, price float64) float64 { return p.rate(price, pages[i].Rate, pages[i].Weight) }
	s := newShares(len(pages), func(i int) int { return pages[i].Host }, hostRates, demand)
	common, prices := s.solve(budget, 1, nil)
	a := Allocation{Rates: s.rates(prices), Price: common.hi, HostPrices: make([]float64, len(prices))}
	for h := range prices {
		a.HostPrices[h] = prices[h].hi
	}
	return a, nil
}

// check finds what no policy could work with.
func check(pages []Page, budget float64, hostRates []float64) error {
	if !(budget > 0 && budget <= mostBudget) {
		return fmt.Errorf("%w, not %v", ErrBudget, budget)
	}
	for h, rate := range hostRates {
		if !(rate > 0) {
			return fmt.Errorf("host %d: a rate of %v fetches a day; leave its pages out", h, rate)
		}
	}
	for i, p := range pages {
		switch {
		case p.Rate < 0 || p.Rate > mostRate:
			return fmt.Errorf("page %d: a rate of %v changes a day; it must be 0 to %g, or NaN where it is not known", i, p.Rate, mostRate)
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
