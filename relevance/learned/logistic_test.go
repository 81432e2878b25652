package learned

import (
	"math"
	"testing"
)

// TestYoung: what is added to the weights at the beginning fades by a factor e in
// childhood pages, and does not change what is learned.
func TestYoung(t *testing.T) {
	m := newLogistic(true, false)
	for _, pages := range []float64{0, childhood, 5 * childhood} {
		m.age(pages)
		for part := range prior {
			if want := prior[part] + young[part]*math.Exp(-pages/childhood); math.Abs(m.at(part)-want) > 1e-12 {
				t.Errorf("after %v pages part %d has weight %v, want %v", pages, part, m.at(part), want)
			}
		}
	}
	var x [parts]float64
	x[partLinkWord] = 1
	before := m.weight[partLinkWord]
	m.learn(x, 1)
	if m.weight[partLinkWord] <= before {
		t.Error("a page on topic does not raise the weight of what its link had")
	}
}
