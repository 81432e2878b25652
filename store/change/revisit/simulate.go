package revisit

import (
	"math"
	"math/rand/v2"
)

// Measured is how good the copies of a web were over some days.
type Measured struct {
	Fresh  float64 // share of time for which copies are as the pages are, by weight, in [0,1]
	Even   float64 // the same, all pages alike
	Age    float64 // days since a stale copy's page changed first; 0 of a fresh one; by weight
	Visits int
}

// simulation is a web in time. Changes are memoryless, so that one time a page is enough: when
// its copy becomes stale.
type simulation struct {
	web    Web
	rng    *rand.Rand
	stale  []float64 // by page; in the past where it is stale
	since  []float64 // what is before is measured
	copied []float64 // when each page's copy was made
	events heap      // pages that tell of changes, by when they change next
	change []float64
	now    Measured
}

// Simulate lets a scheduler that begins at day 0 look after a web, and returns how good the
// copies were between each two of the days, which rise. A fetch takes no time.
func Simulate(w Web, s *Scheduler, days []float64, rng *rand.Rand) []Measured {
	sim := newSimulation(w, rng)
	var measured []Measured
	t := 0.0
	for i, day := range days {
		for t < day {
			t = sim.step(s, t, day)
		}
		m := sim.measure(day)
		if i > 0 {
			span := day - days[i-1]
			m.Fresh, m.Even, m.Age = m.Fresh/span, m.Even/span/float64(len(w.Pages)), m.Age/span
			measured = append(measured, m)
		}
	}
	return measured
}

func newSimulation(w Web, rng *rand.Rand) *simulation {
	n := len(w.Pages)
	sim := &simulation{web: w, rng: rng, stale: make([]float64, n), since: make([]float64, n), copied: make([]float64, n), change: make([]float64, n)}
	pos := make([]int32, n)
	sim.events = heap{pos: pos, key: func(p int32) float64 { return sim.change[p] }}
	for i, p := range w.Pages {
		sim.copied[i] = p.Last
		sim.stale[i] = p.Last + rng.ExpFloat64()/p.Rate
		if p.Signals {
			sim.change[i] = max(0, sim.stale[i])
			sim.events.ids = append(sim.events.ids, int32(i))
		}
	}
	sim.events.init()
	return sim
}

// step does what is next at t, and returns when that is next which follows, at most end.
func (sim *simulation) step(s *Scheduler, t, end float64) float64 {
	for len(sim.events.ids) > 0 && sim.change[sim.events.ids[0]] <= t {
		p := sim.events.ids[0]
		at := sim.change[p]
		sim.stale[p] = min(sim.stale[p], at)
		sim.change[p] = at + sim.rng.ExpFloat64()/sim.web.Pages[p].Rate
		sim.events.fix(p)
		s.Signal(int(p), t)
	}
	page, again := s.Next(t)
	if page >= 0 {
		sim.visit(s, page, t)
		return t
	}
	if len(sim.events.ids) > 0 {
		again = min(again, sim.change[sim.events.ids[0]])
	}
	return min(again, end)
}

func (sim *simulation) visit(s *Scheduler, page int, t float64) {
	sim.count(page, t)
	sim.copied[page] = t
	sim.now.Visits++
	changed := sim.stale[page] <= t
	if sim.web.Pages[page].Signals {
		sim.stale[page] = math.Inf(1) // until the event
	} else {
		sim.stale[page] = t + sim.rng.ExpFloat64()/sim.web.Pages[page].Rate
	}
	s.Visited(page, t, changed)
}

// count measures a page's copy up to a time. Of a page that tells nothing, it takes what is
// to be expected between two visits, which do not depend on what happens there: so a
// few pages that weigh much bring less chance in. With s days since the copy was made and the
// page's rate, that is e^−rate·s of freshness and s − (1 − e^−rate·s)/rate days of age.
func (sim *simulation) count(page int, t float64) {
	p := &sim.web.Pages[page]
	from, stale := sim.since[page], sim.stale[page]
	fresh, age := 0.0, 0.0
	if sim.since[page] = t; p.Signals {
		fresh = max(0, min(stale, t)-from)
		if old := max(0, from-stale); stale < t {
			age = ((t-stale)*(t-stale) - old*old) / 2
		}
	} else {
		a, b := from-sim.copied[page], t-sim.copied[page]
		fresh = math.Exp(-p.Rate*a) * -math.Expm1(-p.Rate*(b-a)) / p.Rate
		age = (b*b-a*a)/2 - (b-a-fresh)/p.Rate
	}
	sim.now.Fresh += p.Weight * fresh
	sim.now.Even += fresh
	sim.now.Age += p.Weight * age
}

// measure returns what was measured since it was called last.
func (sim *simulation) measure(t float64) Measured {
	for i := range sim.since {
		sim.count(i, t)
	}
	m := sim.now
	sim.now = Measured{}
	return m
}
