package revisit

import "math"

// azarRate returns the visits a day at which another one is worth the price. Visits come at
// random (Azar, Horvitz, Lubetzky, Peres and Shahaf, Tractable near-optimal policies for
// crawling, PNAS 115(32), 2018). A copy is then fresh for visits/(visits + rate) of the
// time, so that
//
//	weight·rate/(visits + rate)² = price,  visits = √(weight·rate/price) − rate
//
// and 0 where that is negative. The schedule has these rates at even intervals, as the
// paper's deterministic one has.
func azarRate(price, rate, weight float64) float64 {
	return max(0, math.Sqrt(weight*rate/price)-rate)
}
