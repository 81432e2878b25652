package crawler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

func TestBestParentFirst(t *testing.T) {
	// Of the pages s links to, a is good and b is poor. URLs linked from a come before those
	// linked from b. The shared target gets a's priority, whichever page was fetched first.
	w := &fakeWeb{pages: map[string]string{
		"http://s.test/": html("start", "http://b.test/", "http://a.test/"),
		"http://a.test/": html("gold here", "http://shared.test/", "http://good.test/"),
		"http://b.test/": html("nothing", "http://shared.test/", "http://poor.test/"),

		"http://shared.test/": html("dull and shared"),
		"http://good.test/":   html("gold again"),
		"http://poor.test/":   html("dull and poor"),
	}}
	opt := newOptions(t, w, "http://s.test/")
	r := crawl(t, opt)
	want := []string{
		"http://s.test/", "http://b.test/", "http://a.test/",
		"http://shared.test/", "http://good.test/", "http://poor.test/",
	}
	if got := w.urls(); !slices.Equal(got, want) {
		t.Errorf("fetched %v\nwant    %v", got, want)
	}
	if r.Counts.Pages != 6 || r.Counts.Relevant != 2 || r.Stopped != StopEmpty {
		t.Errorf("result %+v", r)
	}
	l := life(t, opt.Store, "http://shared.test/")
	if l.FoundBy != "http://b.test/" || l.Parent != "http://a.test/" {
		t.Errorf("shared page was found by %s, best parent %s; want b, then a", l.FoundBy, l.Parent)
	}
	if l.Page == nil || !near(l.Page.Score, 0.3*0.79) { // R(a) = 0.7 + 0.3 · 0.3
		t.Errorf("shared page has %+v, want R = 0.3 · R(a)", l.Page)
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// TestPaperThreshold is paper A's two-page example: ρ = 0 loses page 3, ρ = 0.3 collects it.
func TestPaperThreshold(t *testing.T) {
	for rho, want := range map[float64]bool{0: false, 0.3: true} {
		w := &fakeWeb{pages: map[string]string{
			"http://one.test/":   html("gold", "http://two.test/"),
			"http://two.test/":   html("none", "http://three.test/"),
			"http://three.test/": html("gold too"),
		}}
		opt := newOptions(t, w, "http://one.test/")
		opt.Scorer, opt.Threshold = wordScorer{rho}, 0.2
		crawl(t, opt)
		if got := slices.Contains(w.urls(), "http://three.test/"); got != want {
			t.Errorf("ρ = %g: page 3 fetched: %v, want %v", rho, got, want)
		}
		l := life(t, opt.Store, "http://three.test/")
		if skipped := l.Outcome.State == "none" && strings.Contains(l.Outcome.Reason, "below the threshold"); skipped == want {
			t.Errorf("ρ = %g: outcome of page 3 is %+v", rho, l.Outcome)
		}
	}
}

func TestSkippedURLIsTakenUpByABetterParent(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{
		"http://s.test/":    html("gold", "http://poor.test/", "http://good.test/"),
		"http://poor.test/": html("none", "http://x.test/"),
		"http://good.test/": html("gold also", "http://x.test/"),
		"http://x.test/":    html("gold at last"),
	}}
	opt := newOptions(t, w, "http://s.test/")
	opt.Scorer, opt.Threshold = wordScorer{0.1}, 0.2
	r := crawl(t, opt)
	if l := life(t, opt.Store, "http://x.test/"); l.Page == nil || l.Parent != "http://good.test/" {
		t.Errorf("x has %+v, want a page by way of good", l)
	}
	if r.Counts.Skipped != 0 {
		t.Errorf("%d URLs are counted as skipped, want 0", r.Counts.Skipped)
	}
}

func TestLinkPolicies(t *testing.T) {
	pages := map[string]string{
		"http://a.shop.test/":     html("gold", "http://a.shop.test/in", "http://b.shop.test/", "http://far.test/"),
		"http://a.shop.test/in":   html("gold in"),
		"http://b.shop.test/":     html("gold sister"),
		"http://far.test/":        html("gold far"),
		"http://a.shop.test/deep": html("gold deep"),
	}
	for policy, want := range map[LinkPolicy][]string{
		linksAll:      {"http://a.shop.test/in", "http://b.shop.test/", "http://far.test/"},
		linksExternal: {"http://b.shop.test/", "http://far.test/"},
		LinksSite:     {"http://a.shop.test/in", "http://b.shop.test/"},
	} {
		w := &fakeWeb{pages: pages}
		opt := newOptions(t, w, "http://a.shop.test/")
		opt.Scope.Links = policy
		crawl(t, opt)
		got := w.urls()[1:]
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("--links %s followed %v, want %v", policy, got, want)
		}
	}
}

// manyPages returns hosts with pages that link in a ring.
func manyPages(hosts, pages int) map[string]string {
	web := map[string]string{}
	for h := range hosts {
		web[fmt.Sprintf("http://h%d.test/robots.txt", h)] = "User-agent: *\nDisallow: /secret\n"
		for p := range pages {
			web[fmt.Sprintf("http://h%d.test/%d", h, p)] = html(fmt.Sprintf("gold %d %d", h, p),
				fmt.Sprintf("/%d", (p+1)%pages), fmt.Sprintf("/%d", (p*7+3)%pages),
				fmt.Sprintf("http://h%d.test/%d", (h+1)%hosts, p), "/secret")
		}
	}
	return web
}

// TestPoliteness: robots.txt first, one request at a time, rests, nothing forbidden.
func TestPoliteness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: manyPages(6, 8), took: 300 * time.Millisecond, addrs: map[string]string{
			"h0.test:80": "203.0.113.1", "h1.test:80": "203.0.113.1", // one machine
		}}
		w.pages["http://h2.test/robots.txt"] = "User-agent: *\nCrawl-delay: 7\nDisallow: /secret\n"
		opt := newOptions(t, w, "http://h0.test/0", "http://h3.test/3")
		opt.Workers, opt.Delay = 8, Delay{}
		r := crawl(t, opt)
		if r.Counts.Pages != 48 {
			t.Errorf("%d pages, want 48", r.Counts.Pages)
		}
		party := func(host string) string {
			if a, ok := w.addrs[host]; ok {
				return a
			}
			return host
		}
		last := map[string]served{}
		slices.SortFunc(w.log, func(a, b served) int { return a.start.Compare(b.start) })
		first := map[string]bool{}
		for _, s := range w.log {
			if !first[s.host] && !strings.HasSuffix(s.url, "/robots.txt") {
				t.Errorf("%s was asked for before robots.txt of its host", s.url)
			}
			first[s.host] = true
			if strings.HasSuffix(s.url, "/secret") {
				t.Errorf("%s is forbidden", s.url)
			}
			gap := 3 * time.Second // 10 × 300 ms
			if s.host == "h2.test:80" {
				gap = 7 * time.Second
			}
			if before, ok := last[party(s.host)]; ok && before.host == s.host && s.start.Sub(before.end) < gap {
				t.Errorf("%s came %v after %s, want at least %v", s.url, s.start.Sub(before.end), before.url, gap)
			} else if ok && s.start.Before(before.end.Add(3*time.Second)) {
				t.Errorf("%s came %v after %s of the same machine", s.url, s.start.Sub(before.end), before.url)
			}
			last[party(s.host)] = s
		}
	})
}

func TestRetryAfterAndBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: map[string]string{"http://a.test/": html("gold")}, fail: map[string][]fetch.Response{
			"http://a.test/": {
				{State: fetch.StateCode, Code: 503, RetryAfter: 30 * time.Second},
				{State: fetch.StateConnectTimeout},
			},
		}}
		opt := newOptions(t, w, "http://a.test/")
		r := crawl(t, opt)
		if r.Counts.Pages != 1 || len(w.urls()) != 3 {
			t.Fatalf("%d pages after %v, want 1 after three tries", r.Counts.Pages, w.urls())
		}
		log := w.log[1:] // robots.txt
		if gap := log[1].start.Sub(log[0].end); gap < 30*time.Second {
			t.Errorf("second try after %v, want Retry-After's 30 s", gap)
		}
		if gap := log[2].start.Sub(log[1].end); gap < 2*time.Second {
			t.Errorf("third try after %v, want a back-off of 2 s", gap)
		}
		if l := life(t, opt.Store, "http://a.test/"); len(l.Visits) != 3 {
			t.Errorf("journal has %d visits, want 3", len(l.Visits))
		}
	})
}

// TestOriginAway: if a proxy network cannot reach its origin server, the URL is retried.
func TestOriginAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: map[string]string{"http://a.test/": html("gold")}, fail: map[string][]fetch.Response{
			"http://a.test/": {{State: fetch.StateCode, Code: 521}, {State: fetch.StateCode, Code: 524}},
		}}
		r := crawl(t, newOptions(t, w, "http://a.test/"))
		if r.Counts.Pages != 1 || len(w.urls()) != 3 {
			t.Errorf("%d pages after %v, want 1 after three tries", r.Counts.Pages, w.urls())
		}
	})
}

func TestRobotsUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := fetch.Response{State: fetch.StateCode, Code: 500}
		w := &fakeWeb{pages: map[string]string{"http://a.test/": html("gold")}, fail: map[string][]fetch.Response{
			"http://a.test/robots.txt": {fail, fail, fail, fail},
		}}
		opt := newOptions(t, w, "http://a.test/")
		crawl(t, opt)
		if l := life(t, opt.Store, "http://a.test/"); l.Outcome == nil || l.Outcome.State != "robots_denied" || !strings.Contains(l.Outcome.Reason, "500") {
			t.Errorf("outcome %+v, want robots_denied for the 500", l.Outcome)
		}
		if len(w.urls()) > 0 {
			t.Errorf("%v was fetched though robots.txt could not be", w.urls())
		}
	})
}

func TestRobotsRedirectedToAnotherHost(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{
		"http://a.test/robots.txt":     "→http://www.a.test/robots.txt",
		"http://www.a.test/robots.txt": "User-agent: *\nDisallow: /private\n",
		"http://a.test/":               html("gold", "/private", "http://www.a.test/"),
		"http://a.test/private":        html("gold private"),
		"http://www.a.test/":           html("gold www"),
	}}
	opt := newOptions(t, w, "http://a.test/")
	crawl(t, opt)
	if l := life(t, opt.Store, "http://a.test/private"); l.Outcome == nil || l.Outcome.State != "robots_denied" {
		t.Errorf("outcome %+v, want robots_denied by the redirected rules", l.Outcome)
	}
	if l := life(t, opt.Store, "http://www.a.test/"); l.Page == nil {
		t.Errorf("www has no page: %+v", l)
	}
}

func TestRedirectsDuplicatesAndErrors(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{
		"http://s.test/":     html("gold", "http://old.test/", "http://copy.test/", "http://gone.test/", "http://loop.test/", "http://quiet.test/"),
		"http://old.test/":   "→http://new.test/",
		"http://new.test/":   html("gold moved"),
		"http://copy.test/":  html("gold moved"),
		"http://loop.test/":  "→http://loop2.test/",
		"http://loop2.test/": "→http://loop.test/",
		"http://quiet.test/": `<meta name=robots content=noindex><a href="http://last.test/">on</a> gold, but do not keep it`,
		"http://last.test/":  html("gold last"),
	}}
	opt := newOptions(t, w, "http://s.test/")
	r := crawl(t, opt)
	want := map[string]uint64{"ok": 3, "redirect": 3, "duplicate": 1, "code": 1, "robots_denied": 1}
	for state, n := range want {
		if r.Counts.States[state] != n {
			t.Errorf("%d URLs ended as %s, want %d (%v)", r.Counts.States[state], state, n, r.Counts.States)
		}
	}
	if r.Counts.Codes[404] != 1 {
		t.Errorf("codes %v, want one 404", r.Counts.Codes)
	}
	if l := life(t, opt.Store, "http://new.test/"); l.Via != store.ViaRedirect || l.FoundBy != "http://old.test/" {
		t.Errorf("new was found via %s by %s, want by redirect of old", l.Via, l.FoundBy)
	}
}

// TestNoExchangeAtAll: a URL that the fetcher cannot handle is not retried for ever.
func TestNoExchangeAtAll(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{}, fail: map[string][]fetch.Response{
		"http://a.test/": {{State: fetch.StateNone}}, "http://b.test/robots.txt": {{State: fetch.StateNone}},
	}}
	opt := newOptions(t, w, "http://a.test/", "http://b.test/")
	if r := crawl(t, opt); r.Counts.States["none"] != 2 {
		t.Errorf("states %v, want two of none", r.Counts.States)
	}
}

func TestLimits(t *testing.T) {
	pages := manyPages(4, 10)
	t.Run("max pages", func(t *testing.T) {
		w := &fakeWeb{pages: pages}
		opt := newOptions(t, w, "http://h0.test/0")
		opt.Workers, opt.MaxPages = 8, 7
		if r := crawl(t, opt); r.Counts.Pages != 7 || r.Stopped != StopMaxPages || len(w.urls()) != 7 {
			t.Errorf("%d pages, %d fetched, stopped by %s; want 7, 7, max_pages", r.Counts.Pages, len(w.urls()), r.Stopped)
		}
	})
	t.Run("pages a host", func(t *testing.T) {
		w := &fakeWeb{pages: pages}
		opt := newOptions(t, w, "http://h0.test/0")
		opt.Workers, opt.MaxPerHost = 8, 3
		if r := crawl(t, opt); r.Counts.Pages != 12 || r.Hosts != 4 {
			t.Errorf("%d pages of %d hosts, want 12 of 4", r.Counts.Pages, r.Hosts)
		}
	})
	t.Run("pages a site, over two sessions", func(t *testing.T) {
		w := &fakeWeb{pages: pages}
		opt := newOptions(t, w, "http://h0.test/0")
		opt.Workers, opt.MaxPerSite, opt.MaxPages = 8, 3, 5
		crawl(t, opt)
		opt.MaxPages = 0
		if r := crawl(t, opt); r.Counts.Pages != 12 || r.Hosts != 4 {
			t.Errorf("%d pages of %d sites, want 12 of 4", r.Counts.Pages, r.Hosts)
		}
	})
	t.Run("depth", func(t *testing.T) {
		w := &fakeWeb{pages: pages}
		opt := newOptions(t, w, "http://h0.test/0")
		opt.Scope.MaxDepth = 1
		crawl(t, opt)
		if got := len(w.urls()); got != 4 { // itself, two on the host, one beyond
			t.Errorf("%d pages within one link, want 4: %v", got, w.urls())
		}
	})
	t.Run("time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := &fakeWeb{pages: pages, took: time.Second}
			opt := newOptions(t, w, "http://h0.test/0")
			opt.MaxTime = 5500 * time.Millisecond
			if r := crawl(t, opt); r.Stopped != StopMaxTime || len(w.log) != 6 {
				t.Errorf("stopped by %s after %d exchanges, want max_time after 6", r.Stopped, len(w.log))
			}
		})
	})
}

// TestInterruptAndResume interrupts a crawl at every tenth page and resumes it: each page is
// fetched once, and none is missing.
func TestInterruptAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: manyPages(5, 12), took: 10 * time.Millisecond}
		opt := newOptions(t, w, "http://h0.test/0")
		opt.Workers = 4
		for session := 0; ; session++ {
			ctx, stop := context.WithTimeout(t.Context(), 95*time.Millisecond)
			c, err := New(opt)
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.Run(ctx)
			stop()
			if err != nil {
				t.Fatal(err)
			}
			if r.Stopped == StopEmpty {
				break
			}
			if session > 100 {
				t.Fatal("the crawl does not end")
			}
		}
		seen := map[string]int{}
		for _, u := range w.urls() {
			seen[u]++
		}
		if len(seen) != 60 {
			t.Errorf("%d pages fetched, want 60", len(seen))
		}
		for u, n := range seen {
			if n > 1 {
				t.Errorf("%s was fetched %d times", u, n)
			}
		}
	})
}

// TestInterruptAborts: a fetch that exceeds the grace is aborted, and repeated later.
func TestInterruptAborts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := true
		w := &fakeWeb{pages: map[string]string{"http://a.test/": html("gold")}}
		w.gate = func(ctx context.Context) {
			if stuck {
				<-ctx.Done()
			}
		}
		opt := newOptions(t, w, "http://a.test/")
		c := testkit.Call(New(opt)).Must(t)
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		began := time.Now()
		if r, err := c.Run(ctx); err != nil || r.Stopped != StopInterrupted {
			t.Fatalf("%+v, %v", r, err)
		}
		if took := time.Since(began); took != 6*time.Second {
			t.Errorf("stopped after %v, want 1 s and the grace of 5 s", took)
		}
		stuck = false
		if r := crawl(t, opt); r.Counts.Pages != 1 {
			t.Errorf("resumed crawl has %d pages, want 1", r.Counts.Pages)
		}
	})
}

// memoryScorer is a Rescorer that records pages, and rescores waiting URLs from scores.
type memoryScorer struct {
	wordScorer
	seen   *[]string
	scores map[string]float64
}

func (s memoryScorer) ScorePage(p *page.Page, parent float64) Score {
	*s.seen = append(*s.seen, p.URL)
	return s.wordScorer.ScorePage(p, parent)
}

func (s memoryScorer) Rescore(key uint64) (float64, bool) {
	for u, score := range s.scores {
		if page.Key(u) == key {
			return score, true
		}
	}
	return 0, false
}

// TestRescore: learning reorders the queue, in a resumed crawl at once.
func TestRescore(t *testing.T) {
	pages := map[string]string{"http://s.test/": html("gold", "/1", "/2", "/3")}
	for _, n := range []string{"1", "2", "3"} {
		pages["http://s.test/"+n] = html("gold " + n)
	}
	w := &fakeWeb{pages: pages}
	opt := newOptions(t, w, "http://s.test/")
	var first, second []string
	opt.Ordering, opt.MaxPages = orders.Latest, 2
	opt.Scorer = memoryScorer{wordScorer{0.3}, &first, nil}
	crawl(t, opt)
	opt.MaxPages = 4
	opt.Scorer = memoryScorer{wordScorer{0.3}, &second, map[string]float64{"http://s.test/2": 0.1, "http://s.test/3": 0.9}}
	crawl(t, opt)
	if !slices.Equal(second[:2], first) {
		t.Errorf("replayed %v, want %v", second[:2], first)
	}
	want := []string{"http://s.test/", "http://s.test/1", "http://s.test/3", "http://s.test/2"}
	if got := w.urls(); !slices.Equal(got, want) {
		t.Errorf("fetched %v, want %v", got, want)
	}
}

// brokenWorkers cannot read the store.
type brokenWorkers struct {
	err error
	job *job
}

func (w *brokenWorkers) Start(j *job) { w.job = j }
func (w *brokenWorkers) Wait(time.Time) event {
	return event{What: jobEnded, Outcome: &jobResult{job: w.job, Err: w.err}}
}
func (w *brokenWorkers) Ready() *jobResult { return nil }
func (w *brokenWorkers) End(bool)          {}

func TestFailingStoreEndsTheCrawl(t *testing.T) {
	w := &fakeWeb{pages: manyPages(3, 3)}
	opt := newOptions(t, w, "http://h0.test/0")
	c := testkit.Call(New(opt)).Must(t)
	broken := errors.New("broken")
	if r, err := c.run(&brokenWorkers{err: broken}); !errors.Is(err, broken) || r.Stopped != StopError {
		t.Errorf("result %v, %v; want the store's error", r, err)
	}
}
