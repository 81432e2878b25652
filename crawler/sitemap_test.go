package crawler

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/testkit"
	"fossick/store"
)

func sitemapXML(urls ...string) string {
	var b strings.Builder
	b.WriteString("<urlset>")
	for _, u := range urls {
		fmt.Fprintf(&b, "<url><loc>%s</loc><lastmod>2026-03-01</lastmod></url>", u)
	}
	return b.String() + "</urlset>"
}

func index(urls ...string) string {
	var b strings.Builder
	b.WriteString("<sitemapindex>")
	for _, u := range urls {
		fmt.Fprintf(&b, "<sitemap><loc>%s</loc></sitemap>", u)
	}
	return b.String() + "</sitemapindex>"
}

// crawlSitemaps crawls with sitemaps and checks the store.
func crawlSitemaps(t *testing.T, opt Options) Result {
	t.Helper()
	opt.Sitemaps = true
	r := crawl(t, opt)
	checkSound(t, opt.Store)
	return r
}

func checkSound(t *testing.T, s *store.Store) {
	t.Helper()
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
}

// exchanges returns the journal's exchanges for no URL, as "host purpose state URL", by host.
func exchanges(t *testing.T, s *store.Store) (lines []string) {
	t.Helper()
	for x := range testkit.All(t, s.Exchanges("")) {
		lines = append(lines, fmt.Sprintf("%s %s %s %s", x.Host, x.For, x.State, x.URL))
	}
	return lines
}

func TestSitemaps(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{
		"http://a.test/robots.txt": "User-agent: *\nDisallow: /private/\nSitemap: /index.xml\nSitemap: http://a.test/private/map.xml\n" +
			"Sitemap: http://b.test/for-a.txt\n",
		"http://a.test/index.xml":  index("http://a.test/one.xml", "http://a.test/index.xml", "http://far.test/map.xml"),
		"http://a.test/one.xml":    sitemapXML("http://a.test/1", "http://a.test/private/2", "http://far.test/3", "http://a.test/"),
		"http://b.test/for-a.txt":  "http://a.test/4\nhttp://b.test/5\nhttp://far.test/6\n",
		"http://b.test/robots.txt": "User-agent: *\nDisallow: /x\n",
		"http://a.test/":           html("gold"), "http://a.test/1": html("gold 1"), "http://a.test/4": html("gold 4"), "http://b.test/5": html("gold 5"),
	}}
	opt := newOptions(t, w, "http://a.test/")
	r := crawlSitemaps(t, opt)
	want := []string{
		"http://a.test/index.xml", "http://b.test/for-a.txt", "http://a.test/one.xml",
		"http://a.test/", "http://a.test/4", "http://b.test/5", "http://a.test/1",
	}
	if got := w.urls(); !slices.Equal(got, want) {
		t.Errorf("fetched %v\nwant    %v", got, want)
	}
	if r.Counts.Pages != 4 || r.Counts.Requests != 9 || r.Counts.States["robots_denied"] != 1 {
		t.Errorf("%+v; want 4 pages, 9 requests, one URL denied", r.Counts)
	}
	l := life(t, opt.Store, "http://a.test/4")
	if l.Via != store.ViaSitemap || l.FoundBy != "http://b.test/for-a.txt" || l.Depth != 1 || l.AtHost != "b.test:80" {
		t.Errorf("/4 was found by %q (%s at %s), depth %d", l.FoundBy, l.Via, l.AtHost, l.Depth)
	}
	if l := life(t, opt.Store, "http://a.test/1"); time.Unix(l.Modified, 0).UTC().Format(time.DateOnly) != "2026-03-01" {
		t.Errorf("/1 was modified %d", l.Modified)
	}
	if _, err := opt.Store.URLs().Life("http://far.test/3"); err == nil {
		t.Error("a sitemap named a page of a host that it has no say for")
	}
	wantJournal := []string{
		"a.test:80 robots ok http://a.test/robots.txt", "a.test:80 sitemap ok http://a.test/index.xml", "a.test:80 sitemap ok http://a.test/one.xml",
		"b.test:80 robots ok http://b.test/robots.txt", "b.test:80 sitemap ok http://b.test/for-a.txt",
	}
	if got := exchanges(t, opt.Store); !slices.Equal(got, wantJournal) {
		t.Errorf("journal %v\nwant    %v", got, wantJournal)
	}
	x, err := opt.Store.Exchange("b.test:80", 2)
	if err != nil || x.Owner != "a.test:80" || x.Note != "2 URLs, 2 new; 0 sitemaps; 1 of other hosts ignored" {
		t.Errorf("exchange %+v, %v", x, err)
	}
}

func TestNoSitemapsUnlessAsked(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{
		"http://a.test/robots.txt": "Sitemap: http://a.test/map.xml\n", "http://a.test/map.xml": sitemapXML("http://a.test/1"),
		"http://a.test/": html("gold"), "http://a.test/1": html("gold 1"),
	}}
	opt := newOptions(t, w, "http://a.test/")
	if r := crawl(t, opt); r.Counts.Pages != 1 {
		t.Errorf("%d pages, want 1", r.Counts.Pages)
	}
	// A resumed crawl with sitemaps takes them from the recorded rules.
	w.pages["http://a.test/2"] = html("gold 2")
	opt.Seeds = []string{"http://a.test/2"}
	if r := crawlSitemaps(t, opt); r.Counts.Pages != 3 {
		t.Errorf("%d pages after resuming with sitemaps, want 3", r.Counts.Pages)
	}
}

// TestSitemapTraps: what a hostile owner names is bounded, and costs only his own host.
func TestSitemapTraps(t *testing.T) {
	many := make([]string, 400)
	for i := range many {
		many[i] = fmt.Sprintf("http://a.test/%d", i)
	}
	chain := map[string]string{}
	for i := range 20 {
		chain[fmt.Sprintf("http://a.test/m%d", i)] = index(fmt.Sprintf("http://a.test/m%d", i+1))
	}
	wide := make([]string, 500)
	for i := range wide {
		wide[i] = fmt.Sprintf("http://a.test/w%d", i)
	}
	var links []string // enough for sitemaps to have turns
	for i := range 60 {
		links = append(links, fmt.Sprintf("http://a.test/p/%d", i))
	}
	for name, c := range map[string]struct {
		pages    map[string]string
		requests int // for sitemaps
		urls     int // added by them
	}{
		"too many URLs":  {map[string]string{"http://a.test/m0": sitemapXML(many...)}, 1, 300},
		"itself":         {map[string]string{"http://a.test/m0": index("http://a.test/m0")}, 1, 0},
		"a loop":         {map[string]string{"http://a.test/m0": index("http://a.test/m1"), "http://a.test/m1": index("http://a.test/m0")}, 2, 0},
		"without end":    {chain, 4, 0},
		"too many files": {map[string]string{"http://a.test/m0": index(wide...)}, 50, 0},
		"redirects":      {map[string]string{"http://a.test/m0": "→http://a.test/m1", "http://a.test/m1": "→http://a.test/m0"}, 2, 0},
		"nothing":        {map[string]string{}, 1, 0},
		"a web page":     {map[string]string{"http://a.test/m0": html("not a sitemap", "http://a.test/x")}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := &fakeWeb{pages: map[string]string{"http://a.test/robots.txt": "Sitemap: http://a.test/m0\n", "http://a.test/": html("gold", links...)}}
			for u, body := range c.pages {
				w.pages[u] = body
			}
			opt := newOptions(t, w, "http://a.test/")
			opt.MaxSitemapURLs = 300
			r := crawlSitemaps(t, opt)
			requests := 0
			for _, u := range w.urls() {
				if strings.Contains(u, "/m") || strings.Contains(u, "/w") {
					requests++
				}
			}
			if urls := int(r.Counts.URLs) - 61; requests != c.requests || urls != c.urls {
				t.Errorf("%d requests for sitemaps, %d URLs of theirs; want %d, %d", requests, urls, c.requests, c.urls)
			}
			h, err := opt.Store.Host("a.test:80")
			if err != nil || h.Sitemaps.URLs != c.urls {
				t.Errorf("host %+v, %v", h.Sitemaps, err)
			}
		})
	}
}

// TestSitemapsArePolite: requests for sitemaps on other hosts also respect rests and robots.txt.
func TestSitemapsArePolite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: manyPages(6, 8), took: 300 * time.Millisecond, addrs: map[string]string{
			"h0.test:80": "203.0.113.1", "h1.test:80": "203.0.113.1", // one machine
		}}
		for h := range 6 {
			w.pages[fmt.Sprintf("http://h%d.test/robots.txt", h)] += fmt.Sprintf(
				"Sitemap: http://h%d.test/own.xml\nSitemap: http://h%d.test/other%d.xml\nSitemap: http://h%d.test/third%d.xml\n", h, (h+1)%6, h, (h+3)%6, h)
			w.pages[fmt.Sprintf("http://h%d.test/own.xml", h)] = sitemapXML(fmt.Sprintf("http://h%d.test/extra", h))
			w.pages[fmt.Sprintf("http://h%d.test/extra", h)] = html(fmt.Sprintf("gold extra %d", h))
		}
		opt := newOptions(t, w, "http://h0.test/0", "http://h3.test/3")
		opt.Workers, opt.Delay = 8, Delay{}
		r := crawlSitemaps(t, opt)
		if r.Counts.Pages != 54 {
			t.Errorf("%d pages, want 54", r.Counts.Pages)
		}
		party := func(host string) string {
			if a, ok := w.addrs[host]; ok {
				return a
			}
			return host
		}
		slices.SortFunc(w.log, func(a, b served) int { return a.start.Compare(b.start) })
		last, robots, maps := map[string]served{}, map[string]bool{}, 0
		for _, s := range w.log {
			if before, ok := last[party(s.host)]; ok && s.start.Sub(before.end) < 3*time.Second {
				t.Errorf("%s came %v after %s", s.url, s.start.Sub(before.end), before.url)
			}
			last[party(s.host)] = s
			robots[s.host] = robots[s.host] || strings.HasSuffix(s.url, "/robots.txt")
			if !robots[s.host] {
				t.Errorf("%s came before robots.txt", s.url)
			}
			if strings.HasSuffix(s.url, ".xml") {
				maps++
			}
		}
		if maps != 18 {
			t.Errorf("%d requests for sitemaps, want 18", maps)
		}
	})
}

// TestDeadHostOfASitemap: a sitemap at an unreachable or always busy host does not block pages.
func TestDeadHostOfASitemap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: map[string]string{
			"http://a.test/robots.txt":    "Sitemap: http://slow.test/map.xml\nSitemap: http://down.test/map.xml\nSitemap: http://a.test/map.xml\n",
			"http://slow.test/robots.txt": "User-agent: *\nCrawl-delay: 86400\n",
			"http://a.test/map.xml":       sitemapXML("http://a.test/1"),
			"http://a.test/":              html("gold"), "http://a.test/1": html("gold 1"),
		}, took: 100 * time.Millisecond, fail: map[string][]fetch.Response{
			"http://down.test/robots.txt": slices.Repeat([]fetch.Response{{State: fetch.StateConnectError}}, 9),
		}}
		opt := newOptions(t, w, "http://a.test/")
		opt.Delay = Delay{}
		start := time.Now()
		r := crawlSitemaps(t, opt)
		if took := time.Since(start); r.Counts.Pages != 2 || took > 5*time.Minute {
			t.Errorf("%d pages after %v; want 2 within minutes", r.Counts.Pages, took)
		}
	})
}

// TestSitemapsOfHostsWithoutPages: remaining sitemaps are read before the crawl ends.
func TestSitemapsOfHostsWithoutPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: map[string]string{"http://a.test/": html("gold")}, took: 100 * time.Millisecond}
		robots := ""
		for i := range 8 {
			robots += fmt.Sprintf("Sitemap: http://a.test/%d.xml\n", i)
			w.pages[fmt.Sprintf("http://a.test/%d.xml", i)] = sitemapXML()
		}
		w.pages["http://a.test/7.xml"] = sitemapXML("http://a.test/last")
		w.pages["http://a.test/last"] = html("gold at last")
		w.pages["http://a.test/robots.txt"] = robots
		opt := newOptions(t, w, "http://a.test/")
		opt.Delay = Delay{}
		if r := crawlSitemaps(t, opt); r.Counts.Pages != 2 {
			t.Errorf("%d pages, want 2: %v", r.Counts.Pages, w.urls())
		}
		for i := 1; i < len(w.log); i++ {
			if rest := w.log[i].start.Sub(w.log[i-1].end); rest < 2*time.Second {
				t.Errorf("%s came %v after %s", w.log[i].url, rest, w.log[i-1].url)
			}
		}
	})
}
