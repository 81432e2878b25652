package rates

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"fossick/internal/fulltest"
)

// TestAccuracy: on pages whose rates differ by a power law or less, the default's median
// bias is small where the naive one's is large, it is never behind another, and its 95 %
// intervals hold 93 to 97 %, give or take the chance error of a count of 800.
func TestAccuracy(t *testing.T) {
	fulltest.Only(t, "seconds of processor time")
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
		c.pages = fulltest.Rounds(800, 4000)
		w := c.draw()
		m := Learn(slices.Values(w.pages))
		got := w.judge(t, "", m)
		if got.size > c.size || math.Abs(got.signed) > c.bias || got.held < .92 || got.held > .98 {
			t.Errorf("%+v: %+v, want error %.2f, bias %.2f at most", c.plan, got, c.size, c.bias)
		}
		for _, name := range Names()[1:] {
			if other := w.judge(t, name, m); other.size < got.size {
				t.Errorf("%+v: %s is %.3f off, the default %.3f", c.plan, name, other.size, got.size)
			}
		}
		if naive := w.judge(t, "naive", m); naive.signed < .5 {
			t.Errorf("%+v: the naive one's bias is %.3f", c.plan, naive.signed)
		}
	}
}

// TestNewPage: a page never visited, or once, has the rate of its group; one of an unknown
// group a wide interval around the mean.
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
		got := estimate(t, "", m, Page{Group: Group{Site: fmt.Sprint(site)}})
		if math.Abs(math.Log(got.Rate/want)) > .5 || got.Hi/got.Lo > 15 {
			t.Errorf("site %d: %+v, want about %g", site, got, want)
		}
	}
	if got := estimate(t, "", m, Page{Group: Group{Site: "another"}}); got.Lo > .02 || got.Hi < 2 {
		t.Errorf("another site: %+v", got)
	}
	var buffer []Interval // one for all pages, as a reader of a store has it
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

// TestTruths: servers that tell the time of the answer, of a release, or of the
// first version are found out, and their ages do no harm.
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
	if a := w.judge(t, "", m); a.held < .93 || a.held > .97 || a.size > .4 {
		t.Errorf("%+v", a)
	}
	if m.truths.believed("nobody") {
		t.Error("a host that was never checked is believed")
	}
}
