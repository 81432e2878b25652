package learned

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/internal/page"
)

// orderOf returns an order with these weights of pages, in any state, and none of links.
func orderOf(pages map[int]float32) *Order {
	o := new(Order)
	for i, w := range pages {
		o.pages[i][stateOne] = w
	}
	return o
}

// plainOrder weighs the links as the shipped order does in no state, and pages by the judge, the prior and the
// start pages.
func plainOrder() *Order {
	o := orderOf(map[int]float32{viewJudged: 1, viewRise: 1, viewAlike: 1})
	for i, w := range map[int]float32{
		featBias: -3.5, featMeanParent: 1, featOnTopic: .2, featBestAnchor: .6, featMeanAnchor: .6, featMeanWord: 2, featLinkWord: 1,
		featOver: .5, featEnding: .8, featHub: .8, featNear: .7, featHost: .2, featFolder: .2, featNav: -.5, featYield: .2,
	} {
		o.links[i] = state{stateOne: w}
	}
	o.spread = flat(.02)
	return o
}

func TestReadOrder(t *testing.T) {
	o, err := ReadOrder(shippedOrder)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range slices.Concat(o.links[:], o.pages[:]) {
		for j, w := range s {
			if math.IsNaN(float64(w)) || math.Abs(float64(w)) > 20 {
				t.Errorf("weight %d in state %d is %g", i, j, w)
			}
		}
	}
	for i, v := range o.spread {
		if !(v >= 0 && v < 1000) {
			t.Errorf("spread %d is %g", i, v)
		}
	}
	for _, bad := range [][]byte{nil, shippedOrder[1:], append(shippedOrder[:len(shippedOrder):len(shippedOrder)], 0)} {
		if _, err := ReadOrder(bad); err == nil {
			t.Errorf("%d bytes are an order", len(bad))
		}
	}
}

// TestOrderWeights: weights are linear in the crawl's state, and the two that no data decide are fixed.
func TestOrderWeights(t *testing.T) {
	o := new(Order)
	o.links[featHost][stateOne], o.links[featHost][stateFew] = 0.5, -0.25
	o.links[featDegree][stateOne] = -9
	for few, want := range map[float32]float64{0: 0.5, 1: 0.25, 2: 0} {
		w := o.weights(&state{stateOne: 1, stateFew: few})
		if w[featHost] != want || w[featDegree] != degreeWeight || w[featLabels] != 1 {
			t.Errorf("state %g: weight of the host %g, want %g; of R %g, of labels %g", few, w[featHost], want, w[featDegree], w[featLabels])
		}
	}
}

// TestGauges: evidence that predicted the outcomes gains, evidence that misled loses.
func TestGauges(t *testing.T) {
	var g gauges
	rng := rand.New(rand.NewPCG(1, 3))
	for range 200 {
		y := float64(rng.IntN(2))
		var x featureVector
		x[featHub], x[featNear] = 2*(2*y-1), -2*(2*y-1)
		g.add(&x, y, 0)
	}
	of := func(feature int) float64 { return g.sum[slices.Index(gauged[:], feature)] / g.pages }
	// ln(1/2) against ln σ(2) and ln σ(−2)
	for feature, want := range map[int]float64{featHub: 0.566, featNear: -1.434, featHost: 0} {
		if got := of(feature); math.Abs(got-want) > 1e-3 {
			t.Errorf("feature %d gains %.3f, want %.3f", feature, got, want)
		}
	}
}

// TestBelieve: the order weighs what is seen of a page.
func TestBelieve(t *testing.T) {
	for _, test := range []struct {
		name    string
		weights map[int]float32
		share   float64
		want    float64 // probability of a page that the judge gives .1
	}{
		{"the judge", map[int]float32{viewJudged: 1}, 0.1, 0.1},
		{"half the judge", map[int]float32{viewJudged: .5}, 0.1, 0.25},
		{"the prior of an unknown share", map[int]float32{viewJudged: 1, viewRise: 1}, 0, 0.1},
		{"the prior", map[int]float32{viewJudged: 1, viewRise: 1}, 0.1, 0.5},
	} {
		l := New(goldJudge, Options{Cut: 0.5, Share: test.share, Order: orderOf(test.weights)})
		l.model.base.odds = 0
		if got, _ := l.believe("http://a.test/", 1, nil, 0.1); math.Abs(got-test.want) > 1e-6 {
			t.Errorf("%s: %.4f, want %.4f", test.name, got, test.want)
		}
	}
}

// TestUnknownStarts checks the share of start pages that the judge does not recognise.
func TestUnknownStarts(t *testing.T) {
	for _, test := range []struct {
		judged   []float64
		trained  int
		from, to float64
	}{
		{[]float64{.98, .98, .98, .98}, 0, 0, .05},
		{[]float64{.003, .003, .003, .003}, 0, .95, 1},
		{[]float64{.98, .003, .98, .003}, 0, .45, .55},
		{[]float64{.98, .98, .98, .98}, 4, 1, 1}, // it was trained on them
		{[]float64{.98}, 0, .6, .7},
	} {
		l := New(goldJudge, Options{Cut: 0.5, Share: 0.01})
		for i, p := range test.judged {
			url := fmt.Sprintf("http://s.test/%d", i)
			l.Start(page.Key(url), i < test.trained)
			l.ScorePage(&page.Page{URL: url}, p)
		}
		if got := l.model.judge.unknown; got < test.from || got > test.to {
			t.Errorf("%v: %.3f are unknown, want %g to %g", test.judged, got, test.from, test.to)
		}
	}
}

// TestLargerRFirst: of two targets that differ in R alone the larger R comes first, in any state of the crawl.
func TestLargerRFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	l := New(goldJudge, Options{Cut: 0.5})
	for range 200 {
		for j := range l.model.state {
			l.model.state[j] = rng.Float32()
		}
		l.model.weights.learned = l.model.order.weights(&l.model.state)
		x := randomFeatures(rng)
		l.model.weights.learn(&x, rng.Float64())
		e := evidence{host: &record{}, folder: &record{}, sources: [maxSources]*source{{}}, parents: 1, prob: extreme{rng.Float32(), 0}, depth: uint8(rng.IntN(9)), degree: rng.Float32() / 2}
		better := e
		better.degree += 0.25
		if less, more := l.model.promise(&e, nil), l.model.promise(&better, nil); !(more > less) {
			t.Fatalf("R %.2f has %g, R %.2f has %g", e.degree, less, better.degree, more)
		}
	}
}
