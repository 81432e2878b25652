package train

import "math"

// exactBelow is the number of disagreements from which the chi-squared distribution
// will do: at 25 it is less than .005 off the binomial.
const exactBelow = 25

// Paired says whether of two models judged on the same pages one is better, or
// whether the difference may be chance.
type Paired struct {
	AOnly, BOnly int     // pages that A alone, or B alone, labels right
	Statistic    float64 // McNemar's χ² with continuity correction; 0 when neither leads
	P            float64 // two-sided, in (0,1]: how often equal models differ as much
	Exact        bool    // P is the binomial's, not that of χ²
}

// McNemar tests two models on the same pages (McNemar 1947, with the correction
// of Edwards 1948):
//
//	χ² = max(0, |b − c| − 1)² / (b + c)
//
// with b pages that A alone has right and c that B alone has right. Pages that both
// have right, or both wrong, say nothing of the difference. Below 25 pages b + c, P is
// the binomial's: twice the chance of at most min(b,c) heads in b + c throws, and at
// most 1. From 25 on it is the chance of a larger χ² with one degree of freedom. b and
// c must not be negative; with both 0, P is 1.
//
// Pages count as independent draws: many pages of one site, right or wrong
// together, make P too small.
func McNemar(b, c int) Paired {
	r := Paired{AOnly: b, BOnly: c, P: 1, Exact: b+c < exactBelow}
	n := float64(b + c)
	if n == 0 {
		return r
	}
	lead := max(0, math.Abs(float64(b-c))-1)
	r.Statistic = lead * lead / n
	if r.Exact {
		r.P = signTest(min(b, c), b+c)
	} else {
		p := math.Erfc(math.Sqrt(r.Statistic / 2)) // χ² of one degree is a squared normal
		r.P = max(p, math.SmallestNonzeroFloat64)  // from χ² 1,500 on it is too small for a float64
	}
	return r
}

// signTest returns min(1, 2 · Σ_{i≤k} C(n,i) / 2ⁿ). Exact while 2ⁿ is, n ≤ 52.
func signTest(k, n int) float64 {
	ways, sum := 1.0, 1.0
	for i := range k {
		ways = ways * float64(n-i) / float64(i+1)
		sum += ways
	}
	return min(1, math.Ldexp(sum, 1-n))
}
