package learned

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWarmUp: what is added to the weights at the beginning fades by a factor e in warmUpPages pages,
// and does not change what is learned.
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

// TestLogisticLearns draws pages from a model whose weights are not the first ones, two of its features
// nearly alike: what is learned must come near it in probability, and tell the two apart.
func TestLogisticLearns(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	m := newLogistic(true, true)
	m.age(math.Inf(1))
	truth := m
	truth.weight[featHost] += 1.5
	truth.weight[featHub] -= 1
	truth.weight[featNear] += 0.5
	first, late, best := 0.0, 0.0, 0.0
	const pages = 4000
	for i := range pages {
		x := featureVector{featBias: 1, featMeanParent: 3 * rng.Float64()}
		x[featHost], x[featLinkWord] = rng.NormFloat64(), rng.NormFloat64()
		x[featHub] = rng.NormFloat64()
		x[featNear] = x[featHub] + rng.NormFloat64()/4
		x[featAway] = 0.1 * rng.Float64()
		y := 0.0
		if rng.Float64() < truth.probability(&x) {
			y = 1
		}
		loss := func(m *logistic) float64 { return -math.Log(1 - math.Abs(y-m.probability(&x))) }
		switch {
		case i < 200:
			first += loss(&m) - loss(&truth)
		case i >= pages/2:
			late += loss(&m)
			best += loss(&truth)
		}
		m.learn(&x, y)
	}
	if late > best*1.02 {
		t.Errorf("log loss %.4f a page, the truth's %.4f; over the first 200 it was %.4f above", late/pages*2, best/pages*2, first/200)
	}
	if m.weight[featHub] >= prior[featHub] || m.weight[featNear] <= prior[featNear] {
		t.Errorf("weights of hubs %.2f, of links beside %.2f: what goes with both is not told apart", m.weight[featHub], m.weight[featNear])
	}
	steady, x := m, featureVector{featBias: 1, featHost: 1, featLabels: -2}
	steady.steady()
	was := steady.weight
	m.learn(&x, 1)
	steady.learn(&x, 1)
	if slow, fast := steady.weight[featHost]-was[featHost], m.weight[featHost]-was[featHost]; slow <= 0 || slow > fast/5 {
		t.Errorf("a page adds %.4g to a steadied model's weight and %.4g to the other's", slow, fast)
	}
	if steady.weight[featLabels] != prior[featLabels] {
		t.Errorf("what people say has weight %v, want %v", steady.weight[featLabels], prior[featLabels])
	}
	if m.weight[featAway] != prior[featAway] {
		t.Errorf("distance has weight %v, want that of the doubt, %v", m.weight[featAway], prior[featAway])
	}
}
