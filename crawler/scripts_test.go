package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/render"
)

// fakeBrowser asks for URLs and then leaves a page.
type fakeBrowser struct {
	asks map[string][]string // page → requests of its scripts
	html map[string]string   // page → what they leave; none: a crash
	made map[string][]bool   // page → which requests were made
	late bool                // the scripts do not end
	took time.Duration       // of each rendering
	err  error               // of each rendering
}

func (f *fakeBrowser) Render(ctx context.Context, p render.Page) (*render.Result, error) {
	time.Sleep(f.took)
	if f.err != nil {
		return nil, f.err
	}
	for _, url := range f.asks[p.URL] {
		f.made[p.URL] = append(f.made[p.URL], p.Ask(ctx, url) != nil)
	}
	left, ok := f.html[p.URL]
	if !ok {
		return nil, errors.New("crashed")
	}
	return &render.Result{HTML: []byte(left), Late: f.late}, nil
}

// TestRevisitOfARenderedPage: a browser that fails later does not replace what it once made by the shell,
// and what a script left when it was cut off is used only if it says more.
func TestRevisitOfARenderedPage(t *testing.T) {
	const url = "http://a.test/0"
	shell := html("gold shell") + "<script src=/app.js></script>"
	w := &fakeWeb{pages: map[string]string{url: shell}}
	b := &fakeBrowser{made: map[string][]bool{}, html: map[string]string{url: html("gold made by a script")}}
	opt := newOptions(t, w, url)
	opt.Browser = b
	crawl(t, opt)
	opt.Refresh = time.Minute
	for week, c := range []struct {
		left, title string
		late        bool
	}{
		{"", "gold made by a script", false}, {html("gold made anew"), "gold made anew", false}, {html("cut"), "gold made anew", true},
	} {
		w.pages[url] = strings.Replace(shell, "gold", fmt.Sprint("gold ", week, " "), 1)
		delete(b.html, url)
		if b.late = c.late; c.left != "" {
			b.html[url] = c.left
		}
		opt.Now = func() time.Time { return time.Now().Add(time.Duration(week+1) * 8 * 24 * time.Hour) }
		crawl(t, opt)
		if p := life(t, opt.Store, url).Page; p.Title != c.title || !p.Rendering.Done() {
			t.Errorf("after visit %d: %q, rendering %+v; want %q", week+1, p.Title, p.Rendering, c.title)
		}
	}
}

// TestScriptsAreAskedForPolitely: robots.txt holds for the requests of a page's scripts, a host rests
// for all of them together, and only known, free hosts are asked.
func TestScriptsAreAskedForPolitely(t *testing.T) {
	const script = "<script src=/app.js></script>"
	for _, c := range []struct {
		robots string
		gap    time.Duration // before a.test/2: 3 requests of 300 ms at a.test
	}{
		{"User-agent: *\nDisallow: /secret\n", 9 * time.Second},
		{"User-agent: *\nDisallow: /secret\nCrawl-delay: 7\n", 21 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &fakeWeb{took: 300 * time.Millisecond, pages: map[string]string{
				"http://a.test/robots.txt": c.robots,
				"http://a.test/0":          html("gold", "/1"),
				"http://a.test/1":          html("gold shell") + script,
				"http://a.test/2":          html("gold end") + script,
				"http://a.test/app.js":     "code",
				"http://b.test/0":          html("gold of another host"),
				"http://b.test/lib.js":     "code",
				"http://unknown.test/x":    "code",
				"http://shut.test/x":       "code",

				"http://shut.test/robots.txt": "User-agent: *\nDisallow: /\n",
			}}
			b := &fakeBrowser{made: map[string][]bool{},
				asks: map[string][]string{"http://a.test/1": {
					"http://a.test/app.js", "http://a.test/secret", "http://b.test/lib.js", "http://unknown.test/x", "http://shut.test/x", "http://a.test/app.js", "http://a.test/app.js",
				}},
				html: map[string]string{"http://a.test/1": html("gold made by a script", "/2")},
			}
			opt := newOptions(t, w, "http://a.test/0", "http://b.test/0")
			opt.Workers, opt.Delay, opt.Browser, opt.RenderRequests = 4, Delay{}, b, 6
			r := crawl(t, opt)
			if made := b.made["http://a.test/1"]; !slices.Equal(made, []bool{true, false, true, true, false, true, false}) {
				t.Errorf("requests made: %v", made)
			}
			if r.Counts.Pages != 4 {
				t.Errorf("%d pages, want 4: %v", r.Counts.Pages, w.urls())
			}
			var last, next, robots served
			for _, s := range w.log {
				switch {
				case s.url == "http://a.test/2":
					next = s
				case s.host == "a.test:80":
					last = s
				case strings.HasPrefix(s.url, "http://unknown.test/robots"):
					robots = s
				case s.host == "unknown.test:80" && s.start.Sub(robots.end) < 3*time.Second, s.url == "http://shut.test/x":
					t.Errorf("%s was asked for %v after robots.txt", s.url, s.start.Sub(robots.end))
				}
			}
			if gap := next.start.Sub(last.end); gap < c.gap || gap > c.gap+time.Second {
				t.Errorf("a.test was asked %v after the requests of a page's scripts, want %v", gap, c.gap)
			}
			if want := uint64(len(w.log)); r.Counts.Requests != want {
				t.Errorf("%d requests counted, %d made", r.Counts.Requests, want)
			}
			made, crashed := life(t, opt.Store, "http://a.test/1").Page, life(t, opt.Store, "http://a.test/2").Page
			if g := made.Rendering; !g.Done() || g.Requests != 6 || g.NowLinks != 1 || g.Links != 0 || made.Title != "gold made by a script" {
				t.Errorf("page %q, rendering %+v", made.Title, g)
			}
			if g := crashed.Rendering; g.Done() || g.Failed != "crashed" || crashed.Title != "gold end" {
				t.Errorf("page %q after a crash, rendering %+v", crashed.Title, g)
			}
			if p := life(t, opt.Store, "http://a.test/0").Page; p.Rendering != nil {
				t.Error("a page without scripts was rendered")
			}
		})
	}
}

// TestScriptsMeetRefusals: a host that answers the scripts of pages with 429, 503 or a challenge rests longer
// and longer, as long as it asks for, though its pages come; other hosts do not.
func TestScriptsMeetRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		answer fetch.Response
		gaps   []time.Duration // after the requests of each page
	}{
		"Retry-After": {fetch.Response{State: fetch.StateCode, Code: 503, RetryAfter: 20 * time.Second}, []time.Duration{20 * time.Second, 20 * time.Second, 20 * time.Second}},
		"429":         {fetch.Response{State: fetch.StateCode, Code: 429}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
		"challenge":   {fetch.Response{State: fetch.StateChallenge, Code: 403}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
		"404":         {fetch.Response{State: fetch.StateCode, Code: 404}, []time.Duration{0, 0, 0}},
	} {
		for _, at := range []string{"a.test", "b.test"} {
			t.Run(name+" of "+at, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					data := "http://" + at + "/data"
					w := &fakeWeb{took: 10 * time.Millisecond, pages: map[string]string{"http://b.test/0": html("gold b", "/1"), "http://b.test/1": html("gold b1")},
						fail: map[string][]fetch.Response{data: {c.answer, c.answer, c.answer, c.answer, c.answer}}}
					b := &fakeBrowser{made: map[string][]bool{}, asks: map[string][]string{}, html: map[string]string{}}
					for n := range 4 {
						url := fmt.Sprint("http://a.test/", n)
						w.pages[url] = html(fmt.Sprint("gold shell ", n)) + "<script src=/app.js></script>"
						b.asks[url], b.html[url] = []string{data, data}, html(fmt.Sprint("gold made ", n), fmt.Sprint("/", n+1))
					}
					opt := newOptions(t, w, "http://a.test/0")
					opt.Delay, opt.Browser, opt.RenderRequests = Delay{Fixed: true, Rest: 100 * time.Millisecond}, b, 3
					crawl(t, opt)
					var gaps []time.Duration
					var last served
					for _, s := range w.log {
						if s.host != at+":80" {
							continue
						}
						if last.url == data && (s.url != data || at != "a.test") {
							gaps = append(gaps, s.start.Sub(last.end))
						}
						last = s
					}
					for i, least := range c.gaps {
						if i >= len(gaps) && at == "a.test" || i < len(gaps) && gaps[i] < least {
							t.Errorf("gaps after refusals %v, want at least %v: %v", gaps, c.gaps, w.urls())
							break
						}
					}
				})
			})
		}
	}
}

// freshWeb is a web whose scripts are fresh for a while.
type freshWeb struct{ *fakeWeb }

func (w freshWeb) Fetch(ctx context.Context, req fetch.Request) *fetch.Response {
	r := w.fakeWeb.Fetch(ctx, req)
	if strings.HasSuffix(req.URL, ".js") {
		r.Header.Set("Cache-Control", "public, max-age=3600")
	}
	return r
}

// TestSharedScripts: a script that several pages share is asked for once, and counts in no further rest.
func TestSharedScripts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: map[string]string{"http://a.test/app.js": "code", "http://a.test/data": "data"}}
		b := &fakeBrowser{made: map[string][]bool{}, asks: map[string][]string{}, html: map[string]string{}}
		for n := range 3 {
			url := fmt.Sprint("http://a.test/", n)
			w.pages[url] = html(fmt.Sprint("gold shell ", n)) + "<script src=/app.js></script>"
			b.asks[url], b.html[url] = []string{"http://a.test/app.js", "http://a.test/data"}, html(fmt.Sprint("gold made ", n), fmt.Sprint("/", n+1))
		}
		opt := newOptions(t, w, "http://a.test/0")
		opt.Fetcher, opt.Browser, opt.RenderRequests = freshWeb{w}, b, 3
		r := crawl(t, opt)
		asked := map[string]int{}
		for _, s := range w.log {
			asked[s.url]++
		}
		if asked["http://a.test/app.js"] != 1 || asked["http://a.test/data"] != 3 || r.Counts.Pages != 3 {
			t.Errorf("%d pages, asked for %v", r.Counts.Pages, asked)
		}
		if g := life(t, opt.Store, "http://a.test/2").Page.Rendering; g.Requests != 1 {
			t.Errorf("the last page made %d requests, want 1", g.Requests)
		}
	})
}

func TestFreshness(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header string
		want   time.Duration
	}{
		{"", 0},
		{"Cache-Control: max-age=60", time.Minute},
		{"Cache-Control: Public, Max-Age=\"60\"; Age: 20", 40 * time.Second},
		{"Cache-Control: private; Expires: Sun, 01 Nov 2026 13:00:00 GMT", time.Hour},
		{"Cache-Control: max-age=60; Expires: Sun, 01 Nov 2026 13:00:00 GMT", time.Minute},
		{"Expires: 0; Last-Modified: Sat, 31 Oct 2026 12:00:00 GMT", -1},
		{"Cache-Control: no-cache, max-age=60", 0},
		{"Cache-Control: max-age=60; Cache-Control: no-store", 0},
		{"Cache-Control: max-age=-5", 0},
		{"Cache-Control: max-age=60; Vary: *", 0},
		{"Last-Modified: Sun, 01 Nov 2026 02:00:00 GMT", time.Hour},
	} {
		h := http.Header{}
		for field := range strings.SplitSeq(c.header, "; ") {
			if name, value, ok := strings.Cut(field, ": "); ok {
				h.Add(name, value)
			}
		}
		if got := freshness(h, now); got != c.want && (c.want >= 0 || got > 0) {
			t.Errorf("%s: fresh for %v, want %v", c.header, got, c.want)
		}
	}
	cache, body := scriptCache{}, make([]byte, halfCacheBytes/5)
	put := func(n int) {
		cache.put(&fetch.Response{URL: fmt.Sprint(n), State: fetch.StateOK, Body: body, Header: http.Header{"Cache-Control": {"max-age=60"}}}, now)
	}
	for n := range 12 {
		put(n)
		if cache.get("0", now) == nil {
			t.Fatalf("an answer that is used is dropped after %d others", n)
		}
	}
	small := scriptCache{}
	for n := range 3 * halfCacheBytes / 512 {
		small.put(&fetch.Response{URL: fmt.Sprint(n), State: fetch.StateOK, Header: http.Header{"Cache-Control": {"max-age=60"}}}, now)
	}
	if all := len(small.young) + len(small.old); all > 2*halfCacheBytes/512 {
		t.Errorf("%d empty answers are kept", all)
	}
	if cache.get("1", now) != nil || cache.get("11", now.Add(time.Hour)) != nil || len(cache.young)+len(cache.old) > 11 {
		t.Errorf("an unused or stale answer is given, or %d are kept", len(cache.young)+len(cache.old))
	}
}

// deadWeb has a host without an address.
type deadWeb struct {
	*fakeWeb
	looked int
}

func (w *deadWeb) Resolve(ctx context.Context, host string) (netip.Addr, error) {
	if host == "dead.test:80" {
		w.looked++
		return netip.Addr{}, errors.New("no such host")
	}
	return w.fakeWeb.Resolve(ctx, host)
}

// TestScriptsLeaveHostsAlone: no request of a page passes by the rest of a host that it borrows, and what
// fails once is not tried for each page.
func TestScriptsLeaveHostsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &deadWeb{fakeWeb: &fakeWeb{pages: map[string]string{
			"http://slow.test/robots.txt": "User-agent: *\nCrawl-delay: 600\n",
			"http://hop.test/robots.txt":  "→http://hop.test/r.txt", "http://hop.test/r.txt": "User-agent: *\n",
		}, fail: map[string][]fetch.Response{"http://tls.test/robots.txt": slices.Repeat([]fetch.Response{{State: fetch.StateTLSError}}, 9)}}}
		b := &fakeBrowser{made: map[string][]bool{}, asks: map[string][]string{}, html: map[string]string{}}
		for n := range 4 {
			url := fmt.Sprint("http://a.test/", n)
			w.pages[url] = html(fmt.Sprint("gold shell ", n)) + "<script src=/app.js></script>"
			b.html[url] = html(fmt.Sprint("gold made ", n), fmt.Sprint("/", n+1))
			for _, host := range []string{"slow", "hop", "tls", "dead", "out"} {
				url2 := "http://" + host + ".test/x"
				w.pages[url2] = "code"
				b.asks[url] = append(b.asks[url], url2, url2)
			}
		}
		opt := newOptions(t, w.fakeWeb, "http://a.test/0")
		opt.Fetcher, opt.Browser, opt.RenderRequests = w, b, 20
		opt.Delay, opt.Scope.Exclude = Delay{Fixed: true, Rest: 100 * time.Millisecond}, regexp.MustCompile("//out")
		crawl(t, opt)
		asked, last := map[string]int{}, map[string]time.Time{}
		for _, s := range w.log {
			asked[s.url]++
			if gap := s.start.Sub(last[s.host]); gap < 100*time.Millisecond && strings.HasPrefix(s.url, "http://hop.test/r") {
				t.Errorf("%s came after %v", s.url, gap)
			}
			last[s.host] = s.end
		}
		for url, want := range map[string]int{
			"http://slow.test/robots.txt": 1, "http://slow.test/x": 0, "http://hop.test/robots.txt": 1, "http://hop.test/r.txt": 1, "http://hop.test/x": 2,
			"http://tls.test/robots.txt": 1, "http://tls.test/x": 0, "http://out.test/robots.txt": 0,
		} {
			if asked[url] != want {
				t.Errorf("%s was asked for %d times, want %d: %v", url, asked[url], want, asked)
			}
		}
		if w.looked != 1 {
			t.Errorf("the dead host was looked up %d times", w.looked)
		}
	})
}
