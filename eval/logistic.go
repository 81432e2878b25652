package eval

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// example is a URL as its links described it before it was fetched, and whether
// it turned out to be relevant.
type example struct {
	x [parts]float64
	y float64
}

type logistic struct {
	weight [parts]float64
	active []int // parts whose weight is free; those at their bound of 0 are not
	prior  prior
	cov    *mat.Cholesky // of the active weights, inverse: the Hessian's factor
	p      []float64     // of each example, at the weights that value was asked for last
}

// fitLogistic fits P(y=1|x) = 1/(1+exp(−w·x)) by penalised maximum likelihood,
//
//	max Σ log P(yᵢ|xᵢ) − ½ Σⱼ λⱼ (wⱼ − μⱼ)²,   wⱼ ≥ 0 for every part but the bias,
//
// by gonum's Newton method on the weights that are free; one that turns out
// negative is bound to 0 and the rest are fitted again. So a page of which the
// links say less good is never the more probable one. The model is used far
// from where it was fitted, where a sign that chance got wrong would do most
// harm.
func fitLogistic(examples []example, p prior) *logistic {
	m := &logistic{prior: p}
	for j := range parts {
		m.active = append(m.active, j)
	}
	for {
		m.newton(examples)
		worst := -1
		for i, j := range m.active {
			if j != partBias && m.weight[j] < 0 && (worst < 0 || m.weight[j] < m.weight[m.active[worst]]) {
				worst = i
			}
		}
		if worst < 0 {
			return m
		}
		m.weight[m.active[worst]] = 0
		m.active = append(m.active[:worst:worst], m.active[worst+1:]...)
	}
}

const (
	// penalty is λ of the weights, and biasPenalty of the bias, which only has to
	// stay finite where all pages were relevant.
	penalty     = 3
	biasPenalty = 0.01

	// slopePenalty is that of log-odds of a score that is a probability, around
	// 1. docs/eval.md says how it was chosen.
	slopePenalty = 30

	maxNewton = 50
	leastGain = 1e-10 // a share of the value: a step that gains less is the last
)

// prior is what is known of the weights before any example: of each its mean μ, and λ,
// the inverse of its variance.
type prior struct{ mean, lambda [parts]float64 }

// newPrior returns a prior that knows nothing. Where the crawls' scores are
// probabilities, their log-odds are worth what they say, but for what the others add. A
// crawl fetches what it expects most of, so that fetched URLs alone tell little of
// those of which it expects less.
func newPrior(probabilities bool) (p prior) {
	for j := range p.lambda {
		p.lambda[j] = penalty
	}
	p.lambda[partBias] = biasPenalty
	if probabilities {
		p.mean[partPromise], p.lambda[partPromise] = 1, slopePenalty
	}
	return p
}

// newton maximises over the active weights, beginning where they are, and factors the
// Hessian there. Steps that make matters worse are halved.
func (m *logistic) newton(examples []example) {
	from := make([]float64, len(m.active))
	for i, j := range m.active {
		from[i] = m.weight[j]
	}
	problem := optimize.Problem{
		Func: func(w []float64) float64 { m.set(w); return -m.value(examples) },
		// With one task and these steps, they are asked for where Func was last.
		Grad: func(grad, _ []float64) { m.gradient(grad, examples) },
		Hess: func(hess *mat.SymDense, _ []float64) { m.hessian(hess, examples) },
	}
	settings := &optimize.Settings{
		Converger:       &optimize.FunctionConverge{Relative: leastGain, Iterations: 1},
		MajorIterations: maxNewton,
	}
	// An error says that no step helps any more: it is at the top, but for rounding.
	result, _ := optimize.Minimize(problem, from, settings, &optimize.Newton{Linesearcher: &optimize.Backtracking{}})
	m.set(result.X)
	m.value(examples)
	hess := mat.NewSymDense(len(m.active), nil)
	m.hessian(hess, examples)
	m.cov = &mat.Cholesky{}
	m.cov.Factorize(hess) // positive definite by the penalty
}

func (m *logistic) set(w []float64) {
	for i, j := range m.active {
		m.weight[j] = w[i]
	}
}

func (m *logistic) value(examples []example) float64 {
	sum := 0.0
	m.p = slices.Grow(m.p[:0], len(examples))[:len(examples)]
	for i := range examples {
		z := m.logit(&examples[i].x)
		e := math.Exp(-math.Abs(z))
		sum += examples[i].y*z - max(z, 0) - math.Log1p(e) // ln(1 + exp z), without overflow
		if m.p[i] = 1 / (1 + e); z < 0 {
			m.p[i] = e / (1 + e)
		}
	}
	for j, w := range m.weight {
		sum -= m.prior.lambda[j] / 2 * (w - m.prior.mean[j]) * (w - m.prior.mean[j])
	}
	return sum
}

// gradient sets grad to that of −value by the active weights.
func (m *logistic) gradient(grad []float64, examples []example) {
	for i, a := range m.active {
		grad[i] = m.prior.lambda[a] * (m.weight[a] - m.prior.mean[a])
	}
	for e := range examples {
		x := &examples[e].x
		miss := m.p[e] - examples[e].y
		for i, a := range m.active {
			grad[i] += miss * x[a]
		}
	}
}

// hessian sets hess to that of −value by the active weights.
func (m *logistic) hessian(hess *mat.SymDense, examples []example) {
	k := len(m.active)
	sum := make([]float64, k*k)
	for e := range examples {
		x := &examples[e].x
		curve := m.p[e] * (1 - m.p[e])
		for i, a := range m.active {
			for j, b := range m.active[:i+1] {
				sum[j*k+i] += curve * x[a] * x[b]
			}
		}
	}
	for i, a := range m.active {
		sum[i*k+i] += m.prior.lambda[a]
	}
	hess.CopySym(mat.NewSymDense(k, sum))
}

func (m *logistic) probability(x *[parts]float64) float64 {
	return 1 / (1 + math.Exp(-m.logit(x)))
}

func (m *logistic) logit(x *[parts]float64) (z float64) {
	for j, v := range x {
		z += m.weight[j] * v
	}
	return z
}

// sum returns the expected number of relevant ones among n examples, given by
// at, and its variance. That is the draws', Σ p(1−p), and the weights', gᵀH⁻¹g
// with g = Σ p(1−p)x (the delta method).
func (m *logistic) sum(n int, at func(i int) *[parts]float64) (total, variance float64) {
	g := mat.NewVecDense(len(m.active), nil)
	for i := range n {
		x := at(i)
		p := m.probability(x)
		total += p
		variance += p * (1 - p)
		for k, a := range m.active {
			g.SetVec(k, g.AtVec(k)+p*(1-p)*x[a])
		}
	}
	var h mat.VecDense
	if err := m.cov.SolveVecTo(&h, g); err == nil {
		variance += mat.Dot(g, &h)
	}
	return total, variance
}
