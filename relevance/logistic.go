package relevance

import "math"

// logistic is a logistic model that learns one example at a time, by AdaGrad
// (Duchi, Hazan and Singer 2011).
type logistic struct {
	weight [parts]float64
	square [parts]float64 // of the gradients, summed
}

// prior is what the weights begin with: on topic is what pages on topic link to
// with words on topic. Chosen by hand in round numbers, looking at crawls of
// wikispeedia for Astronomy, Biology, IT and Religion.
var prior = [parts]float64{
	partBias:        -2.5,
	partMeanProb:    2,
	partMaxProb:     2,
	partParents:     0.3,
	partOnTopic:     0.5,
	partShare:       0.5,
	partMaxAnchor:   0.5,
	partMeanAnchor:  0.25,
	partMaxContext:  0.4,
	partMeanContext: 0.2,
	partHost:        0.5,
	partNav:         -0.5,
}

const (
	learnRate = 0.05
	// firstSquare keeps the first steps from being the largest.
	firstSquare = 1
)

func newLogistic() logistic {
	m := logistic{weight: prior}
	for i := range m.square {
		m.square[i] = firstSquare
	}
	return m
}

func (m *logistic) probability(x [parts]float64) float64 {
	z := 0.0
	for i, v := range x {
		z += m.weight[i] * v
	}
	return 1 / (1 + math.Exp(-z))
}

// learn moves the weights towards what a page turned out to be, y in [0,1].
func (m *logistic) learn(x [parts]float64, y float64) {
	miss := y - m.probability(x)
	for i, v := range x {
		g := miss * v
		m.square[i] += g * g
		m.weight[i] += learnRate * g / math.Sqrt(m.square[i])
	}
}
