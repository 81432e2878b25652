package revisit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSimulationCountsRight: what is expected between visits is what a web that changes now and
// then has on the average, stepped through a thousandth of a day at a time.
func TestSimulationCountsRight(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := Web{Pages: []Page{{Rate: 0.7, Weight: 1, Last: -0.5}}}
	visits := []float64{1, 1.5, 4}
	const end, runs, dt = 6.0, 4000, 0.01
	fresh, age := 0.0, 0.0
	for range runs {
		stale, next := -0.5+rng.ExpFloat64()/0.7, 0
		for now := dt / 2; now < end; now += dt {
			if next < len(visits) && now > visits[next] {
				stale = visits[next] + rng.ExpFloat64()/0.7
				next++
			}
			if now < stale {
				fresh += dt / runs
			} else {
				age += (now - stale) * dt / runs
			}
		}
	}
	sim := newSimulation(w, rng)
	for _, at := range visits {
		sim.count(0, at)
		sim.copied[0] = at
	}
	if m := sim.measure(end); math.Abs(m.Fresh-fresh) > 0.06 || math.Abs(m.Age-age) > 0.1 {
		t.Errorf("fresh for %.3f days, age %.3f days²; counted %.3f, %.3f", m.Fresh, m.Age, fresh, age)
	}
}

// TestSimulatedUniform: one page at even intervals is as fresh as Cho and Garcia-Molina's
// formula says.
func TestSimulatedUniform(t *testing.T) {
	var pages []Page
	for range 50 {
		pages = append(pages, Page{Rate: 0.5, Weight: 0.02, Last: -1})
	}
	w := Web{Pages: pages}
	s := started(t, pages, Options{Policy: "uniform", Budget: 25})
	m := Simulate(w, s, []float64{10, 110}, rand.New(rand.NewPCG(1, 2)))[0]
	if want := Fresh(0.5, 0.5); math.Abs(m.Fresh-want) > 1e-3 || m.Visits < 2499 || m.Visits > 2501 || math.Abs(m.Even-want) > 1e-3 {
		t.Errorf("got %+v, want %.4f", m, want)
	}
}

// TestWebLaws: weights add up to 1, rates and weights have the shapes that are said.
func TestWebLaws(t *testing.T) {
	w := NewWeb(rand.New(rand.NewPCG(1, 2)), Laws{Pages: 50_000, Signals: 0.2})
	sum, fast, signals := 0.0, 0.0, 0.0
	for _, p := range w.Pages {
		if sum += p.Weight; p.Rate > 0.5 {
			fast += 1.0 / 50_000
		}
		if p.Signals {
			signals += 1.0 / 50_000
		}
	}
	if math.Abs(sum-1) > 1e-9 || math.Abs(fast-math.Pow(10, -0.75)) > 0.01 || math.Abs(signals-0.2) > 0.01 {
		t.Errorf("weights %g, %.3f faster than a change in two days, %.3f with signals", sum, fast, signals)
	}
}
