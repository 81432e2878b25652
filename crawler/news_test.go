package crawler

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// dated makes an XML sitemap; URLs with "@" have a lastmod after it.
func dated(urls ...string) string {
	var b strings.Builder
	for _, u := range urls {
		url, at, _ := strings.Cut(u, "@")
		fmt.Fprintf(&b, "<url><loc>%s</loc><lastmod>%s</lastmod></url>", url, at)
	}
	return "<urlset>" + b.String() + "</urlset>"
}

// TestNews: each round asks for the sitemap once, before the host's pages, and the page that it
// says has changed comes first. What it names that is new is told and not asked for. The
// sitemap's word is held against what the pages turn out to be.
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
			if i == 7 || i == 9 { // the second is a lie
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

// TestFeeds: a feed that a page names is asked from then on, and its dates are news.
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

// TestNoNews: without the option nobody asks for sitemaps.
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
