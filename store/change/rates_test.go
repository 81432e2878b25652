package change

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

func estimateOf(t *testing.T, name string, m *Model, p Page) Estimate {
	t.Helper()
	got := estimators[name](m, p)
	for _, x := range []float64{got.Rate, got.Lo, got.Hi} {
		if math.IsNaN(x) || x < 0 || x > mostRate {
			t.Fatalf("%s of %+v: %+v", name, p, got)
		}
	}
	if got.Lo > got.Rate || got.Rate > got.Hi {
		t.Fatalf("%s of %+v: %+v is out of order", name, p, got)
	}
	return got
}

// estimators are ours and paper E's.
var estimators = map[string]func(m *Model, p Page) Estimate{
	"bayes": bayes,
	"":      bayes,
	"naive": func(_ *Model, p Page) Estimate { return naive(p) },
}

func bayes(m *Model, p Page) Estimate {
	if m == nil {
		m = unlearned()
	}
	return m.Estimate(p)
}

func daily(changed, n int) (visits []Interval) {
	for i := range n {
		visits = append(visits, Interval{Days: 1, Changed: i < changed})
	}
	return visits
}

// TestIntervals checks the naive estimate's intervals at 2.5 % on each side.
func TestIntervals(t *testing.T) {
	for _, c := range []struct {
		estimator    string
		changed, n   int
		lo, hi, near float64
	}{
		{"naive", 0, 10, 0, .3689, .003},       // Garwood's table: 3.689
		{"naive", 6, 10, .2202, 1.3059, .003},  // 2.202 and 13.059
		{"naive", 10, 10, .4795, 1.8390, .003}, // 4.795 and 18.390
	} {
		got := estimateOf(t, c.estimator, nil, Page{Visits: daily(c.changed, c.n)})
		if math.Abs(got.Lo-c.lo) > c.near || math.Abs(got.Hi-c.hi) > c.near {
			t.Errorf("%s, %d of %d: %.4f to %.4f, want %.4f to %.4f", c.estimator, c.changed, c.n, got.Lo, got.Hi, c.lo, c.hi)
		}
	}
}

// slowLog computes the log likelihood of a rate as documented, visit by visit.
func slowLog(visits []Interval, rate float64, believed bool) (sum float64) {
	for _, v := range visits {
		switch {
		case v.Changed && v.Told && believed:
			sum += math.Log(rate) - rate*v.Age
		case v.Changed:
			sum += math.Log(1 - math.Exp(-rate*v.Days))
		default:
			sum -= rate * v.Days
		}
	}
	return sum
}

// someVisits draws a history with a change and a quiet time.
func someVisits(r *rand.Rand) []Interval {
	told := r.IntN(2) == 0
	visits := []Interval{{Days: 1 + r.Float64(), Changed: true}, {Days: .1 + r.ExpFloat64()}}
	for range r.IntN(12) {
		v := Interval{Days: .1 + 5*r.ExpFloat64(), Changed: r.IntN(2) == 0, Told: told}
		v.Age = (.01 + .9*r.Float64()) * v.Days
		visits = append(visits, v)
	}
	return visits
}

func honest() *Model {
	m := unlearned()
	m.truths = truths{hosts: map[string]Checks{"h": {Made: 100}}, share: .5}
	return m
}

// TestPosteriorAgainstSums compares median and interval with sums over a fine grid.
func TestPosteriorAgainstSums(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const points = 20000
	for range 25 {
		m := honest()
		m.prior.rest = []bell{{.7, -.5, math.Exp(2 * r.NormFloat64())}, {.3, 1, .1 + r.Float64()}}
		visits := someVisits(r)
		mass, sum := make([]float64, points), 0.0
		for i := range mass {
			z := math.Log(leastRate) + float64(i)/points*math.Log(mostRate/leastRate)
			prior := 0.0
			for _, b := range m.prior.rest {
				d := z - b.mean - firstMean
				prior += b.weight * math.Exp(-d*d/2/b.variance) / math.Sqrt(b.variance)
			}
			sum += prior * math.Exp(slowLog(visits, math.Exp(z), true))
			mass[i] = sum
		}
		quantile := func(p float64) float64 {
			i, _ := slices.BinarySearch(mass, p*sum)
			return math.Exp(math.Log(leastRate) + float64(i)/points*math.Log(mostRate/leastRate))
		}
		got := estimateOf(t, "bayes", m, Page{Host: "h", Visits: visits})
		for _, c := range [][2]float64{{got.Rate, quantile(.5)}, {got.Lo, quantile(.025)}, {got.Hi, quantile(.975)}} {
			if math.Abs(math.Log(c[0]/c[1])) > .01 {
				t.Errorf("prior %v, %+v: %+v, want %g in %g to %g", m.prior.rest, visits, got, quantile(.5), quantile(.025), quantile(.975))
			}
		}
	}
}

// TestManyVisits: thousands of visits overrule the prior, and the estimate finds the rate.
func TestManyVisits(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	times := irregular(r, 20000, .5)
	p := Page{Visits: visited(poisson(r, 2, times[20000]), times, false)}
	if got := unlearned().Estimate(p); math.Abs(got.Rate-2) > .1 || got.Lo > 2 || got.Hi < 2 || got.Hi-got.Lo > .2 {
		t.Errorf("%+v, want 2", got)
	}
}

// plan describes a simulated world.
type plan struct {
	spread string  // of rates: a key of spreads, or "groups"
	within float64 // for groups: standard deviation of log rates within one
	how    string  // a key of processes
	told   bool    // Last-Modified is sent, and true
	n      int     // intervals between visits, of five days
	jitter bool    // intervals are exponentially distributed
	pages  int
	seed   uint64
}

type world struct {
	rates []float64
	pages []Page
}

func (c plan) draw() world {
	r := rand.New(rand.NewPCG(c.seed, 7))
	groups := newGroups(r, c.pages)
	var w world
	for i := range c.pages {
		var g Group
		var rate float64
		if c.spread == "groups" {
			g, rate = groups.draw(r)
			rate *= math.Exp(c.within * r.NormFloat64())
		} else {
			rate = spreads[c.spread](r)
		}
		times := every(c.n, 5)
		if c.jitter {
			times = irregular(r, c.n, 5)
		}
		w.rates = append(w.rates, rate)
		w.pages = append(w.pages, Page{
			Host: fmt.Sprintf("h%d", i%(1+c.pages/20)), Group: g,
			Visits: visited(processes[c.how](r, rate, times[c.n]), times, c.told),
		})
	}
	return w
}

// accuracy measures the errors of a world's estimated change intervals.
type accuracy struct {
	size   float64 // median of |I/true − 1|
	signed float64 // median of I/true − 1: the bias
	held   float64 // share of 95 % intervals that contain the truth
}

func (w world) judge(name string, m *Model) accuracy {
	var size, signed []float64
	held := 0
	for i, p := range w.pages {
		got := estimators[name](m, p)
		off := w.rates[i]/got.Rate - 1
		signed = append(signed, off)
		size = append(size, math.Abs(off))
		if got.Lo <= w.rates[i] && w.rates[i] <= got.Hi {
			held++
		}
	}
	return accuracy{median(size), median(signed), float64(held) / float64(len(w.pages))}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// TestAccuracy: if rates follow a power law or vary less, our median bias is small where the naive
// one is large, the error is smaller, and 95 % intervals hold 93 to 97 %, up to the sampling error
// of 800.
func TestAccuracy(t *testing.T) {
	testkit.Only(t, "seconds of processor time")
	for _, c := range []struct {
		plan
		size, bias float64
	}{
		{plan{spread: "log-normal", how: "poisson", n: 3, seed: 1}, .46, .1},
		{plan{spread: "log-normal", how: "poisson", n: 10, seed: 2}, .32, .1},
		{plan{spread: "power law", how: "poisson", n: 3, told: true, seed: 3}, .27, .1},
		{plan{spread: "power law", how: "poisson", n: 10, told: true, jitter: true, seed: 4}, .21, .1},
		{plan{spread: "groups", within: .4, how: "poisson", n: 3, told: true, seed: 5}, .27, .1},
	} {
		c.pages = testkit.Rounds(800, 4000)
		w := c.draw()
		m := Learn(slices.Values(w.pages))
		got := w.judge("", m)
		if got.size > c.size || math.Abs(got.signed) > c.bias || got.held < .92 || got.held > .98 {
			t.Errorf("%+v: %+v, want error %.2f, bias %.2f at most", c.plan, got, c.size, c.bias)
		}
		if naive := w.judge("naive", m); naive.signed < .5 || naive.size < got.size {
			t.Errorf("%+v: the naive one is %+v, ours %+v", c.plan, naive, got)
		}
	}
}

// TestNewPage: a page with few visits gets its group's rate, or a wide interval.
func TestNewPage(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	var pages []Page
	for i := range 600 {
		site := i % 30
		rate := .02 * math.Exp(.1*r.NormFloat64()) * math.Pow(10, float64(site%3))
		times := irregular(r, 6, 3)
		pages = append(pages, Page{Group: Group{Site: fmt.Sprint(site)}, Visits: visited(poisson(r, rate, times[6]), times, false)})
	}
	m := Learn(slices.Values(pages))
	for site, want := range []float64{.02, .2, 2} {
		got := estimateOf(t, "", m, Page{Group: Group{Site: fmt.Sprint(site)}})
		if math.Abs(math.Log(got.Rate/want)) > .5 || got.Hi/got.Lo > 15 {
			t.Errorf("site %d: %+v, want about %g", site, got, want)
		}
	}
	if got := estimateOf(t, "", m, Page{Group: Group{Site: "another"}}); got.Lo > .02 || got.Hi < 2 {
		t.Errorf("another site: %+v", got)
	}
	var buffer []Interval // one for all pages, as when reading from a store
	again := Learn(func(yield func(Page) bool) {
		for _, p := range pages {
			buffer = append(buffer[:0], p.Visits...)
			p.Visits = buffer
			if !yield(p) {
				return
			}
		}
	})
	if !reflect.DeepEqual(m, again) {
		t.Error("the same pages make another model")
	}
}

// TestTruths: servers with false Last-Modified are detected, and their ages do no harm.
func TestTruths(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	var w world
	lies := map[string]func(v Interval) float64{
		"true":    func(v Interval) float64 { return v.Age },
		"now":     func(Interval) float64 { return 0 },
		"cached":  func(Interval) float64 { return .2 * r.Float64() },
		"release": func(v Interval) float64 { return min(v.Age, 7*r.Float64()) },
		"first":   func(v Interval) float64 { return v.Age + 500 },
	}
	kinds := []string{"true", "now", "true", "cached", "true", "release", "true", "first"}
	for i := range 800 {
		host := i % 40
		kind := kinds[host%len(kinds)]
		rate := spreads["log-normal"](r)
		times := irregular(r, 5, 5)
		p := Page{Host: kind + fmt.Sprint(host), Visits: visited(poisson(r, rate, times[5]), times, true)}
		for k := range p.Visits {
			p.Visits[k].Age = lies[kind](p.Visits[k])
		}
		w.pages, w.rates = append(w.pages, p), append(w.rates, rate)
	}
	m := Learn(slices.Values(w.pages))
	for host := range 40 {
		kind := kinds[host%len(kinds)]
		if got := m.truths.believed(kind + fmt.Sprint(host)); got != (kind == "true") {
			t.Errorf("%s %d: believed %v of %+v", kind, host, got, m.truths.hosts[kind+fmt.Sprint(host)])
		}
	}
	if share := m.truths.share; math.Abs(share-.5) > .05 {
		t.Errorf("share of true hosts %.3f, want .5", share)
	}
	if a := w.judge("", m); a.held < .93 || a.held > .97 || a.size > .4 {
		t.Errorf("%+v", a)
	}
	if m.truths.believed("nobody") {
		t.Error("a host that was never checked is believed")
	}
}

// TestTable makes the table of estimators in docs/change.md.
func TestTable(t *testing.T) {
	if !*update { // it checks nothing
		t.Skip("half a million estimates take two minutes; -update writes the table")
	}
	var out strings.Builder
	fmt.Fprintln(&out, "# FOSSICK_FULL=1 go test ./store/change -run TestTable -update. Simulated pages, 8,000 a row, half of them to learn from and half to judge, visited every five days. Recorded 2026-11-25.")
	fmt.Fprintln(&out, strings.Join([]string{"rates", "changes", "Last-Modified", "intervals", "estimator", "median error", "median bias", "95 % hold", "no estimator below"}, "\t"))
	for _, c := range rows() {
		w := c.draw()
		learn, judge := w.half()
		m := Learn(slices.Values(learn.pages))
		least := "not known"
		if density := densities[c.spread]; density != nil && c.how == "poisson" {
			least = fmt.Sprintf("%.3f", bound(world{judge.rates[:500], judge.pages[:500]}, density))
		}
		told := map[bool]string{true: "true", false: "none"}[c.told]
		spread := c.spread
		if c.within > 0 {
			spread = fmt.Sprintf("groups, spread %.2f within", c.within)
		}
		how := c.how
		if c.jitter {
			how += ", irregular visits"
		}
		for _, name := range []string{"bayes", "naive"} {
			a := judge.judge(name, m)
			fmt.Fprintf(&out, "%s\t%s\t%s\t%d\t%s\t%.3f\t%+.3f\t%.3f\t%s\n", spread, how, told, c.n, name, a.size, a.signed, a.held, least)
		}
	}
	t.Log("\n" + out.String())
	write(t, "rates.tsv", out.String())
}

func (w world) half() (world, world) {
	n := len(w.pages) / 2
	return world{w.rates[:n], w.pages[:n]}, world{w.rates[n:], w.pages[n:]}
}

func rows() (all []plan) {
	add := func(c plan, ns ...int) {
		for _, told := range []bool{false, true} {
			for _, n := range ns {
				c.told, c.n, c.pages, c.seed = told, n, 8000, uint64(len(all)+1)
				all = append(all, c)
			}
		}
	}
	for _, spread := range []string{"log-normal", "gamma", "power law"} {
		add(plan{spread: spread, how: "poisson"}, 1, 3, 10, 30)
	}
	add(plan{spread: "power law", how: "poisson", jitter: true}, 3, 10)
	for _, within := range []float64{.1, .15, .4, 1} {
		add(plan{spread: "groups", within: within, how: "poisson"}, 3, 10)
	}
	for _, how := range []string{"periodic", "bursty"} {
		add(plan{spread: "log-normal", how: how}, 3, 10, 30)
	}
	return all
}
