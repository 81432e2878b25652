package models

import (
	"fmt"

	"fossick/models/features"
)

// Linear has a score for each class: s_c = bias_c + Σ_i w_ic · x_i. Support
// vector machines and naive Bayes both end as one.
type Linear struct {
	Weights []float32 // term·classes + class, so that a term's weights lie together
	Bias    []float32 // by class
}

func (l *Linear) check(terms, classes int) error {
	if len(l.Bias) != classes || len(l.Weights) != terms*classes {
		return fmt.Errorf("model of %d terms and %d classes with %d weights and %d biases",
			terms, classes, len(l.Weights), len(l.Bias))
	}
	if !finite(l.Weights) || !finite(l.Bias) {
		return fmt.Errorf("model with weights that are not numbers")
	}
	return nil
}

// Scores sets dst, which has a place for each class, to the scores of x.
func (l *Linear) Scores(dst []float64, x features.Vector) {
	k := len(l.Bias)
	for c := range dst {
		dst[c] = float64(l.Bias[c])
	}
	for j, i := range x.Index {
		v := float64(x.Value[j])
		row := l.Weights[int(i)*k:][:len(dst)]
		for c, w := range row {
			dst[c] += v * float64(w)
		}
	}
}
