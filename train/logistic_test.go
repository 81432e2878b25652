package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"fossick/models/features"
)

// randomRows returns rows of terms whose values say something of their class.
func randomRows(rng *rand.Rand, n, terms, classes int) (rows []features.Vector, y []int) {
	rows, y = make([]features.Vector, n), make([]int, n)
	for i := range rows {
		y[i] = rng.IntN(classes)
		for k := range int32(terms) {
			if rng.IntN(2) == 0 {
				v := rng.NormFloat64()
				if int(k) == y[i] {
					v++
				}
				rows[i].Index, rows[i].Value = append(rows[i].Index, k), append(rows[i].Value, float32(v))
			}
		}
	}
	return rows, y
}

// TestSoftmaxGradient holds the gradient against differences of the objective.
func TestSoftmaxGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	rows, y := randomRows(rng, 20, 4, 3)
	m := &multinomial{rows: rows, y: y, classes: 3, c: 2}
	w, grad := make([]float64, 15), make([]float64, 15)
	for i := range w {
		w[i] = rng.NormFloat64()
	}
	m.gradient(grad, w)
	for i := range w {
		const d = 1e-5
		w[i] += d
		up := m.loss(w)
		w[i] -= 2 * d
		down := m.loss(w)
		w[i] += d
		if got := (up - down) / (2 * d); !(math.Abs(got-grad[i]) <= 1e-4) {
			t.Errorf("gradient %d is %v, the difference quotient %v", i, grad[i], got)
		}
	}
}

// TestSoftmaxMinimum: the objective is convex, so where its gradient is nothing it
// has its minimum; from there no weight's move helps.
func TestSoftmaxMinimum(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	rows, y := randomRows(rng, 60, 6, 4)
	m := &multinomial{rows: rows, y: y, classes: 4, c: 5}
	w := m.fit(context.Background(), 6, 1e-14, 1000)
	grad := make([]float64, len(w))
	at := m.loss(w)
	m.gradient(grad, w)
	if norm := floats.Norm(grad, 2); norm > 1e-3 {
		t.Errorf("gradient of length %v where the descent ended, at %v", norm, at)
	}
	again := (&multinomial{rows: rows, y: y, classes: 4, c: 5}).fit(context.Background(), 6, 1e-14, 1000)
	if !slices.Equal(w, again) {
		t.Error("the same rows gave other weights")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if w := m.fit(ctx, 6, 1e-14, 1000); len(w) != len(again) {
		t.Errorf("%d weights where the run had ended before, want %d", len(w), len(again))
	}
	if from := m.loss(make([]float64, len(w))); at >= from {
		t.Errorf("objective %v, %v at the start", at, from)
	}
}

func TestLosses(t *testing.T) {
	set := toy(120, "bank", "code", "star")
	for _, loss := range []Loss{"", Hinge, Logistic, BestLoss} {
		m, rep, err := Train(context.Background(), stream(set), Options{Method: Method{Classifier: "linear", Loss: loss}, Seed: 1})
		if err != nil {
			t.Fatalf("%q: %v", loss, err)
		}
		if rep.CV.Accuracy < 0.95 {
			t.Errorf("%q: %.3f right in cross-validation", loss, rep.CV.Accuracy)
		}
		if _, logistic := m.Card.Settings["logistic_c"]; loss != BestLoss && logistic != (loss == Logistic) {
			t.Errorf("%q: settings %v", loss, m.Card.Settings)
		}
	}
}
