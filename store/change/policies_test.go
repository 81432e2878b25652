package change

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"fossick/internal/stats"
	"fossick/internal/testkit"
)

// setting is a web and the limits of its hosts.
type setting struct {
	name   string
	laws   laws
	rests  bool // hosts take one request at a time, and rest
	hidden bool // rates are unknown at the start
}

// policyScores is the result of a policy in a setting, by draw.
type policyScores struct{ share, fresh, age []float64 }

// TestPolicies compares the policies on simulated webs, and checks the promises of docs/change.md.
func TestPolicies(t *testing.T) {
	pages, draws := testkit.Rounds(800, 4000), testkit.Rounds(3, 4)
	if *update {
		pages, draws = 100_000, 10
	}
	rest := 2.0 / 24 / 60 * 100_000 / float64(pages) // so that the largest hosts are limited
	var rows strings.Builder
	for _, c := range []setting{
		{name: "no limits, rates known", laws: laws{pages: pages}},
		{name: "no limits, rates unknown", laws: laws{pages: pages}, hidden: true},
		{name: "hosts rest, rates known", laws: laws{pages: pages, rest: rest}, rests: true},
		{name: "hosts rest, rates unknown", laws: laws{pages: pages, rest: rest}, rests: true, hidden: true},
		{name: "half of what matters changes more, rates unknown", laws: laws{pages: min(pages, 20_000), alike: 0.5}, hidden: true},
	} {
		t.Run(c.name, func(t *testing.T) { rows.WriteString(comparePolicies(t, c, draws)) })
	}
	if *update {
		head := "# FOSSICK_FULL=1 go test ./store/change -run TestPolicies -timeout 60m -update. 100,000 pages, 20,000 fetches a day, draws 1 to 10, days 10 to 20 of 20; nothing was tuned on these draws. optimum: the largest freshness that visits at known rates and even intervals can have, the hosts' limits kept. Intervals are 95 %.\n" +
			"setting\tpolicy\tfresh, by weight\tof the optimum\tless than the best\tage, days\n"
		write(t, "revisit.tsv", head+rows.String())
	}
}

func comparePolicies(t *testing.T, c setting, draws int) string {
	t.Helper()
	results := map[string]*policyScores{}
	var names []string
	for _, p := range Policies {
		if c.hidden || !p.learns {
			names = append(names, p.Name)
			results[p.Name] = &policyScores{}
		}
	}
	for draw := range draws {
		var wait sync.WaitGroup
		for _, name := range names {
			wait.Go(func() { try(t, c, name, uint64(draw+1), results[name]) })
		}
		wait.Wait()
	}
	var rows strings.Builder
	for _, name := range names {
		rows.WriteString(line(c, name, results))
	}
	t.Log("\n" + rows.String())
	judge(t, c, results)
	return rows.String()
}

func try(t *testing.T, c setting, policy string, draw uint64, r *policyScores) {
	t.Helper()
	w := newWeb(rand.New(rand.NewPCG(draw, 1)), c.laws)
	budget := float64(len(w.pages)) / 5
	o := SchedulerOptions{Policy: policy, Budget: budget, Rand: rand.New(rand.NewPCG(draw, 2))}
	var limits []float64
	if c.rests {
		o.HostRests = w.hostRests
		for _, rest := range w.hostRests {
			limits = append(limits, 1/rest)
		}
	}
	best := allocated(t, w.pages, "cho", budget, limits)
	bound := 0.0
	for i, p := range w.pages {
		bound += p.Weight * fresh(p.Rate, best.rates[i])
	}
	pages := w.pages
	if c.hidden {
		pages = w.unknown()
	}
	s, err := NewScheduler(pages, 0, o)
	if err != nil {
		t.Error(err)
		return
	}
	m := simulate(w, s, []float64{10, 20}, rand.New(rand.NewPCG(draw, 3)))[0]
	if most := int(10*budget + budget/24/60 + 1); m.Visits > most {
		t.Errorf("%s, %s: %d visits in ten days, %d are allowed", c.name, policy, m.Visits, most)
	}
	r.share, r.fresh, r.age = append(r.share, m.Fresh/bound), append(r.fresh, m.Fresh), append(r.age, m.Age)
}

// judge checks the promises.
func judge(t *testing.T, c setting, results map[string]*policyScores) {
	t.Helper()
	mean := func(name string) float64 { return stats.MeanOf(results[name].share).Value }
	switch {
	case !c.hidden:
		if got := mean("cho"); got < 0.99 {
			t.Errorf("%s: %.4f of the optimum", c.name, got)
		}
	case mean("learn") < 0.9:
		t.Errorf("%s: learned to %.4f of the optimum", c.name, mean("learn"))
	case *update && c.laws.alike == 0: // few pages and draws show nothing
		for name := range results {
			d := less(results, name)
			if name != "learn" && !(d.CI != nil && d.CI[0] > 0) {
				t.Errorf("%s: learn is better than %s by %s", c.name, name, interval(d))
			}
		}
	}
}

// less returns the paired difference of a policy's share of the optimum to the best one's.
func less(results map[string]*policyScores, name string) stats.Mean {
	best := "cho"
	if _, ok := results["learn"]; ok {
		best = "learn"
	}
	var d []float64
	for i, share := range results[best].share {
		d = append(d, share-results[name].share[i])
	}
	return stats.MeanOf(d)
}

func line(c setting, name string, results map[string]*policyScores) string {
	r := results[name]
	share, d := stats.MeanOf(r.share), less(results, name)
	return fmt.Sprintf("%s\t%s\t%.3f\t%s\t%s\t%.2f\n", c.name, name, stats.MeanOf(r.fresh).Value,
		interval(share), interval(d), stats.MeanOf(r.age).Value)
}

func interval(m stats.Mean) string {
	if m.CI == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f (%.4f to %.4f)", m.Value, m.CI[0], m.CI[1])
}

// TestSimulationCountsRight compares expectations with the mean of a fine-grained simulation.
func TestSimulationCountsRight(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	w := simulatedWeb{pages: []Copy{{Rate: 0.7, Weight: 1, Last: -0.5}}}
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
	var pages []Copy
	for range 50 {
		pages = append(pages, Copy{Rate: 0.5, Weight: 0.02, Last: -1})
	}
	w := simulatedWeb{pages: pages}
	s := started(t, pages, SchedulerOptions{Policy: "uniform", Budget: 25})
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
	web    simulatedWeb
	rng    *rand.Rand
	stale  []float64 // by page; in the past if it is stale
	since  []float64 // measured until then
	copied []float64 // when each page's copy was made
	now    measured
}

// simulate lets a scheduler visit a web from day 0 and returns the quality between days.
func simulate(w simulatedWeb, s *Scheduler, days []float64, rng *rand.Rand) []measured {
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

func newSimulation(w simulatedWeb, rng *rand.Rand) *simulation {
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

type simulatedWeb struct {
	pages     []Copy
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

func newWeb(rng *rand.Rand, l laws) simulatedWeb {
	if l.pages == 0 {
		l.pages = 100_000
	}
	if l.days == 0 {
		l.days = 5
	}
	if l.rest == 0 {
		l.rest = 2 * minute
	}
	w := simulatedWeb{pages: make([]Copy, l.pages)}
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
		*p = Copy{
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

func (w simulatedWeb) unknown() []Copy {
	pages := append([]Copy(nil), w.pages...)
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
