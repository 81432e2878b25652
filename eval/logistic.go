package eval

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// example is a URL as its links described it before it was fetched, and whether
// it turned out to be relevant.
type example struct {
	x [parts]float64
	y float64
}

// logistic is a logistic model with what the data leave open of its weights.
type logistic struct {
	weight [parts]float64
	active []int // parts whose weight is free; those at their bound of 0 are not
	prior  prior
	cov    *mat.Cholesky // of the active weights, inverse: the Hessian's factor
	hess   *mat.SymDense // scratch
	grad   *mat.VecDense // scratch
}

// fitLogistic fits P(y=1|x) = 1/(1+exp(−w·x)) by penalised maximum likelihood,
//
//	max Σ log P(yᵢ|xᵢ) − ½ Σⱼ λⱼ (wⱼ − μⱼ)²,   wⱼ ≥ 0 for every part but the bias,
//
// by Newton's method on the weights that are free; one that turns out negative
// is bound to 0 and the rest are fitted again. Bound so, a page of which the
// links say less good is never the more probable one: the model is used far from
// where it was fitted, and a sign that chance got wrong would be worst there.
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

	// slopePenalty is that of log-odds of a score that is a probability, around 1: of
	// 3 around 0, and 10, 30, 100 and 300 around 1, the best on four sub-topics of Biology in
	// wikispeedia; see docs/recall.md.
	slopePenalty = 30

	maxNewton   = 50
	maxHalvings = 30
)

// prior is what is known of the weights before any example: of each its mean μ, and λ,
// the inverse of its variance.
type prior struct{ mean, lambda [parts]float64 }

// newPrior returns a prior that knows nothing; or, where the crawls' scores are
// probabilities, that log-odds of these are worth what they say, but for what the
// others add. A crawl fetches what it expects most of, so that fetched URLs alone
// tell little of those of which it expects less.
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

// newton maximises over the active weights, beginning where they are. A step that
// makes matters worse is halved until it does not.
func (m *logistic) newton(examples []example) {
	value := m.value(examples)
	for range maxNewton {
		m.derive(examples)
		var step mat.VecDense
		if err := m.cov.SolveVecTo(&step, m.grad); err != nil {
			return // ill-conditioned, which the penalty excludes
		}
		from, size := m.weight, 1.0
		next := math.Inf(-1)
		for range maxHalvings {
			for i, j := range m.active {
				m.weight[j] = from[j] + size*step.AtVec(i)
			}
			if next = m.value(examples); next >= value {
				break
			}
			size /= 2
		}
		if next < value { // at the top, but for rounding
			m.weight = from
			return
		}
		if next-value < 1e-10*(1+math.Abs(value)) {
			break
		}
		value = next
	}
	m.derive(examples)
}

// value is what newton maximises.
func (m *logistic) value(examples []example) float64 {
	sum := 0.0
	for i := range examples {
		z := m.logit(&examples[i].x)
		sum += examples[i].y*z - softplus(z)
	}
	for j, w := range m.weight {
		sum -= m.prior.lambda[j] / 2 * (w - m.prior.mean[j]) * (w - m.prior.mean[j])
	}
	return sum
}

// softplus is ln(1+eᶻ) without overflow.
func softplus(z float64) float64 {
	return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
}

// derive computes gradient and Hessian at the present weights.
func (m *logistic) derive(examples []example) {
	k := len(m.active)
	grad, hess := make([]float64, k), make([]float64, k*k)
	for e := range examples {
		x := &examples[e].x
		p := m.probability(x)
		miss, curve := examples[e].y-p, p*(1-p)
		for i, a := range m.active {
			grad[i] += miss * x[a]
			for j, b := range m.active[:i+1] {
				hess[j*k+i] += curve * x[a] * x[b]
			}
		}
	}
	for i, a := range m.active {
		grad[i] -= m.prior.lambda[a] * (m.weight[a] - m.prior.mean[a])
		hess[i*k+i] += m.prior.lambda[a]
	}
	m.grad, m.cov = mat.NewVecDense(k, grad), &mat.Cholesky{}
	m.cov.Factorize(mat.NewSymDense(k, hess)) // positive definite by the penalty
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
// at, and its variance: of the draws, Σ p(1−p), and of the weights, gᵀH⁻¹g with
// g = Σ p(1−p)x (the delta method).
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
