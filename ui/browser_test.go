package ui_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"fossick/crawler/render"
	"fossick/internal/testkit"
	"fossick/ui"
)

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// millionRows is the length of the fake's list of pages.
const millionRows = 1_000_000

// attacks are titles and URLs that must do nothing but show.
var attacks = [][2]string{
	{"http://evil.test/1", `<script>window.hit=1</script><img src=x onerror="window.hit=2">`},
	{"http://evil.test/2", `"><svg onload="window.hit=3"><style>*{display:none}</style>`},
	{"javascript:window.hit=4", "A link that is a script"},
	{"http://evil.test/4", "abc \u202egnp.exe \x1b[31mred\x1b[0m \x00"},
	{"http://evil.test/5", strings.Repeat("A", 1<<20)},
}

// fake serves the page and a crawl that never was.
type fake struct {
	*httptest.Server
	token string // of the address

	mu       sync.Mutex // guards the fields below
	running  bool
	fetched  int
	labelled []string  // "url label" of each label that came
	changed  []string  // bodies of the changes of the crawl that came
	slow     bool      // a request for questions waits
	left     bool      // it was given up
	refusing bool      // the status, with a sentence
	date     time.Time // of the answers; zero: the present
	asked    []string  // paths and queries of the list of pages
	streams  map[chan string]bool
	opened   int // streams so far
}

func newFake(t *testing.T) *fake {
	t.Helper()
	files, ok := ui.Files()
	if !ok {
		t.Skip("this build has no page (tag noui)")
	}
	f := &fake{running: true, fetched: 200, streams: map[chan string]bool{}}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /api/stores", func(w http.ResponseWriter, _ *http.Request) {
		store := map[string]any{"name": attacks[0][1], "dir": "/crawl", "topic": "banking", "topics": []string{"banking"}, "running": true, "pages": 200, "relevant": 50, "harvest": 0.25}
		two := maps.Clone(store)
		two["topics"] = []string{"slow", "fast"}
		answer(w, map[string]any{"stores": []any{store, two}, "starts": true})
	})
	mux.HandleFunc("GET /api/start", func(w http.ResponseWriter, _ *http.Request) {
		job := map[string]any{"id": 1, "kind": "crawl", "line": "fossick focus '--topic=" + attacks[0][1] + "'", "state": "failed", "text": attacks[1][1] + "\n" + attacks[3][1], "store": 0}
		topic := map[string]any{"name": attacks[0][1], "title": "t", "seeds": []string{"not a URL"}}
		answer(w, map[string]any{"most": 4, "jobs": []any{job}, "topics": []any{topic}, "web": nil})
	})
	mux.HandleFunc("POST /api/start", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"line": "fossick '" + attacks[0][1]})
	})
	for name, of := range map[string]func(*http.Request) any{
		"status": f.status, "pages": f.pages, "queue": f.queue, "hosts": f.hosts, "story": f.story, "page": f.page, "ask": f.ask, "groups": f.groups, "links": f.links, "changes": f.changes, "agents": f.agents,
	} {
		mux.HandleFunc("GET /api/stores/{n}/"+name, func(w http.ResponseWriter, r *http.Request) { answer(w, of(r)) })
	}
	mux.HandleFunc("GET /api/stores/{n}/events", f.events)
	mux.HandleFunc("GET /api/stores/{n}/snapshot", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html") // a server that took nothing out; the frame is the last wall
		_, _ = fmt.Fprint(w, `<h1>As it was</h1><script>parent.hit = 5; top.hit = 6; window.hit = 7</script>`)
	})
	mux.HandleFunc("POST /api/stores/{n}/label", f.label)
	mux.HandleFunc("GET /api/stores/{n}/export", func(w http.ResponseWriter, _ *http.Request) { refuse(w) })
	mux.HandleFunc("POST /api/stores/{n}/crawl", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		f.mu.Lock()
		f.changed = append(f.changed, string(body))
		f.mu.Unlock()
		w.WriteHeader(http.StatusBadRequest)
		answer(w, map[string]any{"error": "the pattern is wrong; " + attacks[0][1]})
	})
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		refusing := f.refusing && strings.HasSuffix(r.URL.Path, "/status")
		f.mu.Unlock()
		if !f.date.IsZero() {
			w.Header().Set("Date", f.date.Format(http.TimeFormat))
		}
		if refusing {
			refuse(w)
			return
		}
		if !strings.Contains(r.URL.Path, "/snapshot") {
			w.Header().Set("Content-Security-Policy", policy)
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

func refuse(w http.ResponseWriter) {
	w.WriteHeader(http.StatusServiceUnavailable)
	answer(w, map[string]any{"error": "the list is being read; ask again"})
}

func answer(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

func (f *fake) status(*http.Request) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return map[string]any{
		"topic": attacks[1][1], "fetched": f.fetched, "relevant": f.fetched / 4, "harvest": 0.25, "harvest_interval": []float64{0.19, 0.31},
		"last": map[string]any{"pages": 100, "relevant": 40, "harvest": 0.4, "interval": []float64{0.3, 0.5}}, "by_state": map[string]int{"ok": f.fetched, "robots_denied": 9},
		"queue": 210, "hosts": 40, "running": f.running, "limits": map[string]int{"max_pages": 400}, "pages_per_second": 7.8, "seconds_left": 24,
		"curve": []map[string]int{{"fetched": 100, "relevant": 25}, {"fetched": f.fetched, "relevant": f.fetched / 4}},
		"whole": map[string]any{"agents": 2, "dead": 1, "partitions": 1024, "fetched": 4321, "relevant": 99, "waiting": 7, "pages_per_second": 1.5, "max_pages": 9000},
	}
}

func (f *fake) agents(r *http.Request) any {
	agent := map[string]any{"name": attacks[0][1], "place": attacks[1][1], "partitions": 512, "fetched": 4000, "relevant": 90, "waiting": 7, "pages_per_second": 1.5, "state": "", "heard": "2026-11-29T00:00:00Z"}
	dead := maps.Clone(agent)
	dead["name"], dead["place"], dead["state"] = attacks[3][1], attacks[4][1], "dead"
	return map[string]any{"agents": []any{agent, dead}, "coordinator": attacks[3][1], "self": attacks[0][1], "owner": map[string]any{"site": r.FormValue("of"), "partition": 7, "agent": attacks[3][1]}}
}

func rowOf(i int) map[string]any {
	url, title := fmt.Sprintf("http://host%d.test/%d", i%50, i), fmt.Sprintf("Page %d", i)
	if i < len(attacks) {
		url, title = attacks[i][0], attacks[i][1]
	}
	return map[string]any{"url": url, "title": title, "host": fmt.Sprintf("host%d.test", i%50), "state": "ok", "code": 200, "score": 0.5, "on_topic": i%2 == 0, "lang": "en", "type": "html", "time": "2026-11-29T00:00:00Z", "bytes": 1000}
}

func (f *fake) pages(r *http.Request) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, r.URL.RawQuery)
	offset, _ := strconv.Atoi(r.FormValue("offset"))
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	total, found := millionRows, 0
	if r.FormValue("q") != "" {
		total, found = 10_000, 80_000
	}
	rows := []any{}
	for i := offset; i < min(offset+limit, total); i++ {
		row := rowOf(i)
		if r.FormValue("q") != "" {
			row["snippet"] = []string{"before ", attacks[0][1], " after"}
		}
		rows = append(rows, row)
	}
	facet := []any{map[string]any{"value": attacks[0][1], "count": 3}, map[string]any{"value": "host1.test", "count": 2}}
	return map[string]any{"total": total, "found": found, "rows": rows, "facets": map[string]any{"host": facet, "label": []any{}, "on_topic": []any{map[string]any{"value": "yes", "count": 7}}}}
}

func (f *fake) queue(*http.Request) any {
	links := []any{}
	for i := range 12 {
		row := rowOf(i)
		links = append(links, map[string]any{"url": row["url"], "host": row["host"], "score": 0.9, "text": row["title"], "from": row["url"], "reasons": []string{attacks[0][1]}})
	}
	return map[string]any{"total": 12, "links": links}
}

func (f *fake) hosts(*http.Request) any {
	hosts := []any{}
	for i := range 40 {
		hosts = append(hosts, map[string]any{"host": fmt.Sprintf("host%d.test", i), "pages": 100 - i, "relevant": 50 - i, "requests": 120, "waiting": 3, "rest_until": nil, "rest_why": attacks[0][1], "robots": "allowed"})
	}
	return map[string]any{"total": 40, "hosts": hosts}
}

func (f *fake) groups(*http.Request) any {
	groups := []any{}
	for i := range 30 {
		groups = append(groups, map[string]any{"page": rowOf(i), "number": i + 1, "copies": 90 / (i + 1)})
	}
	return map[string]any{"total": 30, "copies": 330, "groups": groups}
}

func (f *fake) links(r *http.Request) any {
	hosts, links := []any{}, []any{}
	most, _ := strconv.Atoi(r.FormValue("hosts"))
	for i := range most {
		hosts = append(hosts, map[string]any{"host": fmt.Sprintf("host%d.test", i), "pages": 100 - i, "relevant": max(0, 80-3*i), "out": 9, "in": 9})
		for j := range 4 {
			links = append(links, map[string]any{"from": i, "to": (i*3 + j*j*5 + 1) % most, "links": 200 / (i + j + 1)})
		}
	}
	return map[string]any{"total": 400, "hosts": hosts, "links": links}
}

func (f *fake) changes(r *http.Request) any {
	if r.FormValue("url") != "" {
		return map[string]any{"diff": "@@ -1,2 +1,2 @@\n the same\n-" + attacks[0][1] + "\n+" + attacks[3][1] + "\n"}
	}
	lines := func(what string, from, n int) (all []any) {
		for i := range n {
			row := rowOf(from + i)
			all = append(all, map[string]any{"url": row["url"], "title": row["title"], "at": row["time"], "what": what})
		}
		return all
	}
	return map[string]any{"since": "2026-11-22T00:00:00Z", "changed": lines("text", 0, 6), "new": lines("", 6, 70), "gone": lines("code", 80, 3), "totals": map[string]int{"new": 70, "changed": 6, "gone": 3}}
}

func (f *fake) story(r *http.Request) any {
	return map[string]any{
		"verdict": attacks[0][1], "state": "ok", "reasons": []string{attacks[1][1]}, "times": map[string]any{"found": "2026-11-29T00:00:00Z", "ended": nil},
		"score":  map[string]any{"value": 0.5, "terms": []any{map[string]any{"name": attacks[0][1], "value": 1.5, "note": attacks[1][1]}}},
		"visits": []any{map[string]any{"start": "2026-11-29T00:00:00Z", "state": "ok", "code": 200}}, "path": []any{rowOf(0), rowOf(1), rowOf(7)},
	}
}

func (f *fake) page(r *http.Request) any {
	row := rowOf(0)
	row["url"] = r.FormValue("url")
	return map[string]any{
		"row": row, "blocks": []any{map[string]any{"heading": true, "text": "Savings banks"}, map[string]any{"text": "A bank of <b>savers</b>. " + attacks[0][1]}},
		"words":    []any{map[string]any{"word": "bank", "weight": 0.4}, map[string]any{"word": "<b>", "weight": -0.1}},
		"links_in": []any{rowOf(0), rowOf(1)}, "links_out": []any{rowOf(2), rowOf(3)}, "totals": map[string]int{"in": 2, "out": 2},
	}
}

func (f *fake) ask(r *http.Request) any {
	slow := r.FormValue("topic") == "slow"
	if slow {
		f.mu.Lock()
		f.slow = true
		f.mu.Unlock()
		<-r.Context().Done()
	}
	f.mu.Lock()
	f.left = f.left || slow
	defer f.mu.Unlock()
	asked := []any{}
	for i := range 30 {
		row := rowOf(i)
		asked = append(asked, map[string]any{"url": row["url"], "title": row["title"], "text": attacks[0][1], "score": 0.5, "kind": "page", "why": attacks[1][1]})
	}
	return map[string]any{"asked": asked}
}

func (f *fake) label(w http.ResponseWriter, r *http.Request) {
	var got struct {
		Labels []struct{ URL, Label string }
	}
	_ = json.NewDecoder(r.Body).Decode(&got)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, l := range got.Labels {
		f.labelled = append(f.labelled, l.URL+" "+l.Label)
	}
	side := func(urls ...int) (links []any) {
		for _, i := range urls {
			links = append(links, rowOf(i))
		}
		return links
	}
	answer(w, map[string]any{"running": true, "learned": true, "before": side(5, 6, 7), "after": side(6, 5, 8), "changed": 3})
}

func (f *fake) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
	events := make(chan string, 100)
	f.mu.Lock()
	f.streams[events] = true
	f.opened++
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.streams, events)
	}()
	for {
		select {
		case e := <-events:
			_, _ = fmt.Fprint(w, e)
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// send sends an event to each stream; it returns how many streams there are and ever were.
func (f *fake) send(kind string, v any) (now, ever int) {
	text, _ := json.Marshal(v)
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.streams {
		select {
		case s <- fmt.Sprintf("event: %s\ndata: %s\n\n", kind, text):
		default:
		}
	}
	return len(f.streams), f.opened
}

func (f *fake) labels() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.labelled, ", ")
}

// startBrowser starts Chromium, or skips the test.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	program, err := render.Find("")
	if err != nil {
		t.Skipf("no browser to test with: %v", err)
	}
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.UserDataDir(t.TempDir()))
	if os.Getuid() == 0 {
		flags = append(flags, chromedp.NoSandbox)
	}
	parent, free := chromedp.NewExecAllocator(t.Context(), flags...)
	t.Cleanup(free)
	browser, end := chromedp.NewContext(parent)
	t.Cleanup(end)
	if err := chromedp.Do(browser); err != nil {
		t.Skipf("the browser cannot start here: %v", err)
	}
	return browser
}

// tab is one tab of the browser, and what went wrong in it.
type tab struct {
	context.Context
	t       *testing.T
	close   func()
	figures int // of a report: the data of each is a script that browsers do not run

	mu       sync.Mutex // guards problems
	problems []string
}

// openTab opens an address; from then on a request to another host, an exception or a refusal by the
// policy is a problem.
func openTab(t *testing.T, browser context.Context, f *fake, hash string) *tab {
	t.Helper()
	return openAddress(t, browser, f.URL+"/", f.URL+"/?token="+cmp.Or(f.token, "secret")+hash)
}

// openAddress opens an address like openTab; requests below own are no problem.
func openAddress(t *testing.T, browser context.Context, own, address string) *tab {
	t.Helper()
	p := &tab{t: t}
	hear := func(e any) {
		switch e := e.(type) {
		case *network.EventRequestWillBeSent:
			if u := e.Request.URL; !strings.HasPrefix(u, own) && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "blob:") && u != "about:blank" {
				p.problem("request to " + u)
			}
		case *runtime.EventExceptionThrown:
			p.problem(fmt.Sprintf("exception: %s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
		case *log.EventEntryAdded:
			// The sandbox of a snapshot says that it refused a script, and that is what it is for.
			if e.Entry.Level == "error" && !strings.Contains(e.Entry.Text, "sandboxed") && !strings.Contains(e.Entry.Text, "status of 400") && !strings.Contains(e.Entry.Text, "status of 503") {
				p.problem("log: " + e.Entry.Text)
			}
		}
	}
	p.Context, p.close = chromedp.NewContext(browser, chromedp.WithListener(hear))
	t.Cleanup(p.close)
	p.do(chromedp.Func(func(ctx context.Context, c *chromedp.Target) error {
		if _, err := cdp.Call(ctx, c, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, c, log.Enable, cdp.Empty{})
		return err
	}), chromedp.Navigate(address))
	return p
}

func (p *tab) problem(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, text)
}

// check fails the test for each problem, and if an attack has had an effect.
func (p *tab) check() {
	p.t.Helper()
	if hit := evaluate[string](p, `String(window.hit)`); hit != "undefined" {
		p.t.Errorf("an attack ran: %s", hit)
	}
	const data = `figure.plot > script[type='application/json']:only-of-type`
	if n := evaluate[int](p, `document.querySelectorAll("`+data+`").length`); n != p.figures {
		p.t.Errorf("%d figures have data, not %d", n, p.figures)
	}
	if found := evaluate[string](p, `[...document.querySelectorAll("main script:not(`+data+`), main style, a[href^='javascript:'], [onerror], [onload]")].map(e => e.outerHTML).join()`); found != "" {
		p.t.Errorf("the page has %.200s", found)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range p.problems {
		p.t.Error(text)
	}
	p.problems = nil
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p, steps...); err != nil {
		p.t.Fatal(err)
	}
}

func evaluate[T any](p *tab, script string, options ...chromedp.EvaluateOption) T {
	p.t.Helper()
	v, err := chromedp.Run(p, chromedp.Evaluate[T](script, options...))
	if err != nil {
		p.t.Fatalf("%.200s: %v", script, err)
	}
	return v
}

const patience = 30 * time.Second

// until waits for a condition of the page, and fails the test if it does not come.
func (p *tab) until(condition string) {
	p.t.Helper()
	eventually(p.t, condition, func() bool { return evaluate[bool](p, "Boolean("+condition+")") })
}

// says waits for a text in the page's main part.
func (p *tab) says(text string) {
	p.t.Helper()
	p.until(fmt.Sprintf("document.querySelector('main')?.innerText.includes(%q)", text))
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v not yet: %s", patience, what)
		}
	}
}

// views are the addresses of all views, with a text that each shows when it is ready.
var views = [][2]string{
	{"#/0/crawl", "Best links waiting"}, {"#/0/judge", "What the queue will do otherwise"}, {"#/0/pages", "1,000,000 pages"},
	{"#/0/pages?q=bank&host=host1.test", "The best 10,000 of 80,000 pages"}, {"#/0/page?url=http://host7.test/7", "Words that weighed"}, {"#/0/hosts", "40 hosts"}, {"#/0/groups", "330 copies"}, {"#/0/changes", "70 new, 6 changed, 3 gone"}, {"#/stores", "2 stores"}, {"#/start", "What the topic is made of"},
}

// TestPageInBrowser goes through all views: attacks do nothing, nothing is asked of another host, and
// axe finds no barrier, wide and narrow, light and dark.
func TestPageInBrowser(t *testing.T) {
	f, browser := newFake(t), startBrowser(t)
	axe, err := os.ReadFile(filepath.Join("node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Log("without axe-core, which npm ci in ui/ installs, barriers are not looked for")
	}
	for _, look := range looks[:testkit.Rounds(2, len(looks))] {
		p := openTab(t, browser, f, "#/0/crawl")
		p.as(look)
		for _, view := range views {
			evaluate[any](p, fmt.Sprintf("location.hash = %q, true", view[0]))
			p.says(view[1])
			evaluate[bool](p, `document.querySelectorAll("main details").forEach((d) => d.open = true), true`)
			if view[0] == "#/0/crawl" {
				p.until(`document.querySelectorAll("section[aria-labelledby=agents] tbody tr").length === 2`)
				evaluate[any](p, `(() => { const of = document.querySelector("input[name=of]"); of.value = "host1.test"; of.form.requestSubmit(); return true })()`)
				p.says("host1.test, in part 7 of 1,024, belongs to agent")
			}
			if view[0] == "#/0/hosts" {
				p.until(`document.querySelectorAll(".graph circle").length > 10 && document.querySelectorAll(".graph tbody tr").length > 10`)
			}
			if view[0] == "#/0/changes" {
				p.until(`document.querySelectorAll(".diff .plus").length === 6 && !document.querySelector(".diff script")`)
			}
			p.until(`!document.querySelector("iframe") || document.querySelector("iframe").contentWindow.length === 0`)
			if wide := evaluate[int](p, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
				t.Errorf("%s at %d px is %d px too wide", view[0], look.width, wide)
			}
			if axe != nil {
				barriers(p, string(axe), fmt.Sprintf("%s at %d px, %s", view[0], look.width, look.scheme))
			}
			p.check()
		}
		if search := evaluate[string](p, "location.search"); search != "" {
			t.Errorf("the token stays in the address: %s", search)
		}
		p.close()
	}
}

func barriers(p *tab, axe, where string) {
	p.t.Helper()
	evaluate[chromedp.Void](p, axe)
	found := evaluate[[]string](p, `axe.run({iframes: false}).then((r) => r.violations.map((v) => v.id + ": " + v.nodes[0].html + " " + v.nodes[0].failureSummary))`, chromedp.EvalAwaitPromise)
	for _, text := range found {
		p.t.Errorf("%s: %.500s", where, text)
	}
}

// TestJudgeByKeys answers questions by keys, takes one back, and types into a field.
func TestJudgeByKeys(t *testing.T) {
	f, browser := newFake(t), startBrowser(t)
	p := openTab(t, browser, f, "#/0/judge")
	p.until(`document.querySelector(".asked")`)
	var want []string
	for i, key := range []string{"y", "n", "u", "s", "Y"} {
		p.do(chromedp.KeyEvent(key))
		p.until(fmt.Sprintf(`document.querySelectorAll("#given li").length === %d`, i+1))
		if label := map[string]string{"y": " yes", "n": " no", "Y": " yes"}[key]; label != "" {
			want = append(want, attacks[i][0]+label)
		}
	}
	p.says("3 judged")
	p.until(`document.querySelector(".sides").innerText.includes("left the ten") && document.querySelectorAll(".rose").length === 2 && document.querySelectorAll(".fell").length === 2`)
	p.do(chromedp.KeyEvent(kb.Backspace))
	p.until(`document.querySelectorAll("#given li").length === 4`)
	want = append(want, attacks[4][0]+" none")
	evaluate[bool](p, `dispatchEvent(new KeyboardEvent("keydown", {key: "y", repeat: true}))`) // of a key held down
	p.do(chromedp.KeyEvent("n"))
	p.until(`document.querySelectorAll("#given li").length === 5`)
	want = append(want, attacks[4][0]+" no")
	if got := f.labels(); got != strings.Join(want, ", ") {
		t.Errorf("labels came: %.300s; want %.300s", got, want)
	}
	evaluate[bool](p, `document.querySelector("main").append(document.createElement("input")), document.querySelector("main > input").focus(), true`)
	p.do(chromedp.KeyEvent("ynz"))
	p.until(`document.querySelector("main > input").value === "ynz"`)
	if got := f.labels(); got != strings.Join(want, ", ") {
		t.Errorf("typing into a field has labelled: %.300s", got)
	}
	p.check()
}

// TestTopicOfQuestions: the questions of a topic that is left are given up.
func TestTopicOfQuestions(t *testing.T) {
	f, browser := newFake(t), startBrowser(t)
	p := openTab(t, browser, f, "#/1/judge")
	p.says("topic: slow")
	eventually(t, "the request of the first topic comes", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.slow
	})
	evaluate[bool](p, `(document.querySelector(".pick select").value = "fast", document.querySelector(".pick select").dispatchEvent(new Event("change")))`)
	p.until(`document.querySelector(".asked")`)
	eventually(t, "the request of the other topic ends", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.left
	})
	p.check()
}

// TestRefusedForNow: the page says why the server refuses, and asks again; a form sends only what was changed.
func TestRefusedForNow(t *testing.T) {
	f, browser := newFake(t), startBrowser(t)
	f.refusing = true
	p := openTab(t, browser, f, "#/0/crawl")
	p.says("the list is being read")
	f.mu.Lock()
	f.refusing = false
	f.mu.Unlock()
	p.says("Best links waiting")
	p.until(`!document.querySelector(".problem")`)
	evaluate[bool](p, `document.querySelector("[name=max_pages]").value = "500", document.querySelector("[name=max_pages]").form.requestSubmit(), true`)
	p.says("the pattern is wrong")
	f.mu.Lock()
	if got := strings.Join(f.changed, " "); got != `{"limits":{"max_pages":500}}` {
		t.Errorf("the form sent %s", got)
	}
	f.mu.Unlock()
	evaluate[bool](p, `location.hash = "#/0/pages", true`)
	p.until(`document.querySelector(".export a")`)
	evaluate[bool](p, `document.querySelector(".export a").click(), true`)
	p.says("the list is being read")
	p.check()
}

// TestTabsShareEvents: one tab holds the stream; the next takes it when the first closes. All show
// what it brings, and that the crawl has ended.
func TestTabsShareEvents(t *testing.T) {
	f, browser := newFake(t), startBrowser(t)
	tabs := []*tab{}
	for range 3 {
		p := openTab(t, browser, f, "#/0/crawl")
		p.says("200")
		tabs = append(tabs, p)
	}
	var now int
	eventually(t, "one stream", func() bool { now, _ = f.send("status", f.status(nil)); return now == 1 })
	f.mu.Lock()
	f.fetched, f.refusing = 333, true // the status of the fourth tab, which hears the first one's events
	f.mu.Unlock()
	tabs = append(tabs, openTab(t, browser, f, "#/0/crawl"))
	tabs[3].says("the list is being read")
	f.send("status", f.status(nil))
	f.send("pages", map[string]any{"pages": []any{rowOf(77)}, "skipped": 1234})
	for _, p := range tabs {
		p.says("333")
		p.says("Page 77")
		p.says("1,234 pages came too fast")
		p.until(`document.querySelector(".state")?.textContent === "running"`)
	}
	tabs[0].close()
	eventually(t, "another tab's stream", func() bool { now, ever := f.send("status", f.status(nil)); return now == 1 && ever == 2 })
	f.mu.Lock()
	f.running, f.fetched = false, 400
	f.mu.Unlock()
	f.send("status", f.status(nil))
	for _, p := range tabs[1:] {
		p.says("The crawl has ended")
		p.until(`document.querySelector("[role=status]").textContent === "The crawl has ended."`)
		p.check()
	}
}

// TestLongList goes by keys through a million rows: few are drawn, and few are asked for.
func TestLongList(t *testing.T) {
	f, browser := newFake(t), startBrowser(t)
	p := openTab(t, browser, f, "#/0/pages")
	p.says("Page 7")
	evaluate[bool](p, `document.querySelector("[role=grid]").focus(), true`)
	p.do(chromedp.KeyEvent(kb.End))
	p.until(`document.querySelector(".chosen")?.innerText.includes("Page 999999")`)
	p.do(chromedp.KeyEvent(kb.ArrowUp))
	p.until(`document.querySelector(".chosen")?.innerText.includes("Page 999998")`)
	if drawn := evaluate[int](p, `document.querySelectorAll("[role=row]").length`); drawn > 60 {
		t.Errorf("%d rows are drawn", drawn)
	}
	f.mu.Lock()
	if asked := len(f.asked); asked > 4 {
		t.Errorf("the list was asked for %d times: %q", asked, f.asked)
	}
	f.mu.Unlock()
	f.mu.Lock()
	f.fetched = 203
	ends := map[string]bool{}
	for _, q := range f.asked {
		values, _ := url.ParseQuery(q)
		ends[values.Get("to")] = true
	}
	f.mu.Unlock()
	if len(ends) != 1 || ends[""] {
		t.Errorf("the list of a running crawl was asked for until %v, want one time", ends)
	}
	f.send("status", f.status(nil))
	p.says("3 new pages: show")
	evaluate[bool](p, `document.querySelector("[role=grid]").focus(), true`)
	p.do(chromedp.KeyEvent(kb.Enter))
	p.until(`location.hash.includes("/page?url=")`)
	p.says("Words that weighed")
	p.check()
}

// TestFacetsTakeSeveralValues: two hosts and pages on topic are one question to the server, whose clock
// tells until when.
func TestFacetsTakeSeveralValues(t *testing.T) {
	f, browser := newFake(t), startBrowser(t)
	p := openTab(t, browser, f, "#/0/pages?host=other.test&q=bank")
	p.says("other.test")
	for i, tick := range []string{"host1.test", "yes"} {
		p.until(fmt.Sprintf(`[...document.querySelectorAll(".facets label")].find((l) => l.innerText.includes(%q))`, tick))
		evaluate[bool](p, `document.querySelectorAll(".facets details").forEach((d) => d.open = true), true`)
		evaluate[bool](p, fmt.Sprintf(`[...document.querySelectorAll(".facets label")].find((l) => l.innerText.includes(%q)).querySelector("input").click(), true`, tick))
		p.until(fmt.Sprintf(`document.querySelectorAll(".facets input:checked").length === %d`, i+2))
	}
	p.says("2 chosen")
	eventually(t, "the question with all values", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, q := range f.asked {
			if v, _ := url.ParseQuery(q); strings.Join(v["host"], " ") == "other.test host1.test" && v.Get("on_topic") == "yes" && v.Get("q") == "bank" {
				return true
			}
		}
		return false
	})
	if links := evaluate[string](p, `document.querySelector(".export a").getAttribute("href")`); !strings.Contains(links, "host=other.test&host=host1.test") || !strings.Contains(links, "on_topic=yes") {
		t.Errorf("the export asks %s", links)
	}
	p.check()
}

// TestClockOfTheServer: the list of a running crawl ends at the server's present, not at the browser's.
func TestClockOfTheServer(t *testing.T) {
	f, browser := newFake(t), startBrowser(t)
	f.date = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	p := openTab(t, browser, f, "#/0/pages")
	p.says("Page 7")
	f.mu.Lock()
	defer f.mu.Unlock()
	if v, _ := url.ParseQuery(f.asked[0]); !strings.HasPrefix(v.Get("to"), "2030-01-01T00:") && !strings.HasPrefix(v.Get("to"), "2029-12-31T23:59") {
		t.Errorf("the list was asked for until %s", v.Get("to"))
	}
}
