package learned

import "math"

// logistic is a logistic model that learns one example at a time. Its weights are normal
// with a covariance, which each example shrinks along what it shows, by one step of
// Newton's method (Spiegelhalter and Lauritzen 1990). So a sign that always came with
// another is not blamed for it twice, and what was never seen may still move far.
type logistic struct {
	weight     featureVector
	covariance [numFeatures]featureVector
	warmUp     *featureVector // warmUp or taughtWarmUp
	fade       float64        // of warmUp
}

const (
	// firstVariance is how far the first weights may be wrong.
	firstVariance = 0.1
	// leastSlope bounds the slope p·(1−p) of what a model that is sure learns by.
	leastSlope = 0.05
	// steadied is how far the weights may still be wrong once people label pages.
	steadied = 0.1
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
	for i := range m.covariance {
		switch i {
		case featAway, featKin, featLabels: // doubt and people say what these are worth, not the judge's word on pages
		case featDegree: // of two links that differ in R alone that of the larger R comes first
		default:
			m.covariance[i][i] = firstVariance
		}
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

// steady has the model learn slower. Once people have labelled pages, what the others turn
// out to be is the judge's word with a little of theirs, and would unlearn what they say.
func (m *logistic) steady() {
	for i := range m.covariance {
		for j := range m.covariance[i] {
			m.covariance[i][j] *= steadied
		}
	}
}

// learn moves the weights towards what a page turned out to be, y in [0,1]. With x the
// features, C the covariance and s the slope p·(1−p), it adds C·x·(y−p)/(1 + s·xᵀCx) to the
// weights and takes s·C·x·xᵀC/(1 + s·xᵀCx) from C.
func (m *logistic) learn(x *featureVector, y float64) {
	p := m.probability(x)
	slope := max(leastSlope, p*(1-p))
	var cx featureVector
	spread := 0.0
	for i := range cx {
		for j, v := range x {
			cx[i] += m.covariance[i][j] * v
		}
		spread += cx[i] * x[i]
	}
	shrink := 1 + slope*spread
	for i, c := range cx {
		m.weight[i] += c * (y - p) / shrink
		for j := range cx {
			m.covariance[i][j] -= slope * c * cx[j] / shrink
		}
	}
}
