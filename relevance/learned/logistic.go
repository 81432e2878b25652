package learned

import "math"

// logistic is a logistic model that learns one example at a time, by AdaGrad
// (Duchi, Hazan and Singer 2011).
type logistic struct {
	weight featureVector
	square featureVector  // of the gradients, summed
	warmUp *featureVector // warmUp or taughtWarmUp
	fade   float64        // of warmUp
}

const (
	learnRate = 0.05
	// firstSquare keeps the first steps from being the largest.
	firstSquare = 1
)

// newLogistic returns the model as it begins; background says whether featOver is
// known, taught whether there was a WarmStart.
func newLogistic(background, taught bool) logistic {
	m := logistic{weight: prior, warmUp: &warmUp, fade: 1}
	if taught {
		m.warmUp = &taughtWarmUp
	}
	if !background {
		m.weight[featMeanWord] = wordAlone
	}
	for i := range m.square {
		m.square[i] = firstSquare
	}
	return m
}

// at is the weight of a feature now.
func (m *logistic) at(part int) float64 { return m.weight[part] + m.fade*m.warmUp[part] }

// age takes in how many pages the crawl has.
func (m *logistic) age(pages float64) { m.fade = math.Exp(-pages / warmUpPages) }

func (m *logistic) probability(x *featureVector) float64 {
	z := 0.0
	for i, v := range x {
		z += m.at(i) * v
	}
	return 1 / (1 + math.Exp(-z))
}

// learn moves the weights towards what a page turned out to be, y in [0,1].
func (m *logistic) learn(x *featureVector, y float64) {
	miss := y - m.probability(x)
	for i, v := range x {
		g := miss * v
		m.square[i] += g * g
		m.weight[i] += learnRate * g / math.Sqrt(m.square[i])
	}
}
