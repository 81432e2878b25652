package revisit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSimulationCountsRight compares expectations with the mean of a fine-grained simulation.
func TestSimulationCountsRight(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := web{pages: []Page{{Rate: 0.7, Weight: 1, Last: -0.5}}}
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

// TestSimulatedUniform compares with Cho and Garcia-Molina's formula for even intervals.
func TestSimulatedUniform(t *testing.T) {
	var pages []Page
	for range 50 {
		pages = append(pages, Page{Rate: 0.5, Weight: 0.02, Last: -1})
	}
	w := web{pages: pages}
	s := started(t, pages, Options{Policy: "uniform", Budget: 25})
	m := simulate(w, s, []float64{10, 110}, rand.New(rand.NewPCG(1, 2)))[0]
	if want := fresh(0.5, 0.5); math.Abs(m.Fresh-want) > 1e-3 || m.Visits < 2499 || m.Visits > 2501 || math.Abs(m.Even-want) > 1e-3 {
		t.Errorf("got %+v, want %.4f", m, want)
	}
}

// TestWebLaws: weights add up to 1, and rates and weights have the stated shapes.
func TestWebLaws(t *testing.T) {
	w := newWeb(rand.New(rand.NewPCG(1, 2)), laws{pages: 50_000})
	sum, fast := 0.0, 0.0
	for _, p := range w.pages {
		if sum += p.Weight; p.Rate > 0.5 {
			fast += 1.0 / 50_000
		}
	}
	if math.Abs(sum-1) > 1e-9 || math.Abs(fast-math.Pow(10, -0.75)) > 0.01 {
		t.Errorf("weights %g, %.3f faster than a change in two days", sum, fast)
	}
}

// measured is the quality of a web's copies over some days.
type measured struct {
	Fresh  float64 // share of time for which copies equal the pages, by weight, in [0,1]
	Even   float64 // the same, unweighted
	Age    float64 // days since a stale copy's page first changed; 0 for a fresh one; by weight
	Visits int
}

// simulation is a web over time. Changes are memoryless: it needs only when each copy turns stale.
type simulation struct {
	web    web
	rng    *rand.Rand
	stale  []float64 // by page; in the past if it is stale
	since  []float64 // measured until then
	copied []float64 // when each page's copy was made
	now    measured
}

// simulate lets a scheduler visit a web from day 0 and returns the quality between days.
func simulate(w web, s *Scheduler, days []float64, rng *rand.Rand) []measured {
	sim := newSimulation(w, rng)
	var measured []measured
	t := 0.0
	for i, day := range days {
		for t < day {
			t = sim.step(s, t, day)
		}
		m := sim.measure(day)
		if i > 0 {
			span := day - days[i-1]
			m.Fresh, m.Even, m.Age = m.Fresh/span, m.Even/span/float64(len(w.pages)), m.Age/span
			measured = append(measured, m)
		}
	}
	return measured
}

func newSimulation(w web, rng *rand.Rand) *simulation {
	n := len(w.pages)
	sim := &simulation{web: w, rng: rng, stale: make([]float64, n), since: make([]float64, n), copied: make([]float64, n)}
	for i, p := range w.pages {
		sim.copied[i] = p.Last
		sim.stale[i] = p.Last + rng.ExpFloat64()/p.Rate
	}
	return sim
}

// step performs the event at t and returns the time of the next one, at most end.
func (sim *simulation) step(s *Scheduler, t, end float64) float64 {
	page, again := s.Next(t)
	if page >= 0 {
		sim.visit(s, page, t)
		return t
	}
	return min(again, end)
}

func (sim *simulation) visit(s *Scheduler, page int, t float64) {
	sim.count(page, t)
	sim.copied[page] = t
	sim.now.Visits++
	changed := sim.stale[page] <= t
	sim.stale[page] = t + sim.rng.ExpFloat64()/sim.web.pages[page].Rate
	s.Visited(page, t, changed)
}

// count measures a page's copy up to a time by its expectation, which reduces the noise of a few
// heavy pages. With s days since the copy was made, that is e^−rate·s of freshness and s − (1 −
// e^−rate·s)/rate days of age.
func (sim *simulation) count(page int, t float64) {
	p := &sim.web.pages[page]
	a, b := sim.since[page]-sim.copied[page], t-sim.copied[page]
	sim.since[page] = t
	fresh := math.Exp(-p.Rate*a) * -math.Expm1(-p.Rate*(b-a)) / p.Rate
	age := (b*b-a*a)/2 - (b-a-fresh)/p.Rate
	sim.now.Fresh += p.Weight * fresh
	sim.now.Even += fresh
	sim.now.Age += p.Weight * age
}

// measure returns the measurements since the last call.
func (sim *simulation) measure(t float64) measured {
	for i := range sim.since {
		sim.count(i, t)
	}
	m := sim.now
	sim.now = measured{}
	return m
}

type web struct {
	pages     []Page
	hostRests []float64 // days
}

// laws describes how a web is made. The zero value is that of docs/data/revisit.tsv.
type laws struct {
	pages int     // default 100,000
	days  float64 // over which the pages were crawled, evenly; default 5
	rest  float64 // rest of a host in days; default two minutes
	alike float64 // in [0,1]: correlation of weight and rate
}

// Pareto distributions of simulated pages: P(x) = (least/x)^shape.
const (
	rateShape   = 0.75 // of changes a day
	rateLeast   = 0.05
	rateMost    = 50.0
	weightShape = 1.1 // as of in-links and PageRank, whose density falls by 2.1
	hostShape   = 1.0 // of pages per host
	hostPages   = 20.0
)

func newWeb(rng *rand.Rand, l laws) web {
	if l.pages == 0 {
		l.pages = 100_000
	}
	if l.days == 0 {
		l.days = 5
	}
	if l.rest == 0 {
		l.rest = 2 * minute
	}
	w := web{pages: make([]Page, l.pages)}
	left, sum := 0, 0.0
	for i := range w.pages {
		if left == 0 {
			left = int(min(hostPages*pareto(rng, hostShape), float64(l.pages)/5))
			w.hostRests = append(w.hostRests, l.rest)
		}
		left--
		rate, weight := rng.Float64(), rng.Float64()
		if rng.Float64() < l.alike {
			rate = weight
		}
		p := &w.pages[i]
		*p = Page{
			Rate:   min(rateLeast*math.Pow(1-rate, -1/rateShape), rateMost),
			Weight: math.Pow(1-weight, -1/weightShape),
			Last:   -l.days * rng.Float64(), Host: len(w.hostRests) - 1,
		}
		rng.Float64() // unused, but the recorded figures depend on this draw
		sum += p.Weight
	}
	for i := range w.pages {
		w.pages[i].Weight /= sum
	}
	return w
}

func pareto(rng *rand.Rand, shape float64) float64 { return math.Pow(1-rng.Float64(), -1/shape) }

func (w web) unknown() []Page {
	pages := append([]Page(nil), w.pages...)
	for i := range pages {
		pages[i].Rate = math.NaN()
	}
	return pages
}

// fresh returns the share of time for which a copy is up to date, if the page changes at rate (per
// day) and is fetched at even intervals, visits per day (Cho and Garcia-Molina 2003):
//
//	F = (1 − e^−r)/r,  r = rate/visits
func fresh(rate, visits float64) float64 {
	switch {
	case rate == 0:
		return 1
	case visits == 0:
		return 0
	}
	r := rate / visits
	return -math.Expm1(-r) / r
}
