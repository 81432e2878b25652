package eval

import "math"

// z95 is the two-sided 95 % quantile of the normal distribution.
const z95 = 1.959963984540054

// Interval is a 95 % confidence interval; in JSON [lo, hi].
type Interval [2]float64

// wilson returns the 95 % score interval of a share of k in n (wilson 1927):
//
//	(p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n),  p = k/n
//
// It stays inside [0,1] and is honest for small n and for shares near 0 and 1,
// where the textbook p ± z·√(p(1−p)/n) is not. Without pages it is [0,1]:
// nothing is known. It takes pages for independent draws; the pages of a crawl
// are not, so the interval speaks of this sample size, not of other crawls.
func wilson(k, n int) Interval {
	if n <= 0 {
		return Interval{0, 1}
	}
	p, m := float64(k)/float64(n), float64(n)
	mid := p + z95*z95/(2*m)
	half := z95 * math.Sqrt(p*(1-p)/m+z95*z95/(4*m*m))
	scale := 1 + z95*z95/m
	ci := Interval{(mid - half) / scale, (mid + half) / scale}
	if k == 0 {
		ci[0] = 0 // but for rounding it is
	}
	if k == n {
		ci[1] = 1
	}
	return ci
}

// share returns k/n, nil when n is 0.
func share(k, n int) *float64 {
	if n == 0 {
		return nil
	}
	s := float64(k) / float64(n)
	return &s
}
