package stats

import "math"

// Z95 is the two-sided 95 % quantile of the normal distribution.
const Z95 = 1.959963984540054

// Wilson returns the 95 % score interval of a share of k in n (Wilson 1927):
//
//	(p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n),  p = k/n
//
// It stays inside [0,1], and holds for small n and for shares near 0 and 1. Of
// nothing it is [0,1]. It takes the draws for independent; the pages of a crawl
// are not, so the interval speaks of this sample size, not of other crawls.
func Wilson(k, n int) [2]float64 {
	if n <= 0 {
		return [2]float64{0, 1}
	}
	return Score(float64(k)/float64(n), float64(n))
}

// Score is Wilson's interval of a share of so many draws, of which a part may count.
func Score(p, n float64) [2]float64 {
	if n <= 0 {
		return [2]float64{0, 1}
	}
	mid := p + Z95*Z95/(2*n)
	half := Z95 * math.Sqrt(p*(1-p)/n+Z95*Z95/(4*n*n))
	scale := 1 + Z95*Z95/n
	ci := [2]float64{(mid - half) / scale, (mid + half) / scale}
	if p == 0 {
		ci[0] = 0 // but for rounding it is
	}
	if p == 1 {
		ci[1] = 1
	}
	return ci
}
