package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/crawler/render"
	"fossick/datasets/web"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// crawledPage is what a crawl read on a page.
type crawledPage struct {
	text  string
	links int
}

// crawledPages returns what the crawl in dir read on each page.
func crawledPages(t *testing.T, dir string) (read map[string]crawledPage, rendered int) {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	read = map[string]crawledPage{}
	for p, err := range s.Pages() {
		if err != nil {
			t.Fatal(err)
		}
		body, err := s.Body(p.Number)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := page.Parse(body, page.ParseOptions{URL: p.URL, ContentType: p.ContentType})
		if err != nil {
			t.Fatal(err)
		}
		read[p.URL] = crawledPage{strings.Join(strings.Fields(parsed.Text), " "), len(p.Links)}
		if p.Rendering.Done() {
			rendered++
		}
	}
	return read, rendered
}

// TestRenderedCrawl: a crawl of shells that renders reads what a crawl of the plain pages reads. By the
// server's log it asks one host one thing at a time, rests for all requests of a page together, and
// obeys robots.txt.
func TestRenderedCrawl(t *testing.T) {
	b, err := render.New(t.Context(), render.Options{Dir: t.TempDir()})
	if err == nil {
		err = b.Close()
	}
	if err != nil {
		t.Skipf("no browser to test with: %v", err)
	}
	hosts, pages := testkit.Rounds(3, 8), testkit.Rounds(4, 12)
	const rest = 300 * time.Millisecond
	crawl := func(shells float64, flags ...string) (dir string, log *requestLog) {
		log = &requestLog{}
		addr, _ := served(t, linkedWeb(hosts, pages), web.Options{Shells: shells, Disallow: .1, Log: log})
		dir = filepath.Join(t.TempDir(), "crawl")
		fossick(t, append([]string{"focus", "--topic", "a", "--keywords", "page", "--seed", "http://h0.test/0", "--proxy", "http://" + addr,
			"--threshold", "0", "--delay", rest.String(), "--store", dir, "--json", "--quiet"}, flags...)...)
		return dir, log
	}
	plain, _ := crawl(0)
	want, none := crawledPages(t, plain)
	if none > 0 {
		t.Errorf("%d pages rendered without --render", none)
	}
	shells, log := crawl(1, "--render", "always")
	got, rendered := crawledPages(t, shells)
	if len(want) < hosts || rendered != len(got) {
		t.Fatalf("%d pages, %d of %d shells rendered", len(want), rendered, len(got))
	}
	if !maps.Equal(got, want) {
		t.Errorf("the shells gave %v\nthe plain pages %v", got, want)
	}
	if why := string(fossick(t, "why", "http://h0.test/1", "--store", shells)); !strings.Contains(why, "with 2 requests: ") || !strings.Contains(why, "words instead of 0") {
		t.Errorf("why says nothing of the rendering: %s", why)
	}
	if stats := string(fossick(t, "stats", shells, "--json")); !strings.Contains(stats, fmt.Sprintf(`"rendering":[{"outcome":"rendered","pages":%d,`, rendered)) {
		t.Errorf("stats do not tell of %d rendered pages: %s", rendered, stats)
	}
	judgeRendering(t, log.requests(t), rest)
}

// judgeRendering finds requests that broke the rules. A page and what its scripts ask for are a group.
func judgeRendering(t *testing.T, all []request, rest time.Duration) {
	t.Helper()
	slices.SortStableFunc(all, func(a, b request) int { return a.Start.Compare(b.Start) })
	type visit struct {
		end      time.Time
		requests time.Duration
	}
	last, asked := map[string]visit{}, map[string]int{}
	for _, r := range all {
		v := last[r.Host]
		further := strings.HasPrefix(r.Path, "/shell.js")
		switch gap := r.Start.Sub(v.end); {
		case gap < 0:
			t.Errorf("%s: two requests at a time", r.URL)
		case !further && v.requests > 0 && gap < rest*v.requests-10*time.Millisecond:
			t.Errorf("%s: asked %v after %d requests of one page; want %v", r.URL, gap, v.requests, rest*v.requests)
		}
		if !further {
			v.requests = 0
		}
		last[r.Host] = visit{r.End, v.requests + 1}
		asked[strings.SplitN(r.Path, "?", 2)[0]]++
		if linkedSecret(r.Path) || r.Status == 404 {
			t.Errorf("%s was asked for: %d", r.URL, r.Status)
		}
	}
	if asked["/shell.json"] == 0 || asked["/shell.json"] != asked["/shell.js"] {
		t.Errorf("scripts were asked for %d times, their data %d times", asked["/shell.js"], asked["/shell.json"])
	}
}

// TestRenderFlags: a flag that would do nothing is refused.
func TestRenderFlags(t *testing.T) {
	for want, flags := range map[string][]string{
		"give --render always":         {"--browser", "chromium"},
		"--render-requests bounds":     {"--render-requests", "3"},
		"from 1 to 1000":               {"--render", "always", "--render-requests", "1001"},
		"no browser /no/such/chromium": {"--render", "always", "--browser", "/no/such/chromium"},
		"want always or never":         {"--render", "auto"},
	} {
		var out, errs strings.Builder
		dir := filepath.Join(t.TempDir(), "crawl")
		args := append([]string{"focus", "--topic", "banking", "--proxy", "http://127.0.0.1:9", "--store", dir}, flags...)
		if code := run(t.Context(), args, &out, &errs); code != 2 || !strings.Contains(errs.String(), want) {
			t.Errorf("%v: code %d, %s; want 2 and %q", flags, code, errs.String(), want)
		}
		if store.Exists(dir) {
			t.Errorf("%v: a store was left", flags)
		}
	}
}
