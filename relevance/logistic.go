package relevance

import "math"

// logistic is a logistic model that learns one example at a time, by AdaGrad
// (Duchi, Hazan and Singer 2011).
type logistic struct {
	weight [parts]float64
	square [parts]float64 // of the gradients, summed
}

const (
	learnRate = 0.05
	// firstSquare keeps the first steps from being the largest.
	firstSquare = 1
)

// newLogistic returns the model as it begins; background says whether partOver is
// known.
func newLogistic(background bool) logistic {
	m := logistic{weight: prior}
	if !background {
		m.weight[partMeanWord] = wordAlone
	}
	for i := range m.square {
		m.square[i] = firstSquare
	}
	return m
}

func (m *logistic) probability(x *[parts]float64) float64 {
	z := 0.0
	for i, v := range x {
		z += m.weight[i] * v
	}
	return 1 / (1 + math.Exp(-z))
}

// learn moves the weights towards what a page turned out to be, y in [0,1].
func (m *logistic) learn(x [parts]float64, y float64) {
	miss := y - m.probability(&x)
	for i, v := range x {
		g := miss * v
		m.square[i] += g * g
		m.weight[i] += learnRate * g / math.Sqrt(m.square[i])
	}
}
