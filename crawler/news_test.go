package crawler

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/internal/page"
	"fossick/store"
	"fossick/store/change"
)

// dated makes an XML sitemap; text after "@" in a URL is its lastmod.
func dated(urls ...string) string {
	var b strings.Builder
	for _, u := range urls {
		url, at, _ := strings.Cut(u, "@")
		fmt.Fprintf(&b, "<url><loc>%s</loc><lastmod>%s</lastmod></url>", url, at)
	}
	return "<urlset>" + b.String() + "</urlset>"
}

// TestNews: each round requests the sitemap once, first, and then the pages that it reports as
// changed. New URLs are counted, not requested. Claims are checked.
func TestNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		links, begun := []string{"http://b.test/"}, time.Now().UTC().Add(-time.Hour).Format(time.RFC3339)
		w := &fakeWeb{pages: map[string]string{
			"http://a.test/robots.txt": "User-agent: *\nDisallow: /no\nSitemap: http://a.test/index.xml\nSitemap: http://a.test/no.xml\nSitemap: http://b.test/of-a.xml\n",
			"http://a.test/index.xml":  index("http://a.test/map.xml"),
			"http://b.test/":           html("gold of another host"),
		}}
		for i := range 12 {
			url := fmt.Sprintf("http://a.test/%d", i)
			links, w.pages[url] = append(links, url), html(fmt.Sprintf("gold %d", i))
		}
		w.pages["http://a.test/"] = html("gold", links...)
		opt := newOptions(t, w, "http://a.test/")
		opt.Text = func(body []byte, _, _ string) string { return string(body) }
		opt.News = true
		crawl(t, opt)
		time.Sleep(time.Minute)
		w.pages["http://a.test/7"] = html("gold of today")
		entries := []string{"http://a.test/fresh@" + begun, "http://b.test/@" + time.Now().UTC().Format(time.RFC3339)}
		for i := range 12 {
			at := begun
			if i == 7 || i == 9 { // the second claim is false
				at = time.Now().UTC().Format(time.RFC3339)
			}
			entries = append(entries, links[1+i]+"@"+at)
		}
		w.pages["http://a.test/map.xml"] = dated(entries...)
		time.Sleep(time.Second)
		opt.Seeds = nil
		rounds(t, &opt, 2)
		before := len(w.urls())
		r := crawl(t, opt)
		asked := w.urls()[before:]
		var atA []string
		for _, u := range asked {
			if strings.HasPrefix(u, "http://a.test/") {
				atA = append(atA, strings.TrimPrefix(u, "http://a.test"))
			}
		}
		if got := strings.Join(atA[:4], " "); got != "/index.xml /map.xml /7 /9" && got != "/index.xml /map.xml /9 /7" {
			t.Errorf("asked first: %s", got)
		}
		n := visitsTo(asked)
		if n["http://a.test/fresh"] != 0 || n["http://a.test/map.xml"] != 2 || n["http://a.test/index.xml"] != 2 || n["http://b.test/of-a.xml"] != 0 || n["http://a.test/no.xml"] != 0 || len(asked) != 2*(14+2) {
			t.Errorf("asked: %v", n)
		}
		if c := r.News; c.Asked != 4 || c.Changed != 2 || c.New != 1 || len(c.URLs) != 1 || c.URLs[0] != "http://a.test/fresh" || r.Refreshed.Asked != 28 {
			t.Errorf("%+v, %+v", c, r.Refreshed)
		}
		h, err := opt.Store.Host("a.test:80")
		if err != nil || h.Announced == nil || len(h.Announced.Sources) != 3 || h.Announced.Checks != 24 || h.Announced.Failed != 1 {
			t.Errorf("%+v, %v: want one of 24 checks failed", h.Announced, err)
		}
		checkVerified(t, opt.Store)
	})
}

// TestFeeds: a feed named by a page is requested from then on, and its dates are claims.
func TestFeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: map[string]string{
			"http://a.test/":  `<link rel=alternate type=application/rss+xml href=/feed><link rel=alternate type=application/atom+xml href=http://b.test/feed>` + html("gold", "/0", "/1"),
			"http://a.test/0": html("gold 0"), "http://a.test/1": html("gold 1"),
		}}
		opt := newOptions(t, w, "http://a.test/")
		opt.News = true
		crawl(t, opt)
		time.Sleep(time.Minute)
		w.pages["http://a.test/1"] = html("gold of today")
		w.pages["http://a.test/feed"] = fmt.Sprintf("<rss><channel><item><link>http://a.test/1</link><pubDate>%s</pubDate></item><item><link>http://a.test/2</link></item></channel></rss>", time.Now().UTC().Format(time.RFC1123Z))
		time.Sleep(time.Second)
		opt.Seeds = nil
		rounds(t, &opt, 1)
		before := len(w.urls())
		r := crawl(t, opt)
		if got := strings.Join(w.urls()[before:before+2], " "); got != "http://a.test/feed http://a.test/1" || r.News.New != 1 || r.News.Changed != 1 {
			t.Errorf("asked first %s, %+v", got, r.News)
		}
	})
}

// TestNoNews: without the option no sitemap is requested.
func TestNoNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{pages: map[string]string{
			"http://a.test/robots.txt": "Sitemap: http://a.test/map.xml\n", "http://a.test/map.xml": dated("http://a.test/@2026-01-01"), "http://a.test/": html("gold"),
		}}
		opt := newOptions(t, w, "http://a.test/")
		crawl(t, opt)
		time.Sleep(time.Second)
		rounds(t, &opt, 1)
		if r := crawl(t, opt); r.Refreshed.Asked != 1 || visitsTo(w.urls())["http://a.test/map.xml"] != 0 {
			t.Errorf("%v, %+v", w.urls(), r.Refreshed)
		}
	})
}

// TestClaims: a source's claim is checked against the next visit, if possible.
func TestClaims(t *testing.T) {
	const seen, at, visit = 1_000_500_000, 2_000_000_000, 2_010_000_000 // milliseconds
	for name, c := range map[string]struct {
		modified     int64 // seconds
		found        change.Kind
		dated        int64
		start        int64
		news         bool
		made, failed int
	}{
		"a change that is one":             {1_500_001, change.Text, 0, visit, true, 1, 0},
		"a change that is none":            {1_500_001, change.None, 0, visit, true, 1, 1},
		"a change of an advert":            {1_500_001, change.Content, 0, visit, true, 1, 1},
		"none, and there is none":          {900_001, change.None, 0, visit, false, 1, 0},
		"one that is hidden":               {900_001, change.Text, 0, visit, false, 1, 1},
		"one after the source":             {900_001, change.Text, 2_005_000, visit, false, 0, 0},
		"one before it":                    {900_001, change.Text, 1_900_000, visit, false, 1, 1},
		"perhaps one after it":             {900_001, change.Text, 0, 3_000_000_000, false, 0, 0},
		"in the second of the visit":       {1_000_500, change.Text, 0, visit, true, 0, 0},
		"on the day of the visit":          {86400 * 11, change.None, 0, visit, true, 0, 0},
		"on a day before":                  {86400 * 9, change.None, 0, visit, false, 1, 0},
		"on a day after, and there is one": {86400 * 12, change.Unsure, 0, visit, true, 1, 0},
	} {
		var claims newsClaims
		var a store.Announced
		source := claims.Asked("http://a.test/m", at)
		if got := claims.Take(source, 7, c.modified, seen); got != c.news {
			t.Errorf("%s: news %v, want %v", name, got, c.news)
		}
		if claims.Take(source, 7, c.modified, seen) {
			t.Errorf("%s: told twice", name)
		}
		v := store.Visit{Start: c.start, State: "ok", Change: c.found, Modified: c.dated}
		claims.visited(&a, 7, seen, &v)
		claims.visited(&a, 7, visit+1, &store.Visit{Start: visit + 2, State: "ok"}) // no request since
		if a.Checks != c.made || a.Failed != c.failed {
			t.Errorf("%s: %d of %d checks failed, want %d of %d", name, a.Failed, a.Checks, c.failed, c.made)
		}
	}
}

// TestNoCheck: visits that do not confirm the page's content check no claim.
func TestNoCheck(t *testing.T) {
	var claims newsClaims
	var a store.Announced
	for _, state := range []string{"code", "duplicate", "connect_timeout", "redirect"} {
		claims.Take(claims.Asked("http://a.test/m", 2_000_000_000), 7, 1_500_001, 1_000_000_000)
		claims.visited(&a, 7, 1_000_000_000, &store.Visit{Start: 2_010_000_000, State: state})
	}
	claims.visited(&a, 7, 2_005_000_000, &store.Visit{Start: 2_010_000_000, State: "ok"}) // seen after the source was requested
	if a.Checks != 0 {
		t.Errorf("%+v, want no check", a)
	}
	claims.Asked("http://a.test/m", 3_000_000_000) // the 304 hides a later change
	claims.visited(&a, 7, 2_005_000_000, &store.Visit{Start: 3_000_001_000, State: "ok", Change: change.Text})
	if a.Checks != 1 || a.Failed != 1 {
		t.Errorf("%+v, want a check that failed", a)
	}
}

func TestBelief(t *testing.T) {
	for _, c := range []struct {
		made, failed      int
		believed, doubted bool
	}{{0, 0, false, false}, {1, 0, false, false}, {8, 0, false, false}, {9, 0, true, false}, {20, 0, true, false}, {20, 10, false, true}, {3, 3, false, true}, {300, 3, true, false}} {
		a := &store.Announced{Checks: c.made, Failed: c.failed}
		if Believed(a) != c.believed || Doubted(a) != c.doubted {
			t.Errorf("%d of %d failed: believed %v, doubted %v", c.failed, c.made, Believed(a), Doubted(a))
		}
	}
}

func TestSources(t *testing.T) {
	var a store.Announced
	add(&a, page.Host("http://a.test/"), "http://a.test/m", "http://b.test/m", "http://a.test/m")
	if len(a.Sources) != 1 || find(&a, "http://a.test/m") == nil || find(&a, "http://b.test/m") != nil {
		t.Errorf("%+v", a.Sources)
	}
	for i := range 2 * maxSources {
		add(&a, page.Host("http://a.test/"), fmt.Sprintf("http://a.test/%d", i))
	}
	if len(a.Sources) != maxSources {
		t.Errorf("%d sources", len(a.Sources))
	}
	var c NewsCounts
	for i := range 2 * maxNamed {
		c.fresh(fmt.Sprintf("http://a.test/%d", i))
		c.fresh("http://a.test/1")
	}
	if sum := c.plus(c); c.New != 2*maxNamed || len(c.URLs) != maxNamed || sum.New != 4*maxNamed || len(sum.URLs) != maxNamed {
		t.Errorf("%d new, %d named", c.New, len(c.URLs))
	}
}
