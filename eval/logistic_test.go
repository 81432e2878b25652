package eval

import (
	"math"
	"math/rand/v2"
	"testing"

	"fossick/internal/stats"
)

func randomExamples(r *rand.Rand, n int, weight [parts]float64) []example {
	out := make([]example, n)
	for i := range out {
		x := &out[i].x
		x[partBias] = 1
		z := weight[partBias]
		for j := 1; j < parts; j++ {
			x[j] = r.NormFloat64()
			z += weight[j] * x[j]
		}
		if r.Float64() < 1/(1+math.Exp(-z)) {
			out[i].y = 1
		}
	}
	return out
}

// At the optimum the slope is 0 along each free weight and not positive along each bound one.
func TestFitLogisticOptimum(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 7))
	for round := range 50 {
		var weight [parts]float64
		for j := range weight {
			weight[j] = r.NormFloat64() * 1.5 // half of them negative
		}
		examples := randomExamples(r, 20+r.IntN(300), weight)
		p := newPrior(round%2 == 1)
		m := fitLogistic(examples, p)
		free := map[int]bool{}
		for _, j := range m.active {
			free[j] = true
		}
		for j := range parts {
			slope := -p.lambda[j] * (m.weight[j] - p.mean[j])
			for i := range examples {
				slope += (examples[i].y - m.probability(&examples[i].x)) * examples[i].x[j]
			}
			switch {
			case free[j] && math.Abs(slope) > 1e-3:
				t.Errorf("round %d: slope %g along weight %d = %g, want 0", round, slope, j, m.weight[j])
			case !free[j] && m.weight[j] != 0:
				t.Errorf("round %d: weight %d is bound and %g", round, j, m.weight[j])
			case j != partBias && m.weight[j] < 0:
				t.Errorf("round %d: weight %d = %g is negative", round, j, m.weight[j])
			}
		}
	}
}

// One class alone, or constant features, must not break the fit.
func TestFitLogisticDegenerate(t *testing.T) {
	for _, y := range []float64{0, 1} {
		examples := make([]example, 40)
		for i := range examples {
			examples[i] = example{[parts]float64{1, 3, 3, 1, 3, 3, 0}, y}
		}
		m := fitLogistic(examples, newPrior(false))
		if p := m.probability(&examples[0].x); !(math.Abs(p-y) <= 0.05) {
			t.Errorf("all of class %g: probability %g", y, p)
		}
		if n, v := m.sum(40, func(i int) *[parts]float64 { return &examples[i].x }); !(math.Abs(n-40*y) <= 2) || v < 0 || math.IsNaN(v) {
			t.Errorf("all of class %g: sum %g ± %g²", y, n, v)
		}
	}
}

// Over many samples, the sum must lie within 1.96 deviations about 95 times in 100.
func TestLogisticSum(t *testing.T) {
	// By hand: without examples the weights are the prior means, 1 for the promise, and the Hessian
	// is λ, 0.01 for the bias. Promises of ln 3 and −ln 3 have p = ¾ and ¼ and p(1−p) = 3/16 each. So
	// the sum is 1, g is 3/8 along the bias, and the variance is 3/8 + (3/8)²/0.01.
	m := fitLogistic(nil, newPrior(true))
	two := [][parts]float64{{partBias: 1, partPromise: math.Log(3)}, {partBias: 1, partPromise: -math.Log(3)}}
	total, variance := m.sum(2, func(i int) *[parts]float64 { return &two[i] })
	checkNear(t, "two chances", total, 1)
	checkNear(t, "their variance", variance, 0.375+0.140625/0.01)
	r := rand.New(rand.NewPCG(4, 1))
	weight := [parts]float64{-2, 0.8, 0.5, 0.6, 0.4, 0.3, 0.2}
	const rounds = 200
	held := 0
	for range rounds {
		m := fitLogistic(randomExamples(r, 400, weight), newPrior(false))
		targets := randomExamples(r, 600, weight)
		truth := 0.0
		for _, e := range targets {
			truth += e.y
		}
		n, v := m.sum(len(targets), func(i int) *[parts]float64 { return &targets[i].x })
		if math.Abs(n-truth) < stats.Z95*math.Sqrt(v) {
			held++
		}
	}
	if share := float64(held) / rounds; share < 0.88 || share > 0.99 {
		t.Errorf("%.3f of the sums lie within 1.96 deviations, want about 0.95", share)
	}
}

// TestFitLogisticPromises: when scores are probabilities and all fetched pages had the same one,
// the observed odds shift the odds of other URLs. Otherwise the scores say nothing about them.
func TestFitLogisticPromises(t *testing.T) {
	at := func(p float64) (x [parts]float64) {
		x[partBias], x[partPromise] = 1, logOdds(p)
		return x
	}
	var examples []example
	for i := range 200 { // scored 0.8, half of them relevant
		examples = append(examples, example{at(0.8), float64(i % 2)})
	}
	low := at(0.01)
	odds := func(p float64) float64 { return p / (1 - p) }
	want := odds(0.01) / odds(0.8)
	if got := odds(fitLogistic(examples, newPrior(true)).probability(&low)); !(math.Abs(math.Log(got/want)) <= 0.5) {
		t.Errorf("odds %.4f for what is promised .01, want near %.4f", got, want)
	}
	if got := fitLogistic(examples, newPrior(false)).probability(&low); got < 0.1 {
		t.Errorf("probability %.4f without knowing that scores are probabilities, want more than .1", got)
	}
}
