package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"fossick/crawler/render"
	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/eval/monitor"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/internal/warc"
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
	s := testkit.Call(store.Open(dir)).Must(t)
	defer s.Close()
	read = map[string]crawledPage{}
	for p := range testkit.All(t, s.Pages()) {
		body := testkit.Call(s.Body(p.Number)).Must(t)
		parsed := testkit.Call(page.Parse(body, page.ParseOptions{URL: p.URL, ContentType: p.ContentType})).Must(t)
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
	skipWithoutBrowser(t)
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
	if why := string(fossick(t, "why", "http://h0.test/1", "--store", shells)); !strings.Contains(why, "(requests: 1): ") || !strings.Contains(why, "words instead of 0") {
		t.Errorf("why says nothing of the rendering: %s", why)
	}
	if stats := string(fossick(t, "stats", shells, "--json")); !strings.Contains(stats, fmt.Sprintf(`"rendering":[{"outcome":"rendered","reason":"always","pages":%d,`, rendered)) {
		t.Errorf("stats do not tell of %d rendered pages: %s", rendered, stats)
	}
	requests := log.requests(t)
	if asked := judgeRendering(t, requests, rest); asked["/shell.json"] < rendered || asked["/shell.js"] != hosts {
		t.Errorf("%d pages asked for their data %d times, and for the script of %d hosts, which stays fresh, %d times", rendered, asked["/shell.json"], hosts, asked["/shell.js"])
	}
	judgeArchive(t, shells, got, requests)
}

// judgeArchive reads the archive of a crawl that rendered: it has what the server sent, once for each request
// of the log, and what the crawl has read.
func judgeArchive(t *testing.T, crawl string, read map[string]crawledPage, log []request) {
	t.Helper()
	to := t.TempDir()
	fossick(t, "export", crawl, "--to", "warc", "-o", to, "--quiet")
	set := testkit.Call(datasets.Open(to, datasets.Options{})).Must(t)
	again := map[string]string{}
	for e := range testkit.All(t, set.Examples()) {
		p := testkit.Call(page.Parse([]byte(e.HTML), page.ParseOptions{URL: e.URL, ContentType: "text/html; charset=utf-8"})).Must(t)
		again[e.URL] = strings.Join(strings.Fields(p.Text), " ")
	}
	for url, p := range read {
		if again[url] != p.text {
			t.Errorf("the archive has the text %q of %s, the crawl %q", again[url], url, p.text)
		}
	}
	f := testkit.Call(os.Open(filepath.Join(to, "pages-00001.warc.gz"))).Must(t)
	defer f.Close()
	archive := testkit.Call(warc.NewReader(f)).Must(t)
	sent, pages := map[string]int{}, 0
	for {
		rec, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Type() != warc.Response {
			continue
		}
		h, err := warc.ReadHTTP(rec.Body, 1<<20)
		if err != nil || h.Status != 200 {
			t.Fatalf("%s: %v, %+v", rec.Target(), err, h)
		}
		sent[rec.Target()]++
		if _, is := read[rec.Target()]; is {
			if pages++; !strings.Contains(string(h.Body), "/shell.js") {
				t.Errorf("the answer for %s is not the shell: %s", rec.Target(), h.Body)
			}
		} else if rec.Header.Get("WARC-Page-ID") == "" {
			t.Errorf("%s is of no page", rec.Target())
		}
	}
	for _, r := range log {
		if !strings.HasPrefix(r.Path, "/robots") && r.Status == 200 {
			sent[r.URL]--
		}
	}
	maps.DeleteFunc(sent, func(_ string, n int) bool { return n == 0 })
	if pages != len(read) || len(sent) > 0 {
		t.Errorf("%d pages of %d; answers in the archive less those of the log: %v", pages, len(read), sent)
	}
}

// TestRenderingIsKilled kills a crawl that renders at random moments. The next start ends the browser that
// was left, no process or folder remains, and by the server's log hosts had their rests and robots.txt was
// obeyed. FOSSICK_FULL kills it 20 times.
func TestRenderingIsKilled(t *testing.T) {
	skipWithoutBrowser(t)
	kills, log := testkit.Rounds(3, 20), &requestLog{}
	const rest = 300 * time.Millisecond
	addr, _ := served(t, linkedWeb(3, testkit.Rounds(4, 40)), web.Options{Shells: 1, Disallow: .1, Log: log})
	dir, rng := filepath.Join(t.TempDir(), "crawl"), rand.New(rand.NewPCG(1, 2))
	type browser struct {
		Pid     int
		Profile string
	}
	var left []browser
	args := []string{"focus", "--topic", "a", "--keywords", "page", "--seed", "http://h0.test/0", "--proxy", "http://" + addr,
		"--threshold", "0", "--delay", rest.String(), "--render", "always", "--render-requests", "4", "--store", dir, "--json", "--quiet"}
	for n := range kills {
		answers, deadline := log.lines()+2+rng.IntN(8), time.Now().Add(time.Minute)
		killed, out := runAndKillWhen(t, args, time.Minute, func() bool { return log.lines() > answers || time.Now().After(deadline) })
		if !killed {
			t.Fatalf("the crawl ended before kill %d: %s", n+1, out)
		}
		var b browser
		text, err := os.ReadFile(filepath.Join(dir, "browser.json"))
		if err == nil {
			err = json.Unmarshal(text, &b)
		}
		if err != nil {
			t.Fatalf("record of the browser after kill %d: %v", n+1, err)
		}
		if left = append(left, b); n == 0 {
			args = append(args, "--resume")
		}
	}
	var r monitor.Result
	if _, out := runAndKill(t, args, 5*time.Minute); json.Unmarshal(out, &r) != nil || r.Stopped != "frontier_empty" {
		t.Fatalf("the last session ended with %s", out)
	}
	for _, b := range left {
		if err := syscall.Kill(-b.Pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("processes of the browser %d are alive: %v", b.Pid, err)
		}
		if _, err := os.Stat(b.Profile); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("folder %s is left: %v", b.Profile, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "browser.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the record stays: %v", err)
	}
	judgeRendering(t, log.requests(t), rest)
}

func skipWithoutBrowser(t *testing.T) {
	t.Helper()
	b, err := render.New(t.Context(), render.Options{Dir: t.TempDir()})
	if err == nil {
		err = b.Close()
	}
	if err != nil {
		t.Skipf("no browser to test with: %v", err)
	}
}

// judgeRendering finds requests that broke the rules, and counts requests by path. A page and what its
// scripts ask for are a group.
func judgeRendering(t *testing.T, all []request, rest time.Duration) (asked map[string]int) {
	t.Helper()
	slices.SortStableFunc(all, func(a, b request) int { return a.Start.Compare(b.Start) })
	type visit struct {
		end      time.Time
		requests time.Duration
	}
	last := map[string]visit{}
	asked = map[string]int{}
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
	return asked
}

// TestRenderFlags: a flag that would do nothing is refused.
func TestRenderFlags(t *testing.T) {
	for want, flags := range map[string][]string{
		"leave one out":                {"--browser", "chromium", "--render", "never"},
		"--render-requests bounds":     {"--render-requests", "3"},
		"from 1 to 1000":               {"--render", "always", "--render-requests", "1001"},
		"no browser /no/such/chromium": {"--render", "always", "--browser", "/no/such/chromium"},
		"want auto, always or never":   {"--render", "some"},
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
