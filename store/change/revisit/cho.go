package revisit

import "math"

// Fresh returns the share of time for which a copy is as the page is. The page changes at rate
// (a day, ≥ 0), and is fetched at even intervals, visits a day (≥ 0). Source: Cho and
// Garcia-Molina, Effective page refresh policies for web crawlers, TODS 28(4), 2003.
//
//	F = (1 − e^−r)/r,  r = rate/visits
func Fresh(rate, visits float64) float64 {
	switch {
	case rate == 0:
		return 1
	case visits == 0:
		return 0
	}
	r := rate / visits
	return -math.Expm1(-r) / r
}

// choRate returns the visits a day at which another one is worth the price (the same paper):
//
//	weight · dF/dvisits = weight/rate · (1 − (1+r)·e^−r) = price,  r = rate/visits
//
// It is 0 where even the first visit is worth less: weight/rate ≤ price.
func choRate(price, rate, weight float64) float64 {
	share := price * rate / weight
	if rate == 0 || weight == 0 || share >= 1 {
		return 0
	}
	return rate / stalenessInverse(share)
}

// choChance returns the chance with which a signal of change is followed by a visit, for the
// largest freshness: a visit is worth weight/rate, the time until the next change, whenever it
// comes. So all changes are followed, or none.
func choChance(price, rate, weight float64) float64 {
	if weight <= price*rate {
		return 0
	}
	return 1
}

// staleness is 1 − (1+r)·e^−r for r ≥ 0: the chance of two events or more where r are
// expected.
func staleness(r float64) float64 { return -math.Expm1(-r) - r*math.Exp(-r) }

// stalenessInverse returns r with staleness(r) = share, for a share in (0,1), to 12 digits.
// Newton's steps go over r − ln(1+r) + ln(1−share), which is convex: no step overshoots
// more than once.
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
