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

	"fossick/crawler/render"
)

// fakeBrowser asks for URLs and then leaves a page.
type fakeBrowser struct {
	asks map[string][]string // page → requests of its scripts
	html map[string]string   // page → what they leave; none: a crash
	made map[string][]bool   // page → which requests were made
	late bool                // the scripts do not end
	took time.Duration       // of each rendering
}

func (f *fakeBrowser) Render(ctx context.Context, p render.Page) (*render.Result, error) {
	time.Sleep(f.took)
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
			}}
			b := &fakeBrowser{made: map[string][]bool{},
				asks: map[string][]string{"http://a.test/1": {
					"http://a.test/app.js", "http://a.test/secret", "http://b.test/lib.js", "http://unknown.test/x", "http://a.test/app.js", "http://a.test/app.js",
				}},
				html: map[string]string{"http://a.test/1": html("gold made by a script", "/2")},
			}
			opt := newOptions(t, w, "http://a.test/0", "http://b.test/0")
			opt.Workers, opt.Delay, opt.Browser, opt.RenderRequests = 4, Delay{}, b, 3
			r := crawl(t, opt)
			if made := b.made["http://a.test/1"]; !slices.Equal(made, []bool{true, false, true, false, true, false}) {
				t.Errorf("requests made: %v", made)
			}
			if r.Counts.Pages != 4 {
				t.Errorf("%d pages, want 4: %v", r.Counts.Pages, w.urls())
			}
			var last, next served
			for _, s := range w.log {
				switch {
				case s.url == "http://a.test/2":
					next = s
				case s.host == "a.test:80":
					last = s
				case strings.Contains(s.url, "unknown"):
					t.Errorf("%s was asked for", s.url)
				}
			}
			if gap := next.start.Sub(last.end); gap < c.gap || gap > c.gap+time.Second {
				t.Errorf("a.test was asked %v after the requests of a page's scripts, want %v", gap, c.gap)
			}
			if want := uint64(len(w.log)); r.Counts.Requests != want {
				t.Errorf("%d requests counted, %d made", r.Counts.Requests, want)
			}
			made, crashed := life(t, opt.Store, "http://a.test/1").Page, life(t, opt.Store, "http://a.test/2").Page
			if g := made.Rendering; !g.Done() || g.Requests != 3 || g.NowLinks != 1 || g.Links != 0 || made.Title != "gold made by a script" {
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
