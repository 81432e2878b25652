package crawler

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// shell is a page that scripts make, with the links of its <noscript>.
func shell(links ...string) string {
	s := `<html><title>gold</title><body><div id="root"></div><script src="/app.js"></script><noscript>Enable JavaScript`
	for _, l := range links {
		s += fmt.Sprintf(` <a href="%s">gold</a>`, l)
	}
	return s + "</noscript>"
}

// withShells has scripts make the page /5 of each host. It leads where it led, by fewer links.
func withShells(web map[string]string, hosts int) map[string]string {
	for h := range hosts {
		web[fmt.Sprintf("http://h%d.test/5", h)] = shell("/6", fmt.Sprintf("http://h%d.test/5", (h+1)%hosts))
	}
	return web
}

// A page that scripts make is no page of the crawl, on topic or off; its links are followed.
func TestShells(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{
		"http://a.test/":       html("gold", "/shell", "/same"),
		"http://a.test/shell":  shell("/behind"),
		"http://a.test/same":   shell("/behind"),
		"http://a.test/behind": html("gold again"),
	}}
	opt := newOptions(t, w, "http://a.test/")
	for _, pages := range []uint64{1, 2, 9} { // sessions
		opt.MaxPages = pages
		crawl(t, opt)
	}
	n, err := opt.Store.Counts()
	if err != nil || n.Pages != 2 || n.Relevant != 2 || n.States["script_only"] != 2 || n.States["ok"] != 2 || len(w.urls()) != 4 {
		t.Errorf("%+v, %v, asked for %q; want 2 pages and 2 made by script", n, err, w.urls())
	}
	for _, url := range []string{"http://a.test/shell", "http://a.test/same"} {
		l := life(t, opt.Store, url)
		if l.Fate == nil || l.Page != nil || l.Fate.Next == 0 || !strings.HasPrefix(l.Fate.Reason, "scripts make this page") || l.Visits[0].State != "ok" {
			t.Errorf("%s: fate %+v, page %v, visits %+v", url, l.Fate, l.Page, l.Visits)
		}
	}
	if l := life(t, opt.Store, "http://a.test/behind"); l.FoundBy == "http://a.test/" || l.Page == nil {
		t.Errorf("the page behind was found by %q", l.FoundBy)
	}
}

// A stored page that scripts make by now stays as it is stored, until it has words again.
func TestShellOfAStoredPage(t *testing.T) {
	w := &fakeWeb{pages: map[string]string{"http://a.test/": html("gold")}}
	opt := newOptions(t, w, "http://a.test/")
	crawl(t, opt)
	opt.Refresh = time.Minute
	for week, page := range []string{shell(), html("gold again")} {
		w.pages["http://a.test/"] = page
		opt.Now = func() time.Time { return time.Now().Add(time.Duration(week+1) * 8 * 24 * time.Hour) }
		crawl(t, opt)
		l, state, title := life(t, opt.Store, "http://a.test/"), []string{"script_only", "ok"}[week], []string{"gold", "gold again"}[week]
		if l.Fate.State != state || l.Page == nil || l.Page.Title != title {
			t.Errorf("fate %+v, page %+v; want %s and %q", l.Fate, l.Page, state, title)
		}
	}
}

// Several agents end the same URLs so as one.
func TestShellsOfAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hosts, pages = 6, 8
		w := &fakeWeb{pages: withShells(manyPages(hosts, pages), hosts)}
		x := newTeam(t, w, 3, hosts, "http://h0.test/0")
		x.settle()
		urls := slices.Concat(x.finish()...)
		if n := x.counts(); n.States["script_only"] != hosts || n.Pages != hosts*(pages-1) || uint64(len(urls)) != n.Pages {
			t.Errorf("%d pages, states %v; want %d made by script", n.Pages, n.States, hosts)
		}
	})
}
