package netstate

import "math"

// experts is how many there are, the constant one included.
const experts = 7

// opinions are the experts' chances, as logits.
type opinions [experts]float64

// mixer weighs opinions: the chance is σ(Σ w·x), and the weights follow the gradient of
// the log loss (online logistic regression, as Mahoney 2005 mixes models). There
// is one set of weights for each outcome of the URL's last visit.
type mixer struct {
	weights, squares [classes]opinions
}

const (
	pace    = .2 // of learning; tuned on the made webs of the tests, as settled is
	settled = 30 // squares of gradients before any: the first failures do not turn weights over
	widest  = 7. // logits are cut there: a chance of .999
)

// newMixer trusts first the table that knows most.
func newMixer() mixer {
	var m mixer
	for i := range m.weights {
		m.weights[i] = opinions{.3, .1, .3, .1, .1, .1, 0}
		for k := range m.squares[i] {
			m.squares[i][k] = settled
		}
	}
	return m
}

func logit(p float64) float64 {
	return min(max(math.Log(p/(1-p)), -widest), widest)
}

func (m *mixer) chance(set Outcome, x *opinions) float64 {
	sum := 0.0
	for i, w := range m.weights[set] {
		sum += w * x[i]
	}
	return 1 / (1 + math.Exp(-min(max(sum, -widest), widest)))
}

// learn takes one step along the gradient, each weight at a pace by the gradients it had
// (AdaGrad, Duchi et al. 2011).
func (m *mixer) learn(set Outcome, x *opinions, good bool) {
	miss := float64(index(good)) - m.chance(set, x)
	for i := range x {
		g := miss * x[i]
		m.squares[set][i] += g * g
		m.weights[set][i] += pace * g / math.Sqrt(m.squares[set][i])
	}
}
