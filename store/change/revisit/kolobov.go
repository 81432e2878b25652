package revisit

import "math"

// kolobovRate returns the visits a day at which another one is worth the price, where a copy
// that missed n changes costs 1 + 1/2 + … + 1/n. Source: Kolobov, Peres, Lu and Horvitz,
// Staying up to date with online content changes using reinforcement learning for
// scheduling, NeurIPS 2019. With visits at random the cost is −weight·ln(visits/(visits + rate)), so that
//
//	weight·rate/(visits·(visits + rate)) = price
//	visits = (−rate + √(rate² + 4·weight·rate/price))/2
//
// No page that matters and changes goes without visits.
func kolobovRate(price, rate, weight float64) float64 {
	if rate == 0 || weight == 0 {
		return 0
	}
	q := 4 * weight / (price * rate)
	// (√(1+q) − 1)/2 without the loss of digits where q is small.
	return rate * q / (2 * (math.Sqrt(1+q) + 1))
}

// kolobovChance returns the chance with which a signal of change is followed by a visit (the
// same paper): visits cost price·rate·chance, what is missed −weight·ln chance.
func kolobovChance(price, rate, weight float64) float64 {
	return min(1, weight/(price*rate))
}
