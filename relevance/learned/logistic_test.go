package learned

import (
	"math"
	"testing"
)

// TestWarmUp: what is added to the weights at the beginning fades by a factor e in
// warmUpPages pages, and does not change what is learned.
func TestWarmUp(t *testing.T) {
	m := newLogistic(true, false)
	for _, pages := range []float64{0, warmUpPages, 5 * warmUpPages} {
		m.age(pages)
		for i := range prior {
			if want := prior[i] + warmUp[i]*math.Exp(-pages/warmUpPages); math.Abs(m.at(i)-want) > 1e-12 {
				t.Errorf("after %v pages feature %d has weight %v, want %v", pages, i, m.at(i), want)
			}
		}
	}
	var x featureVector
	x[featLinkWord] = 1
	before := m.weight[featLinkWord]
	m.learn(&x, 1)
	if m.weight[featLinkWord] <= before {
		t.Error("a page on topic does not raise the weight of what its link had")
	}
}
