package train

import (
	"math"
	"testing"
)

// TestBlended mixes scores by hand: the machine errs on page 2, naive Bayes on
// page 1, and each is sure where the other errs.
func TestBlended(t *testing.T) {
	y := []int{0, 0, 1}
	machine := &heldOut{learner: linear{}, score: 2. / 3, scores: [][]float64{{1, -1}, {1, -1}, {0.1, -0.1}}}
	nb := &heldOut{learner: bayes{complement: true}, score: 2. / 3, scores: [][]float64{{10, -10}, {-1, 1}, {-10, 10}}}
	h := blended(machine, nb, y)
	b, ok := h.learner.(blend)
	if !ok || h.score != 1 || b.share != 0.1 {
		t.Fatalf("blend %+v with accuracy %v; want the smallest share, 0.1, with 1", h.learner, h.score)
	}
	// Spreads: √((1+1+0.01)/3) and √((100+1+100)/3), a tenth.
	if !(math.Abs(b.ratio-0.1) <= 1e-12) || !(math.Abs(b.factor()-0.1/9) <= 1e-12) {
		t.Errorf("ratio %v, factor %v; want 0.1 and 0.0111", b.ratio, b.factor())
	}
	// About the mean of each page: 1, 1, 0, 0, 4 and 4 squared deviations.
	if got := spread([][]float64{{1, 3}, {2, 2}, nil, {0, 4}}); !(math.Abs(got-math.Sqrt(10./6)) <= 1e-12) {
		t.Errorf("spread %v, want √(10/6)", got)
	}
	if machine.scores[2][0] != 0.1 {
		t.Error("the machine's scores were changed")
	}
	nb.scores[2] = []float64{10, -10} // now naive Bayes errs wherever the machine does
	if h := blended(machine, nb, y); h != machine {
		t.Errorf("blend %+v; want the machine alone, which is no worse", h.learner)
	}
	nb.scores = [][]float64{{0, 0}, {0, 0}, {0, 0}}
	if h := blended(machine, nb, y); h != machine {
		t.Errorf("blend %+v with scores all equal; want the machine alone", h.learner)
	}
}
