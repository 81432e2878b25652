package eval

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
)

// example is a URL's features before its fetch, and whether it proved relevant.
type example struct {
	x [parts]float64
	y float64
}

type logistic struct {
	weight [parts]float64
	active []int // features with a free weight; the others are bound at 0
	prior  prior
	cov    *mat.Cholesky // Cholesky factor of the Hessian over the active weights; its inverse is their covariance
	p      []float64     // probability of each example at the weights of the last value call
}

// fitLogistic fits P(y=1|x) = 1/(1+exp(−w·x)) by penalised maximum likelihood,
//
//	max Σ log P(yᵢ|xᵢ) − ½ Σⱼ λⱼ (wⱼ − μⱼ)²,   wⱼ ≥ 0 for every weight but the bias.
//
// It runs gonum's Newton method on the free weights, binds the most negative one to 0, and repeats.
// The bound keeps weaker evidence from raising a probability: the model is applied far from its
// examples, where a weight with the wrong sign by chance would do most harm.
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
	// penalty is λ of the weights; biasPenalty keeps the bias finite when all pages are relevant.
	penalty     = 3
	biasPenalty = 0.01

	// slopePenalty is λ of partPromise around 1 for probability scores; see docs/eval.md.
	slopePenalty = 30

	maxNewton = 50
	leastGain = 1e-10 // relative: a step that gains less is the last
)

// prior is the Gaussian prior of each weight: mean μ and precision λ.
type prior struct{ mean, lambda [parts]float64 }

// newPrior returns a weak prior. When the crawls' scores are probabilities, the weight of their
// log-odds has mean 1. A crawl fetches the URLs it scores highest, so the fetched URLs alone teach
// little about low scores.
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

// newton maximises over the active weights from their current values, and factors the Hessian there.
func (m *logistic) newton(examples []example) {
	from := make([]float64, len(m.active))
	for i, j := range m.active {
		from[i] = m.weight[j]
	}
	problem := optimize.Problem{
		Func: func(w []float64) float64 { m.set(w); return -m.value(examples) },
		// With one task and these steps, gonum asks for derivatives where it last called Func.
		Grad: func(grad, _ []float64) { m.gradient(grad, examples) },
		Hess: func(hess *mat.SymDense, _ []float64) { m.hessian(hess, examples) },
	}
	settings := &optimize.Settings{
		Converger:       &optimize.FunctionConverge{Relative: leastGain, Iterations: 1},
		MajorIterations: maxNewton,
	}
	// An error means that no step improves the value: it is the maximum up to rounding.
	result, _ := optimize.Minimize(problem, from, settings, &optimize.Newton{Linesearcher: &optimize.Backtracking{}})
	m.set(result.X)
	m.value(examples)
	hess := mat.NewSymDense(len(m.active), nil)
	m.hessian(hess, examples)
	m.cov = &mat.Cholesky{}
	m.cov.Factorize(hess) // the penalty makes it positive definite
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

// gradient sets grad to the gradient of −value over the active weights.
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

// hessian sets hess to the Hessian of −value over the active weights.
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

// sum returns the expected number of relevant URLs among n feature vectors, and its variance:
// Σ p(1−p) for the draws plus gᵀH⁻¹g, g = Σ p(1−p)x, for the weights (delta method).
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
