package change

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBelief compares the belief with Bayes' rule, multiplied out gap by gap.
func TestBelief(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	prior := newLearner().population
	for range 200 {
		var e visitSums
		want := prior
		for range 1 + rng.IntN(6) {
			gap := math.Exp(rng.NormFloat64())
			if changed := rng.IntN(2) == 0; changed && e.found() > 1 {
				continue // more than two gaps may share a group
			} else if e.add(gap, changed); changed {
				for k := range want {
					want[k] *= -math.Expm1(-rateGrid[k] * gap)
				}
			} else {
				for k := range want {
					want[k] *= math.Exp(-rateGrid[k] * gap)
				}
			}
		}
		if e.changes[0] > 1 || e.changes[1] > 1 {
			continue
		}
		sum := 0.0
		for _, w := range want {
			sum += w
		}
		got := prior.times(e)
		for k := range got {
			if math.Abs(got[k]-want[k]/sum) > 2e-3 {
				t.Fatalf("%+v: rate %g has %.5f, want %.5f", e, rateGrid[k], got[k], want[k]/sum)
			}
		}
	}
}

// TestBeliefOfOneRate: with a nearly certain rate, visits are as for a known one.
func TestBeliefOfOneRate(t *testing.T) {
	for k, rate := range rateGrid {
		var b belief
		b[k] = 1
		for _, price := range []float64{0.001, 0.01, 0.1, 1, 10} {
			want := choRate(price, rate, 1)
			if want > 1/intervalGrid[1] || want < 1/intervalGrid[intervals-2] {
				continue
			}
			if got := b.visits(price, 1); math.Abs(got-want) > 0.03*want {
				t.Errorf("rate %g, price %g: %g visits a day, want %g", rate, price, got, want)
			}
		}
	}
}

// TestDoubtVisits: with equal mean rates, the less certain page is worth a higher price.
func TestDoubtVisits(t *testing.T) {
	var sure, unsure belief
	sure[18], unsure[16], unsure[20] = 1, 0.5, 0.5
	rate := unsure[16]*rateGrid[16] + unsure[20]*rateGrid[20]
	price := 1.05 / rate
	if got := choRate(price, rate, 1); got != 0 {
		t.Errorf("a page of rate %g is worth %g a visit and gets %g", rate, 1/rate, got)
	}
	if got := unsure.visits(price, 1); got == 0 {
		t.Error("a page that may change less often gets none")
	}
}

// TestPopulation: visits to pages of two kinds reveal both kinds and their shares.
func TestPopulation(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	l := newLearner()
	known := make([]visitSums, 3000)
	for i := range known {
		rate := 0.1
		if i%4 == 0 {
			rate = 10
		}
		for range 3 {
			gap := 0.3 + rng.Float64()
			known[i].add(gap, rng.ExpFloat64()/rate < gap)
		}
		l.note(int32(i), rng)
	}
	for range 5 {
		l.fit(func(p int32) visitSums { return known[p] })
	}
	slow, fast, sum := 0.0, 0.0, 0.0
	for k, share := range l.population {
		sum += share
		if rateGrid[k] < 1 {
			slow += share
		} else {
			fast += share
		}
	}
	if math.Abs(slow-0.75) > 0.03 || math.Abs(fast-0.25) > 0.03 || math.Abs(sum-1) > 1e-9 {
		t.Errorf("%.3f slow, %.3f fast, want .75 and .25: %v", slow, fast, l.population)
	}
}

// TestSampleIsFair: pages visited early and late are equally likely in the sample.
func TestSampleIsFair(t *testing.T) {
	l, rng := newLearner(), rand.New(rand.NewPCG(5, 6))
	for i := range int32(10 * sampled) {
		l.note(i, rng)
	}
	early := 0
	for _, page := range l.sample {
		if page < 5*sampled {
			early++
		}
	}
	if len(l.sample) != sampled || math.Abs(float64(early)/sampled-0.5) > 0.05 {
		t.Errorf("%d pages, %d of the first half", len(l.sample), early)
	}
}

func TestEvidence(t *testing.T) {
	var e visitSums
	for _, gap := range []float64{1, 1.5, 30, 40} {
		e.add(gap, true)
	}
	e.add(2, false)
	if e.changes != [2]uint8{2, 2} || e.changed != [2]float32{2.5, 70} || e.unchanged != 2 || e.visits != 5 {
		t.Errorf("groups of like gaps: %+v", e)
	}
	// 4 of 5 changed in 74.5 days: −ln((5 − 4 + ½)/6)·5/74.5.
	if got, want := e.rate(), math.Log(4)*5/74.5; math.Abs(got-want) > 1e-9 {
		t.Errorf("rate %g, want %g", got, want)
	}
	var none visitSums
	if none.add(1, false); !(none.rate() > 0) {
		t.Error("a page seen once without a change is taken never to change")
	}
	for range 1000 {
		e.add(1, true)
	}
	if got := e.rate(); e.visits < 127 || got < 1 {
		t.Errorf("after a thousand visits: %+v, rate %g", e, got)
	}
}

// FuzzBelief: for any visits, probabilities are in [0,1] and add up to 1, and visits is a number.
func FuzzBelief(f *testing.F) {
	f.Add(1.0, 2.0, 0.5, uint8(5), 0.1)
	f.Add(1e-9, 1e9, 1e-12, uint8(255), 1e-30)
	f.Fuzz(func(t *testing.T, a, b, c float64, changed uint8, price float64) {
		var e visitSums
		for i, gap := range []float64{a, b, c, a, b, c} {
			if gap > 0 && gap < 1e6 {
				e.add(gap, changed&(1<<i) != 0)
			}
		}
		prior := newLearner().population
		after := prior.times(e)
		sum := 0.0
		for _, share := range after {
			if !(share >= 0 && share <= 1) {
				t.Fatalf("%+v: %v", e, after)
			}
			sum += share
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("%+v: chances add up to %g", e, sum)
		}
		if price > 0 {
			if visits := after.visits(price, 1); !(visits >= 0) || math.IsInf(visits, 0) {
				t.Fatalf("%+v at %g: %g visits", e, price, visits)
			}
		}
	})
}
