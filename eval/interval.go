package eval

import (
	"fmt"

	"fossick/internal/report"
	"fossick/internal/stats"
)

// Interval is a 95 % confidence interval; in JSON [lo, hi].
type Interval [2]float64

// share returns k/n, nil when n is 0.
func share(k, n int) *float64 {
	if n == 0 {
		return nil
	}
	s := float64(k) / float64(n)
	return &s
}

// harvestCI is the 95 % interval of the harvest that crawls like this one have; nil of fewer
// pages than tell of others.
func harvestCI(n int, relevant func(i int) bool) *Interval {
	if n < stats.Fewest {
		return nil
	}
	ci := Interval(stats.InOrder(n, relevant))
	return &ci
}

// words says an interval, or why there is none.
func (ci *Interval) words() string {
	if ci == nil {
		return fmt.Sprintf("no interval: it needs %d pages", stats.Fewest)
	}
	return "95 % interval " + report.Span(*ci)
}
