package crawler

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/hosts"
	"fossick/crawler/render"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestQuotes: a rendering is refused if it should bring less than its seconds cost; what was learned of
// a pattern goes before its host, and that before the crawl. Each case fails without one of these.
func TestQuotes(t *testing.T) {
	start := map[string]store.Yield{allPages: {Pages: 5, Worth: 1, Seconds: 1}}
	rich := map[string]store.Yield{allPages: {Pages: 100, Worth: 80, Seconds: 20}} // 4 a second
	poor := map[string]store.Yield{allPages: {Pages: 100, Seconds: 100}}           // by leastHarvest .05
	empty := store.Yield{Pages: 20, Chance: 10, Seconds: 10}                       // brought nothing
	full := store.Yield{Pages: 20, Chance: 10, Worth: 60, Seconds: 10}             // 6 pages a chance
	slow := store.Yield{Pages: 20, Chance: 10, Worth: 20, Seconds: 200}            // 10 s each
	with := func(to map[string]store.Yield, name string, y store.Yield) map[string]store.Yield {
		to = maps.Clone(to)
		to[name] = y
		return to
	}
	none := map[string]store.Yield{}
	for name, c := range map[string]struct {
		crawl, host map[string]store.Yield
		class       string
		chance      float64
		idle        bool
		draw        float64
		want        string
	}{
		"a thin start page":                {start, none, classThin, 1, false, 1, "render"},
		"a start page with text":           {start, none, classText, 1, false, 1, "decline"},
		"thin, in a rich crawl":            {rich, none, classThin, .9, false, 1, "decline"},
		"with text, in a poor crawl":       {poor, none, classText, .9, false, 1, "decline"},
		"thin, in a poor crawl":            {poor, none, classThin, .05, false, 1, "render"},
		"without a chance":                 {poor, none, classThin, .01, false, 1, "decline"},
		"nothing else to do":               {rich, none, classText, .01, true, 1, "render"},
		"poor with its renderings":         {with(poor, plainPages, rich[allPages]), none, classThin, .9, false, 1, "decline"},
		"poor without them":                {with(rich, plainPages, poor[allPages]), none, classThin, .9, false, 1, "decline"},
		"gains of the crawl":               {with(rich, classThin, full), none, classThin, .5, false, 1, "render"},
		"the other class":                  {with(rich, classText, full), none, classThin, .5, false, 1, "decline"},
		"gains of the host":                {rich, with(none, classThin, full), classThin, .5, false, 1, "render"},
		"gains of the pattern":             {rich, with(none, "thin /a/*", full), classThin, .5, false, 1, "render"},
		"of another pattern":               {rich, with(none, "thin /b/*", full), classThin, .5, false, 1, "decline"},
		"an empty pattern of a good host":  {rich, map[string]store.Yield{classThin: full, "thin /a/*": empty}, classThin, .5, false, 1, "decline"},
		"a good pattern of an empty host":  {rich, map[string]store.Yield{classThin: empty, "thin /a/*": full}, classThin, .5, false, 1, "render"},
		"an empty pattern in a poor crawl": {poor, with(none, "thin /a/*", empty), classThin, .1, false, 1, "decline"},
		"a slow pattern":                   {poor, with(none, "thin /a/*", slow), classThin, .1, false, 1, "decline"},
		"as good but faster":               {poor, with(none, "thin /a/*", store.Yield{Pages: 20, Chance: 10, Worth: 20, Seconds: 20}), classThin, .1, false, 1, "render"},
		"a check at random":                {rich, with(none, "thin /a/*", empty), classThin, .5, false, .0015, "check"},
		"no check: .5 % of .2 s in .64 s":  {rich, with(none, "thin /a/*", empty), classThin, .5, false, .0016, "decline"},
	} {
		q := store.Quote{Chance: c.chance}
		p := pricing{c.crawl, c.host}
		rate := p.rate()
		if c.idle {
			rate = 0
		}
		p.quote(&q, c.class, "/a/*", rate, c.draw)
		got := "render"
		switch {
		case q.Declined:
			got = "decline"
		case q.Recheck:
			got = "check"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s: %+v", name, got, c.want, q)
		}
	}
}

// TestPricingLearns compares estimates with those from a list of all renderings, of which the n-th
// last of a group weighs fade^n.
func TestPricingLearns(t *testing.T) {
	type rendering struct {
		host, class, pattern string
		store.Yield
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var all []rendering
	crawl, hosts := map[string]store.Yield{}, map[string]map[string]store.Yield{"a": {}, "b": {}}
	naive := func(host, class, pattern string) (gain, seconds float64) {
		gain, seconds = map[string]float64{classThin: 3, classText: .05}[class], 2.
		for _, of := range []func(r rendering) bool{
			func(r rendering) bool { return r.class == class },
			func(r rendering) bool { return r.class == class && r.host == host },
			func(r rendering) bool { return r.class == class && r.host == host && r.pattern == pattern },
		} {
			weight, chance, worth, pages, took := 1., 0., 0., 0., 0.
			for _, r := range slices.Backward(all) {
				if of(r) {
					chance, worth, pages, took = chance+weight*r.Chance, worth+weight*r.Worth, pages+weight, took+weight*r.Seconds
					weight *= fade
				}
			}
			gain, seconds = (gain+worth)/(1+chance), (2*seconds+took)/(2+pages)
		}
		return gain, seconds
	}
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	for n := range 3000 {
		r := rendering{pick("a", "b"), pick(classThin, classText), pick("/", "/*", "/x/*"), store.Yield{Pages: 1, Chance: rng.Float64(), Worth: 3 * rng.Float64(), Seconds: rng.Float64()}}
		p := pricing{crawl, hosts[r.host]}
		if n%50 == 0 {
			gain, seconds := p.estimate(r.class, r.pattern)
			wantGain, wantSeconds := naive(r.host, r.class, r.pattern)
			if math.Abs(gain-wantGain) > 1e-9 || math.Abs(seconds-wantSeconds) > 1e-9 {
				t.Fatalf("after %d: gain %v and %v s, want %v and %v", n, gain, seconds, wantGain, wantSeconds)
			}
		}
		p.learn(r.class, r.pattern, r.Yield)
		all = append(all, r)
	}
	p := pricing{map[string]store.Yield{}, map[string]store.Yield{}}
	for n := range 10 * mostYields {
		p.learn(classThin, fmt.Sprintf("/%d", n), store.Yield{Pages: 1})
	}
	if len(p.host) > mostYields || p.host[classThin].Pages < 100 {
		t.Errorf("%d yields of a host with many patterns; the host's own: %+v", len(p.host), p.host[classThin])
	}
}

// scriptedWeb has plain pages, shells whose scripts give on-topic text, and shells that stay empty.
func scriptedWeb() (*fakeWeb, *fakeBrowser, []string) {
	const script = "<div id=root></div><script src=/app.js></script>"
	w := &fakeWeb{took: 100 * time.Millisecond, pages: map[string]string{}}
	b := &fakeBrowser{took: time.Second, made: map[string][]bool{}, html: map[string]string{}}
	var seeds []string
	for n := range 60 {
		for kind, left := range map[string]string{
			"app":  html(fmt.Sprint("gold by script ", n, strings.Repeat(" and more of it", 20))),
			"wall": script + fmt.Sprint("<!--", n, "-->"),
			"text": html(fmt.Sprint("lead ", n, strings.Repeat(" more to read here", 20))),
		} {
			url := fmt.Sprintf("http://a.test/%s/%c%c", kind, 'a'+n/26, 'a'+n%26)
			w.pages[url], b.html[url] = "<title></title>"+script+fmt.Sprint("<!--", n, "-->"), left
			if kind == "text" {
				w.pages[url] = left + script
			}
			seeds = append(seeds, url)
		}
	}
	slices.SortFunc(seeds, func(a, b string) int { return strings.Compare(a[len(a)-2:]+a, b[len(b)-2:]+b) })
	return w, b, seeds
}

// TestRenderedWhereItPays: shells that give text on topic are rendered, patterns that give nothing no
// longer, and a crawl that is broken off and resumed decides as one that is not.
func TestRenderedWhereItPays(t *testing.T) {
	rendered := func(t *testing.T, sessions ...uint64) (done map[string]int, all []string) {
		synctest.Test(t, func(t *testing.T) {
			w, b, seeds := scriptedWeb()
			opt := newOptions(t, w, seeds...)
			opt.Browser, opt.RenderPriced, opt.Seed = b, true, 1
			for _, pages := range sessions {
				opt.MaxPages = pages
				c := testkit.Call(New(opt)).Must(t)
				c.cores = 1
				testkit.Call(c.Run(t.Context())).Must(t)
				opt.Seeds = nil
			}
			done = map[string]int{}
			for _, url := range seeds {
				l := life(t, opt.Store, url)
				r := l.Outcome.Rendering
				if l.Page != nil && l.Outcome.State == "ok" {
					r = l.Page.Rendering
				}
				if r == nil || r.Quote == nil {
					t.Errorf("%s: %s without a quote", url, l.Outcome.State)
					continue
				}
				if !r.Quote.Declined {
					done[strings.Split(url, "/")[3]]++
					all = append(all, url)
				}
			}
			for h, err := range opt.Store.Hosts() {
				if err != nil || h.Yields["thin /app/*"].Worth < 10 || h.Yields["thin /wall/*"].Worth > 0 {
					t.Errorf("%s: yields %v, %v", h.Name, h.Yields, err)
				}
			}
		})
		return done, all
	}
	done, whole := rendered(t, 1000)
	if done["app"] < 55 || done["wall"] == 0 || done["wall"] > 20 || done["text"] > 5 {
		t.Errorf("rendered %v of 60 each", done)
	}
	if _, parts := rendered(t, 20, 40, 1000); !slices.Equal(parts, whole) {
		t.Errorf("three sessions rendered %v\none %v", parts, whole)
	}
}

// TestLearnedYields: a page that repeats another one is worth nothing, a browser that does not run says nothing of
// the pages.
func TestLearnedYields(t *testing.T) {
	for _, down := range []error{nil, fmt.Errorf("%w: no sandbox", render.ErrNoBrowser)} {
		synctest.Test(t, func(t *testing.T) {
			urls := []string{"http://a.test/0", "http://a.test/1"}
			w, b := &fakeWeb{pages: map[string]string{}}, &fakeBrowser{err: down, html: map[string]string{}, made: map[string][]bool{}}
			for n, url := range urls {
				w.pages[url], b.html[url] = fmt.Sprintf("<title></title><div></div><script src=/%d.js></script>", n), html("gold by script")
			}
			opt := newOptions(t, w, urls...)
			opt.Browser, opt.RenderPriced = b, true
			c := testkit.Call(New(opt)).Must(t)
			testkit.Call(c.Run(t.Context())).Must(t)
			h := testkit.Call(opt.Store.Host("a.test:80")).Must(t)
			if y := h.Yields[classThin]; y.Worth > 1 || (y.Pages > 0) != (down == nil) {
				t.Errorf("browser %v: yields %+v", down, h.Yields)
			}
			if o := life(t, opt.Store, urls[1]).Outcome; down == nil && (o.State != "duplicate" || !o.Rendering.Done()) {
				t.Errorf("the second page: %+v", o)
			}
		})
	}
}

// TestPace: neither a pause nor a revisit is the crawl's time.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testkit.Call(New(newOptions(t, &fakeWeb{}, "http://a.test/"))).Must(t)
		c.opt.RenderPriced = true
		p, page := c.pricing(&store.Host{}), &jobResult{job: &job{task: taskPage, Host: &hosts.Host{Host: &store.Host{}}}}
		for _, ends := range []func(){
			func() { going := false; c.change(Change{Paused: &going}) },
			func() {
				revisit := *page
				revisit.job = &job{task: taskPage, leased: leased{Old: &store.Copy{}}}
				c.learnYield(&revisit)
			},
			func() { c.networkProbed(&jobResult{job: page.job, Aborted: true}) },
		} {
			before := p.crawl[allPages].Seconds
			time.Sleep(time.Hour)
			ends()
			if c.learnYield(page); p.crawl[allPages].Seconds > before {
				t.Errorf("%v s of the crawl after %v s", p.crawl[allPages].Seconds, before)
			}
		}
	})
}

// TestDeclinedShellsAreTakenUp: while plain pages wait, shells are not worth their seconds. Once nothing
// else is left, each is asked for again and rendered, also in a session after a break. While the host
// rests and workers are free, each is rendered at once.
func TestDeclinedShellsAreTakenUp(t *testing.T) {
	for name, c := range map[string]struct {
		sessions []uint64
		workers  int
		most     int // requests to a shell: a session that begins with shells that were taken up declines them once more
		twice    int // shells, at least, that are declined first; 0 for none
	}{"one session": {[]uint64{1000}, 1, 2, 20}, "broken off": {[]uint64{20, 45, 1000}, 1, 3, 20}, "free workers": {[]uint64{1000}, 4, 1, 0}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &fakeWeb{took: 10 * time.Millisecond, pages: map[string]string{}}
				b := &fakeBrowser{took: 5 * time.Second, made: map[string][]bool{}, html: map[string]string{}}
				var plain, shells []string
				for n := range 40 {
					url := fmt.Sprintf("http://a.test/plain/%02d", n)
					w.pages[url] = html(fmt.Sprint("gold ", n, strings.Repeat(" in the page itself", 20)))
					plain = append(plain, url)
					url = fmt.Sprintf("http://a.test/app/%02d", n)
					w.pages[url] = fmt.Sprintf("<title></title><div id=root></div><script src=/app.js></script><!--%d-->", n)
					b.html[url] = html(fmt.Sprint("gold by script ", n, strings.Repeat(" and more of it", 20)))
					shells = append(shells, url)
				}
				opt := newOptions(t, w, append(plain[:10:10], slices.Concat(shells, plain[10:])...)...)
				opt.Browser, opt.RenderPriced, opt.Seed, opt.Workers = b, true, 1, c.workers
				for _, pages := range c.sessions {
					opt.MaxPages = pages
					crawl := testkit.Call(New(opt)).Must(t)
					crawl.cores = 1
					testkit.Call(crawl.Run(t.Context())).Must(t)
					opt.Seeds = nil
				}
				asked := map[string]int{}
				for _, s := range w.log {
					asked[s.url]++
				}
				twice := 0
				for _, url := range shells {
					if l := life(t, opt.Store, url); l.Outcome.State != "ok" || !l.Page.Rendering.Done() || asked[url] > c.most {
						t.Errorf("%s: %s after %d requests", url, l.Outcome.State, asked[url])
					}
					if asked[url] > 1 {
						twice++
					}
				}
				if twice < c.twice || c.twice == 0 && twice > 0 {
					t.Errorf("%d of %d shells were declined first", twice, len(shells))
				}
			})
		})
	}
}
