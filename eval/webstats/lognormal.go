package webstats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/optimize"
)

// againstLognormal compares a tail's power law with the best log-normal law of the same tail,
// in whole numbers (Clauset, Shalizi and Newman 2009, section 5; Vuong 1989). It is the ratio
// of their likelihoods' logarithms over its standard deviation: above 2 the power law is
// clearly better, below −2 the log-normal, between the two the data do not tell. NaN where
// no log-normal was found.
func againstLognormal(tail []degreeCount, f *powerLaw) float64 {
	best, ok := fitLognormal(tail)
	if !ok {
		return math.NaN()
	}
	logZeta := math.Log(mathext.Zeta(f.alpha, float64(f.start)))
	var n, sum, squares float64
	for _, d := range tail {
		ratio := -f.alpha*math.Log(float64(d.degree)) - logZeta - best.logShare(d.degree, f.start)
		k := float64(d.n)
		n, sum, squares = n+k, sum+k*ratio, squares+k*ratio*ratio
	}
	deviation := math.Sqrt(n * max(0, squares/n-sum/n*sum/n))
	if deviation == 0 {
		return math.NaN()
	}
	return sum / deviation
}

// lognormal is the law of numbers whose logarithms are normal.
type lognormal struct{ mu, sigma float64 }

// above is the logarithm of the share above x; where it is tiny, by Mills' ratio.
func (l lognormal) above(x float64) float64 {
	z := (math.Log(x) - l.mu) / l.sigma
	if z > 30 {
		return -z*z/2 - math.Log(z*math.Sqrt(2*math.Pi))
	}
	return math.Log(math.Erfc(z/math.Sqrt2) / 2)
}

// logShare is the logarithm of a degree's share among those from start on.
func (l lognormal) logShare(degree, start int) float64 {
	from, behind := l.above(float64(degree)-0.5), l.above(float64(degree)+0.5)
	return from + math.Log(-math.Expm1(behind-from)) - l.above(float64(start)-0.5)
}

// fitLognormal maximises the likelihood, from the moments of the logarithms on.
func fitLognormal(tail []degreeCount) (lognormal, bool) {
	var n, sum, squares float64
	for _, d := range tail {
		x, k := math.Log(float64(d.degree)), float64(d.n)
		n, sum, squares = n+k, sum+k*x, squares+k*x*x
	}
	mean := sum / n
	deviation := math.Sqrt(max(1e-4, squares/n-mean*mean))
	loss := func(at []float64) float64 {
		l := lognormal{at[0], math.Exp(at[1])}
		if l.sigma < 1e-2 || l.sigma > 50 || math.Abs(l.mu) > 200 {
			return math.Inf(1)
		}
		total := 0.0
		for _, d := range tail {
			total -= float64(d.n) * l.logShare(d.degree, tail[0].degree)
		}
		if math.IsNaN(total) {
			return math.Inf(1)
		}
		return total / n
	}
	r, err := optimize.Minimize(optimize.Problem{Func: loss}, []float64{mean, math.Log(deviation)},
		&optimize.Settings{FuncEvaluations: 2000}, &optimize.NelderMead{})
	if r == nil || (err != nil && r.Status != optimize.FunctionEvaluationLimit) || math.IsInf(r.F, 1) {
		return lognormal{}, false
	}
	return lognormal{r.X[0], math.Exp(r.X[1])}, true
}
