package train

import "math"

// fewPairs is the number of discordant pairs below which the distribution of the
// statistic is too far from χ² to be trusted.
const fewPairs = 25

// McNemar compares two models on the same rows (McNemar 1947): aOnly counts the
// rows that only the first has right, bOnly those that only the second has; the
// rows on which both are right or both wrong say nothing. The statistic is
//
//	(max(|aOnly − bOnly| − 1, 0))² / (aOnly + bOnly)
//
// with Edwards' correction (1948), 0 when the models never differ. p, in (0,1], is
// the two-sided probability of a difference at least this large if neither model
// were better: of χ² with one degree of freedom from 25 discordant pairs on, and
// below that exactly of the binomial distribution with share 1/2.
func McNemar(aOnly, bOnly int) (statistic, p float64) {
	n := aOnly + bOnly
	if n == 0 {
		return 0, 1
	}
	gap := max(math.Abs(float64(aOnly-bOnly))-1, 0)
	statistic = gap * gap / float64(n)
	if n >= fewPairs {
		return statistic, math.Erfc(math.Sqrt(statistic / 2))
	}
	return statistic, signTest(min(aOnly, bOnly), n)
}

// signTest returns the probability that n fair coins show at most k heads or at
// most k tails, k ≤ n/2 and n small enough that 2ⁿ is exact.
func signTest(k, n int) float64 {
	ways, sum := 1.0, 0.0 // ways = n over i
	for i := range k + 1 {
		sum += ways
		ways = ways * float64(n-i) / float64(i+1)
	}
	return min(1, 2*math.Ldexp(sum, -n)) // an even split counts its middle twice
}
