package ui

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/html"

	"fossick/crawler"
	"fossick/crawler/cluster"
	"fossick/crawler/control"
	"fossick/eval/monitor"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/store"
)

// attack is a title that must come out as text, and only as JSON.
const attack = "</script><script>alert(1)</script><svg onload=alert(2)> \u202egnp.exe \x1b[31mred"

// body is a page that would run, load and send something.
const body = `<html><head><title>x</title><base href="http://evil.test/"><meta http-equiv="refresh" content="0;url=http://evil.test/">
<style>@import "http://evil.test/a.css";</style><link rel="stylesheet" href="http://evil.test/b.css"></head>
<body onload="alert(3)"><h1>Honey</h1><p>Bees make honey of nectar, which they dry.</p>
<script>alert(4)</script><img src="http://evil.test/c.png" onerror="alert(5)"><img src="data:image/png;base64,iVBORw0KGgo=">
<svg><script>alert(6)</script><a xlink:href="javascript:alert(7)">z</a></svg><form action="http://evil.test/"><input name="p"></form>
<a href="javascript:alert(8)">a</a> <a href="/b">the second page</a><iframe src="http://evil.test/d"></iframe><object data="http://evil.test/e"></object>
<div style="background:url(http://evil.test/f)">styled</div></body></html>`

// makeStore makes a store of n pages, a page that failed, and two links that wait.
func makeStore(t testing.TB, n int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "bees")
	s, err := store.Create(dir, store.Info{Topic: "bees"})
	if err != nil {
		t.Fatal(err)
	}
	counts := store.Counts{States: map[string]uint64{}, Codes: map[int]uint64{}}
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	packed := s.Compress([]byte(body))
	for i := range n + 3 {
		b := s.Batch()
		counts.URLs++
		id, address := store.ID(counts.URLs), fmt.Sprintf("http://h%d.test/page%d", i%3, i)
		if i == 1 {
			address = "http://evil.test/b"
		}
		d := store.Discovery{URL: address, Via: store.ViaSeed, At: now}
		if i > 0 {
			d.Via, d.From, d.Depth = store.ViaLink, 1, 1
		}
		errs := []error{b.PutSeen(store.HashURL(address), id, false), b.PutDiscovery(id, d)}
		visit := store.Visit{Start: now, Millis: 5, State: "ok", Code: 200}
		switch {
		case i < n:
			counts.Pages++
			counts.States["ok"]++
			p := &store.Page{
				Number: counts.Pages, ID: id, URL: address, ContentType: "text/html; charset=utf-8", Title: fmt.Sprintf("Title %03d", n-i), Lang: "en",
				Score: float64(i) / float64(n), Relevant: i%2 == 0, Label: "bees", Probability: .9, Rule: "honey +0.50, nectar +0.25", Bytes: int64(len(body)), At: now + int64(i)*1000,
			}
			if i == 0 {
				p.Title, p.Links = attack+strings.Repeat("A", 1<<20), []store.ID{2}
			}
			if p.Relevant {
				counts.Relevant++
			}
			errs = append(errs, b.PutVisit(id, 1, visit), b.PutOutcome(id, store.Outcome{State: "ok", Page: counts.Pages, At: p.At, Score: .5}), b.PutPage(p, packed))
		case i == n:
			counts.States["code"]++
			visit.State, visit.Code = "code", 404
			errs = append(errs, b.PutVisit(id, 1, visit), b.PutOutcome(id, store.Outcome{State: "code", At: now}))
		default:
			errs = append(errs, b.PutQueued(id, store.Queued{Priority: float64(i-n) / 4, Score: float64(i-n) / 4, Parent: 1}))
		}
		host := &store.Host{Name: page.Host(address), Pages: 1, Requests: 2, RobotsAt: now}
		if i == n {
			host.Next, host.RestFor = time.Now().Add(time.Hour).UnixMilli(), store.RestForRetryAfter
		}
		if err := errors.Join(errors.Join(errs...), b.PutHost(host), b.PutCounts(&counts), b.Commit()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func urlsOf(*store.Store) (*page.Normalizer, error) { return page.NewNormalizer(nil), nil }

func textOf(body []byte, p *store.Page) (string, string) {
	parsed, err := page.Parse(body, page.ParseOptions{URL: p.URL, ContentType: p.ContentType})
	if err != nil {
		return "", ""
	}
	return parsed.Text, "# Honey\n\nBees make honey of nectar\\."
}

// asks are the questions of an examiner.
type asks struct{ s *store.Store }

func (a asks) Ask(context.Context, int) ([]control.Asked, error) {
	return []control.Asked{{URL: "http://h0.test/page0", Why: "w", Title: "t"}, {URL: "http://h1.test/x", Link: &control.Link{Text: "l"}}}, nil
}

func (a asks) Label(_ context.Context, labels []control.Label) (control.LabelAnswer, error) {
	return control.LabelStored(a.s, page.NewNormalizer(nil), control.LabelRequest{Labels: labels})
}

func (a asks) Queue(n int) ([]control.Best, int, error) {
	return control.QueueStored(a.s, page.NewNormalizer(nil), n)
}

func changesOf(_ context.Context, _ *store.Store, since, url string) (any, error) {
	if url != "" {
		return map[string]string{"diff": "@@ -1 +1 @@\n-nectar\n+honey\n"}, nil
	}
	line := func(what string) []map[string]string {
		return []map[string]string{{"url": "http://h0.test/page0", "title": since, "at": "2026-11-01T00:00:00Z", "what": what}}
	}
	return map[string]any{"since": "2026-11-01T00:00:00Z", "new": line(""), "changed": line("text"), "gone": line("code"), "totals": map[string]int{"new": 1, "changed": 1, "gone": 1}}, nil
}

var atRestOptions = Rest{Text: textOf, Changes: changesOf, URLs: urlsOf, Examine: func(s *store.Store, _ string) (Examiner, error) { return asks{s}, nil }}

// serve starts a server of stores.
func serve(t testing.TB, dirs ...string) *Server {
	t.Helper()
	s, err := Open(Options{Addr: "127.0.0.1:0", Dirs: dirs, Rest: atRestOptions})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ask sends a request with the token, as a program does, after change.
func (s *Server) ask(t testing.TB, method, path, text string, change func(*http.Request)) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.Addr()+path, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.access.token)
	if change != nil {
		change(req)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, answer
}

func (s *Server) get(t testing.TB, path string, into any) {
	t.Helper()
	resp, text := s.ask(t, "GET", path, "", nil)
	if err := json.Unmarshal(text, into); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %.300s", path, resp.Status, err, text)
	}
}

// TestWhoMayAsk: only who has the token may ask, under our own name, and no page of another site.
func TestWhoMayAsk(t *testing.T) {
	s := serve(t, makeStore(t, 2))
	cookie := func(r *http.Request) {
		r.Header.Del("Authorization")
		r.AddCookie(&http.Cookie{Name: s.access.cookie, Value: s.access.session})
	}
	own, pause := "http://"+s.Addr(), `{"action":"pause"}`
	for _, tc := range []struct {
		name, method, body string
		change             func(r *http.Request)
		want               int
	}{
		{"a program", "GET", "", nil, 200},
		{"the page", "GET", "", cookie, 200},
		{"no token", "GET", "", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		{"another token", "GET", "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, 401},
		{"a name that was bound to us", "GET", "", func(r *http.Request) { r.Host = "evil.test" }, 421},
		{"a script of another site", "GET", "", func(r *http.Request) { cookie(r); r.Header.Set("Origin", "http://evil.test") }, 403},
		{"an image of another site", "GET", "", func(r *http.Request) { cookie(r); r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"a page of another port", "POST", pause, func(r *http.Request) { cookie(r); r.Header.Set("Origin", "http://127.0.0.1:1") }, 403},
		{"a form without an origin", "POST", pause, cookie, 403},
		{"the page changes", "POST", pause, func(r *http.Request) { cookie(r); r.Header.Set("Origin", own) }, 400},
		{"a program changes", "POST", pause, nil, 400}, // no crawl runs
	} {
		path := "/api/stores"
		if tc.method == "POST" {
			path = "/api/stores/0/crawl"
		}
		resp, text := s.ask(t, tc.method, path, tc.body, tc.change)
		if resp.StatusCode != tc.want || tc.want >= 400 && tc.want != 421 && !strings.Contains(string(text), `"error":"`) {
			t.Errorf("%s: %s %.200s; want %d", tc.name, resp.Status, text, tc.want)
		}
	}
	resp, _ := s.ask(t, "GET", "/?token="+s.access.token, "", func(r *http.Request) { r.Header.Del("Authorization") })
	if c := resp.Cookies(); len(c) != 1 || !c[0].HttpOnly || c[0].SameSite != http.SameSiteStrictMode {
		t.Errorf("the address gives %v", c)
	}
	if csp := resp.Header.Get("Content-Security-Policy"); csp != pageCSP {
		t.Errorf("policy %q", csp)
	}
	if c := resp.Cookies(); len(c) == 1 && (c[0].Path != "/api/" || strings.Contains(c[0].Value, s.access.token)) {
		t.Errorf("servers at other ports get %v", c)
	}
	if resp, _ = s.ask(t, "GET", "/", "", func(r *http.Request) { r.Header.Del("Authorization") }); len(resp.Cookies()) != 0 {
		t.Error("a cookie without the token")
	}
}

// TestPassword: other machines come with the password only, and a guess takes a while.
func TestPassword(t *testing.T) {
	if _, err := Open(Options{Addr: "0.0.0.0:0"}); err == nil || !strings.Contains(err.Error(), "--ui-password") {
		t.Errorf("an open address: %v", err)
	}
	s, err := Open(Options{Addr: "0.0.0.0:0", Password: "honey", Rest: atRestOptions})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	_, port, _ := net.SplitHostPort(s.Addr())
	<-s.access.guess // as while another password is found wrong
	req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1:"+port+"/api/stores", nil)
	req.SetBasicAuth("x", "nectar")
	if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a second guess: %+v, %v", resp, err)
	}
	s.access.guess <- struct{}{}
	for password, want := range map[string]int{"honey": 200, "nectar": 401} {
		began := time.Now()
		req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1:"+port+"/api/stores", nil)
		req.SetBasicAuth("x", password)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want || want == 401 && time.Since(began) < guessTime {
			t.Errorf("%s: %s after %v", password, resp.Status, time.Since(began))
		}
	}
}

// TestPages filters and orders the list of a store that nobody has open.
func TestPages(t *testing.T) {
	s := serve(t, makeStore(t, 10))
	for _, tc := range []struct {
		query string
		total int
		first string
	}{
		{"", 10, "http://h0.test/page9"}, // the last one first
		{"order=asc", 10, "http://h0.test/page0"},
		{"sort=title", 10, "http://h0.test/page0"}, // a title that begins with <
		{"sort=title&order=asc&offset=1", 10, "http://h0.test/page9"},
		{"sort=score&limit=1", 10, "http://h0.test/page9"},
		{"sort=url", 10, "http://evil.test/b"},
		{"sort=host&order=desc", 10, "http://h2.test/page8"},
		{"host=h1.test", 2, "http://h1.test/page7"},
		{"host=none.test", 0, ""},
		{"min=0.5&max=0.65", 2, "http://h0.test/page6"},
		{"from=2026-11-01T00:00:08Z&to=2026-11-01", 2, "http://h0.test/page9"},
		{"state=code", 1, "http://h1.test/page10"},
		{"lang=en&type=html&label=none", 10, "http://h0.test/page9"},
		{"host=h1.test&host=h2.test:80", 5, "http://h2.test/page8"},
		{"state=ok&state=code&host=h1.test", 3, "http://h1.test/page7"},
		{"on_topic=yes", 5, "http://h2.test/page8"},
		{"on_topic=yes&on_topic=no", 10, ""},
		{"on_topic=no&label=yes&label=none&lang=en&lang=de", 5, "http://h0.test/page9"},
		{"state=duplicate", 0, ""},
		{"like=1", 1, "http://h0.test/page0"},
		{"q=nectar", 10, ""},
		{"q=title:003", 1, "http://h1.test/page7"},
	} {
		var got pagesAnswer
		s.get(t, "/api/stores/0/pages?"+tc.query, &got)
		if got.Total != tc.total || !got.Complete || tc.first != "" && (len(got.Rows) == 0 || got.Rows[0].URL != tc.first) {
			t.Errorf("%s: %d, %+v; want %d, %s", tc.query, got.Total, got.Rows[:min(1, len(got.Rows))], tc.total, tc.first)
		}
		if strings.Contains(tc.query, "q=nectar") && len(got.Rows[0].Snippet) < 2 {
			t.Errorf("%s: snippet %q", tc.query, got.Rows[0].Snippet)
		}
		if tc.query == "q=title:003" && got.Found != 1 {
			t.Errorf("%s finds %d", tc.query, got.Found)
		}
		if tc.query == "" && fmt.Sprint(got.Facets.State) != "[{ok 10} {code 1}]" {
			t.Errorf("states %v", got.Facets.State)
		}
	}
	for _, query := range []string{"sort=x", "min=x", "from=x", "label=x", "label=yes&label=x", "on_topic=none", "like=x", "limit=0", "offset=-1"} {
		if resp, text := s.ask(t, "GET", "/api/stores/0/pages?"+query, "", nil); resp.StatusCode != 400 {
			t.Errorf("%s: %s %s", query, resp.Status, text)
		}
	}
}

// TestAttacks: text from the web leaves as JSON in which no HTML can be read, and short; a snapshot
// has nothing that runs, loads or sends.
func TestAttacks(t *testing.T) {
	s := serve(t, makeStore(t, 2))
	for _, path := range []string{"pages", "page?url=http://h0.test/page0", "story?url=http://h0.test/page0", "story?url=" + url.QueryEscape("http://h0.test/<script>alert(1)</script>")} {
		resp, text := s.ask(t, "GET", "/api/stores/0/"+path, "", nil)
		if strings.ContainsAny(string(text), "<>\x1b") || resp.Header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%s: %v %.300s", path, resp.Header, text)
		}
		if path == "pages" && len(text) > 10_000 {
			t.Errorf("%s: a title of a megabyte makes %d bytes", path, len(text))
		}
	}
	resp, text := s.ask(t, "GET", "/api/stores/0/snapshot?url=http://h0.test/page0", "", nil)
	if csp := resp.Header.Values("Content-Security-Policy"); len(csp) != 1 || csp[0] != snapshotCSP {
		t.Errorf("policy of the snapshot: %q", csp)
	}
	lower := strings.ToLower(string(text))
	for _, bad := range []string{"<script", "alert", "evil.test", "onload", "onerror", "javascript", "<form", "<iframe", "<object", "<svg", "<base", "refresh", "@import"} {
		if strings.Contains(lower, bad) {
			t.Errorf("the snapshot has %q: %s", bad, text)
		}
	}
	if !strings.Contains(lower, "bees make honey") || !strings.Contains(lower, "data:image/png") {
		t.Errorf("the snapshot lacks the page: %s", text)
	}
}

// FuzzSnapshot: whatever a page has, nothing of it runs.
func FuzzSnapshot(f *testing.F) {
	f.Add(body)
	f.Add(`<img src=x onerror=alert(1)//><math><style><img src=x onerror=alert(1)></style>`)
	f.Add("<a href='java\nscript:1'>x</a><p style='x:expression(1)'>")
	f.Add("<a ipt:1'>ava\nschb\x19rhref='j") // a text, not an attribute
	f.Fuzz(func(t *testing.T, text string) {
		got := snapshotPolicy().SanitizeBytes([]byte(text))
		for z := html.NewTokenizer(bytes.NewReader(got)); z.Next() != html.ErrorToken; {
			tag := z.Token()
			if tag.Type == html.TextToken {
				continue
			}
			if slices.Contains([]string{"script", "iframe", "object", "embed", "form", "base", "meta", "link", "style"}, tag.Data) {
				t.Fatalf("<%s> in %q", tag.Data, got)
			}
			for _, a := range tag.Attr {
				if a.Key == "href" || a.Key == "src" && strings.HasPrefix(a.Val, "http") || strings.HasPrefix(a.Key, "on") {
					t.Fatalf("%s=%q in %q", a.Key, a.Val, got)
				}
			}
		}
	})
}

// TestAtRest: labels, questions and the queue of a store without a crawl; another command gets the
// store soon after.
func TestAtRest(t *testing.T) {
	dir := makeStore(t, 4)
	s := serve(t, dir)
	var pages pagesAnswer
	s.get(t, "/api/stores/0/pages", &pages)
	_, text := s.ask(t, "POST", "/api/stores/0/label", `{"labels":[{"url":"http://h0.test/page0","label":"no"}]}`, nil)
	var said labelledAnswer
	if err := json.Unmarshal(text, &said); err != nil || said.Running || len(said.Before) != 2 || said.Before[0].Score != .5 {
		t.Errorf("%v: %s", err, text)
	}
	s.get(t, "/api/stores/0/pages?label=no", &pages)
	if pages.Total != 1 || pages.Rows[0].OnTopic || *pages.Rows[0].Label != "no" {
		t.Errorf("after the label: %+v", pages)
	}
	var st statusAnswer
	s.get(t, "/api/stores/0/status", &st)
	if st.Running || st.Fetched != 4 || st.Relevant != 1 || len(st.Curve) != 4 || st.Queue != 2 {
		t.Errorf("status %+v", st)
	}
	got, err := store.OpenWhenFree(t.Context(), dir)
	if err != nil {
		t.Fatalf("the store is not free: %v", err)
	}
	var all struct{ Stores []summary }
	if s.get(t, "/api/stores", &all); !strings.Contains(all.Stores[0].Error, "ask again") {
		t.Errorf("the list while another command has the store: %+v", all)
	}
	tab := s.tab(t) // it gets the status once the store is free
	resp, text := s.ask(t, "GET", "/api/stores/0/states", "", nil)
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("while another command has the store: %s %s", resp.Status, text)
	}
	marks := []crawler.Mark{{URL: "http://evil.test/b", OnTopic: true}}
	if err := errors.Join(crawler.Put(got, marks, 1), got.Close()); err != nil {
		t.Fatal(err)
	}
	if s.get(t, "/api/stores/0/pages?label=yes", &pages); pages.Total != 1 {
		t.Errorf("a label by another command: %+v", pages)
	}
	await(t, tab, "event: status")
}

func TestDownloads(t *testing.T) {
	s := serve(t, makeStore(t, 4))
	first := map[string]string{
		"csv": "http://h2.test/page2", "jsonl": `"url":"http://h2.test/page2"`, "urls": "http://h2.test/page2\n", "parquet": "PAR1", "markdown": "PK",
		"text": "\t", "links": "PK", "gexf": "<gexf", "graphml": "<graphml", "graph": "", "sites": "PK", "warc": "PK", "cdxj": "/page2", "wacz": "PK",
		"sqlite": "SQLite format 3", "opensearch": `{"index":`,
	}
	for _, f := range downloads() {
		format, want := f.Name, first[f.Name]
		resp, text := s.ask(t, "GET", "/api/stores/0/export?host=h2.test&host=h0.test&on_topic=yes&min=0.2&state=ok&state=code&format="+format, "", nil)
		if resp.StatusCode != 200 || !strings.Contains(string(text), want) || strings.Contains(string(text), "page3") {
			t.Errorf("%s: %s %.300s", format, resp.Status, text)
		}
		if resp, text := s.ask(t, "GET", "/api/stores/0/export?host=h0.test&format="+format, "", nil); resp.StatusCode != 200 || len(text) == 0 { // with a link to a page that is not chosen
			t.Errorf("%s: %s", format, resp.Status)
		}
	}
	if resp, text := s.ask(t, "GET", "/api/stores/0/export?state=code&state=ok&host=h1.test&format=urls", "", nil); resp.StatusCode != 200 || string(text) != "http://h1.test/page4\n" {
		t.Errorf("a URL without a page: %s %s", resp.Status, text)
	}
	if resp, text := s.ask(t, "GET", "/api/stores/0/export?state=code&format=csv", "", nil); resp.StatusCode != 400 || !strings.Contains(string(text), "format urls") {
		t.Errorf("no page: %s %s", resp.Status, text)
	}
	x := &s.stores[0].rest.index
	x.passMu.Lock()
	x.ready, x.tried, x.failed = time.Time{}, time.Now(), errors.New("a damaged page")
	x.passMu.Unlock()
	if resp, text := s.ask(t, "GET", "/api/stores/0/export?format=urls", "", nil); resp.StatusCode != 503 || !strings.Contains(string(text), "a damaged page") {
		t.Errorf("a part of the list: %s %s", resp.Status, text)
	}
	if resp, _ := s.ask(t, "GET", "/api/stores/0/export?format=exe", "", nil); resp.StatusCode != 400 {
		t.Errorf("an unknown format: %s", resp.Status)
	}
}

// running opens a store's control socket, as a crawl does.
func running(t *testing.T, dir string, change func(context.Context, Change) error) (socket *control.Socket, s *store.Store) {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := monitor.Listen("", false, monitor.Session{Topic: "bees", Whole: func(context.Context) (monitor.Whole, error) { return wholeOf(2), nil }})
	if err != nil {
		t.Fatal(err)
	}
	shown.Show(crawler.Progress{Counts: store.Counts{Pages: 4, States: map[string]uint64{}, Codes: map[int]uint64{}}})
	socket, err = control.Open(control.Options{
		Store: s, URLs: page.NewNormalizer(nil), Engine: engine{s}, Status: shown.ServeStatus,
		Page: func(c *control.Socket) control.Page {
			return New(c, urlsOf, textOf, changesOf, Crawl{shown.Status, change})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	end := sync.OnceValue(func() error { return errors.Join(socket.Close(), s.Close()) })
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	return socket, s
}

// wholeOf is a crawl by some agents; the first owns all sites.
func wholeOf(agents int) monitor.Whole {
	w := monitor.Whole{Agents: agents, Owner: func(string) (cluster.AgentID, int) { return "bees", 7 }}
	now := time.Now().UTC()
	for i := range agents {
		w.Each.Agents = append(w.Each.Agents, monitor.Agent{Name: []string{"bees", "a2"}[i], Place: "alpha:<b>", State: []string{"", "leaving"}[i], Heard: &now})
	}
	return w
}

// engine is a crawl that takes labels only.
type engine struct{ s *store.Store }

func (e engine) Mark(_ context.Context, marks []crawler.Mark) (bool, error) {
	return false, crawler.Put(e.s, marks, 1)
}
func (engine) Forget(context.Context, string) error { return nil }

// TestSevenTabsAndAStalledOne: tabs stream what a crawl in another process does, and one that does not
// read holds up neither the others nor the end of the crawl.
func TestSevenTabsAndAStalledOne(t *testing.T) {
	dir := makeStore(t, 4)
	_, st := running(t, dir, nil)
	s := serve(t, dir)
	stalled, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Close()
	fmt.Fprintf(stalled, "GET /api/stores/0/events HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", s.Addr(), s.access.token)
	var tabs []*bufio.Scanner
	for range 7 {
		tabs = append(tabs, s.tab(t))
	}
	for _, tab := range tabs { // all have begun
		await(t, tab, "event: rest")
	}
	b := st.Batch()
	counts, _ := st.Counts()
	for range 60 { // more than an event has
		counts.Pages++
		p := &store.Page{Number: counts.Pages, ID: 1, URL: "http://h0.test/page0", Title: "new", At: 1}
		if err := b.PutPage(p, st.Compress(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(b.PutCounts(&counts), b.Commit()); err != nil {
		t.Fatal(err)
	}
	for i, tab := range tabs {
		var got pagesEvent
		if err := json.Unmarshal([]byte(await(t, tab, "event: pages")), &got); err != nil || len(got.Pages) != rowsAtOnce || got.Skipped != 60-rowsAtOnce {
			t.Errorf("tab %d: %d pages, %d skipped, %v", i, len(got.Pages), got.Skipped, err)
		}
	}
	var pages pagesAnswer // the eighth question
	if s.get(t, "/api/stores/0/pages", &pages); pages.Total != 64 {
		t.Errorf("%d pages", pages.Total)
	}
}

// tab opens a stream of events on a connection of its own.
func (s *Server) tab(t *testing.T) *bufio.Scanner {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.Addr()+"/api/stores/0/events", nil)
	req.Header.Set("Authorization", "Bearer "+s.access.token)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return bufio.NewScanner(resp.Body)
}

// await reads events until one, and returns its data.
func await(t *testing.T, tab *bufio.Scanner, event string) string {
	t.Helper()
	for tab.Scan() {
		if tab.Text() == event && tab.Scan() {
			return strings.TrimPrefix(tab.Text(), "data: ")
		}
	}
	t.Fatalf("no %s: %v", event, tab.Err())
	return ""
}

// TestChange: what the page may change of a running crawl.
func TestChange(t *testing.T) {
	dir := makeStore(t, 4)
	var got []string
	running(t, dir, func(_ context.Context, to Change) error {
		text, _ := json.Marshal(to)
		if to.Exclude != nil {
			x, err := to.Exclude.Regexp()
			if err != nil {
				return err
			}
			text = []byte(x.String())
		}
		got = append(got, string(text))
		return nil
	})
	s := serve(t, dir)
	for body, want := range map[string]int{
		`{"action":"pause"}`: 200, `{"action":"dance"}`: 400, `{}`: 400, `{"action":"go","limits":{}}`: 400, `{"limits":{"max_pages":5}}`: 200,
		`{"exclude":{"host":"h1.test:80"}}`: 200, `{"exclude":{"pattern":"("}}`: 400, `{"exclude":{}}`: 400, `{"exclude":{"host":"a b"}}`: 400,
	} {
		if resp, text := s.ask(t, "POST", "/api/stores/0/crawl", body, nil); resp.StatusCode != want {
			t.Errorf("%s: %s %.200s; want %d", body, resp.Status, text, want)
		}
	}
	slices.Sort(got)
	if want := []string{`^https?://h1\.test(:\d+)?/`, `{"action":"","limits":{"max_pages":5,"max_seconds":null},"exclude":null}`, `{"action":"pause","limits":null,"exclude":null}`}; !slices.Equal(got, want) {
		t.Errorf("changed %q, want %q", got, want)
	}
}

// TestStalledDownload: a client that does not read a download does not hold up the end of a session.
func TestStalledDownload(t *testing.T) {
	dir := makeStore(t, 4) // with a title of a megabyte
	socket, st := running(t, dir, nil)
	stalled, err := control.Transport(dir).DialContext(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer stalled.Close()
	fmt.Fprint(stalled, "GET /ui/export?format=csv HTTP/1.1\r\nHost: crawl\r\n\r\n")
	if _, err := stalled.Read(make([]byte, 1)); err != nil { // it has begun
		t.Fatal(err)
	}
	paused := make(chan struct{})
	go func() { socket.Pause(); close(paused) }()
	select {
	case <-paused:
	case <-time.After(stallsIn / 2):
		t.Error("the crawl waits for a client that does not read")
		stalled.Close()
		<-paused
	}
	socket.Resume(st, engine{st}, nil)
}

// TestStaleSocket: after a kill of its crawl a store answers at rest.
func TestStaleSocket(t *testing.T) {
	dir := makeStore(t, 2)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "crawl.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	s := serve(t, dir)
	var st statusAnswer
	if s.get(t, "/api/stores/0/status", &st); st.Running || st.Fetched != 2 {
		t.Errorf("status %+v", st)
	}
	got := httptest.NewRecorder() // the crawl ends after the look at its socket
	s.stores[0].proxy.ServeHTTP(got, httptest.NewRequestWithContext(t.Context(), "GET", "/states", nil))
	if got.Code != http.StatusOK {
		t.Errorf("by the proxy: %d %s", got.Code, got.Body)
	}
}

// TestHostileSocket: what answers at a stranger's socket sets no cookie, and no script runs in it.
func TestHostileSocket(t *testing.T) {
	dir := makeStore(t, 2)
	l, err := net.Listen("unix", filepath.Join(dir, "crawl.sock"))
	if err != nil {
		t.Fatal(err)
	}
	hostile := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Set-Cookie", "a=b; Path=/")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Security-Policy", "script-src *")
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<script>alert(1)</script>")
	})}
	go func() { _ = hostile.Serve(l) }()
	defer hostile.Close()
	s := serve(t, dir)
	for _, path := range []string{"snapshot", "pages"} {
		resp, _ := s.ask(t, "GET", "/api/stores/0/"+path, "", nil)
		csp := resp.Header.Values("Content-Security-Policy")
		if len(csp) != 1 || !strings.HasPrefix(csp[0], "sandbox; default-src 'none'") || resp.Header.Get("Access-Control-Allow-Origin") != "" || len(resp.Cookies()) > 0 {
			t.Errorf("%s: %v", path, resp.Header)
		}
	}
}

// TestFrozenCrawl: a crawl that does not answer leaves the other stores in the list.
func TestFrozenCrawl(t *testing.T) {
	frozen := makeStore(t, 2)
	l, err := net.Listen("unix", filepath.Join(frozen, "crawl.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := serve(t, frozen, makeStore(t, 3))
	var all struct{ Stores []summary }
	if s.get(t, "/api/stores", &all); all.Stores[0].Error == "" || all.Stores[1].Pages != 3 {
		t.Errorf("%+v", all)
	}
}

// TestCutOffAnswer: a crawl that dies in its answer does not end the list.
func TestCutOffAnswer(t *testing.T) {
	dir := makeStore(t, 2)
	l, err := net.Listen("unix", filepath.Join(dir, "crawl.sock"))
	if err != nil {
		t.Fatal(err)
	}
	dying := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "{")
	})}
	go func() { _ = dying.Serve(l) }()
	defer dying.Close()
	s := serve(t, dir)
	var all struct{ Stores []summary }
	if s.get(t, "/api/stores", &all); len(all.Stores) != 1 || all.Stores[0].Error == "" {
		t.Errorf("%+v", all)
	}
}

// TestNewer: a page is sent once, also after numbers without a row.
func TestNewer(t *testing.T) {
	rows := []numberedRow{{5, &Row{URL: "e"}}, {6, nil}, {7, nil}, {8, &Row{URL: "h"}}}
	for sent, want := range map[uint64]pagesEvent{2: {[]Row{{URL: "e"}, {URL: "h"}}, 2}, 5: {[]Row{{URL: "h"}}, 0}, 8: {[]Row{}, 0}} {
		if got := newer(rows, sent, 8); !reflect.DeepEqual(got, want) {
			t.Errorf("after %d: %+v, want %+v", sent, got, want)
		}
	}
}

// TestEndUnderReaders: the store closes after the answers in progress, and a short time after the
// crawl's scorer has learned.
func TestEndUnderReaders(t *testing.T) {
	f := atRest(makeStore(t, 2), atRestOptions)
	r := f.source.(*resting)
	s, done, err := f.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- f.Close() }()
	<-r.ended
	for range 10 {
		if _, err := s.Page(1); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(done(), <-ended); err != nil || r.s != nil {
		t.Errorf("%v; the store is open: %t", err, r.s != nil)
	}
}

// TestRedirect: an address below which the page's files are not found leads to the page.
func TestRedirect(t *testing.T) {
	if _, ok := Files(); !ok {
		t.Skip("this build has no page")
	}
	got := httptest.NewRecorder()
	files().ServeHTTP(got, httptest.NewRequestWithContext(t.Context(), "GET", "/x/y", nil))
	if got.Code != http.StatusFound || got.Header().Get("Location") != "/" {
		t.Errorf("%d %v", got.Code, got.Header())
	}
}

// TestLikeAndLinks: groups are the stored pages with their copies, and hosts are joined by links between
// stored pages.
func TestLikeAndLinks(t *testing.T) {
	dir := makeStore(t, 6)
	st, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	counts, _ := st.Counts()
	for i, of := range []uint64{3, 1, 3} {
		counts.URLs++
		id, address, b := store.ID(counts.URLs), fmt.Sprintf("http://h9.test/copy%d", i), st.Batch()
		err := errors.Join(b.PutSeen(store.HashURL(address), id, false), b.PutDiscovery(id, store.Discovery{URL: address, Via: store.ViaSeed}),
			b.PutOutcome(id, store.Outcome{State: "duplicate", Reason: "near-duplicate of page 3 (similarity 0.97)", Page: of, Resemblance: .97, At: 1}), b.PutCounts(&counts), b.Commit())
		if err != nil {
			t.Fatal(err)
		}
	}
	p, _ := st.Page(3) // of h2.test
	for _, to := range []uint64{1, 4, 6, 3} {
		of, _ := st.Page(to)
		p.Links = append(p.Links, of.ID)
	}
	body, _ := st.Body(3)
	b := st.Batch()
	if err := errors.Join(b.PutPage(p, st.Compress(body)), b.Commit(), st.Close()); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir)
	var groups groupsAnswer
	if s.get(t, "/api/stores/0/groups?limit=1", &groups); groups.Total != 2 || groups.Copies != 3 || len(groups.Groups) != 1 || groups.Groups[0].Number != 3 || groups.Groups[0].Copies != 2 {
		t.Errorf("groups %+v", groups)
	}
	var pages pagesAnswer
	if s.get(t, "/api/stores/0/pages?like=3&sort=url", &pages); pages.Total != 3 || pages.Rows[1].URL != "http://h9.test/copy0" || !strings.Contains(pages.Rows[1].Reason, "page 3") {
		t.Errorf("a page and its copies: %+v", pages)
	}
	var links linksAnswer
	s.get(t, "/api/stores/0/links", &links)
	got := []string{}
	for _, l := range links.Links {
		got = append(got, fmt.Sprintf("%s %s %d", links.Hosts[l.From].Host, links.Hosts[l.To].Host, l.Links))
	}
	if !slices.Contains(got, "h2.test:80 h0.test:80 2") || links.Total != 4 || len(links.Hosts) != 4 {
		t.Errorf("links %q of %+v", got, links)
	}
	if s.get(t, "/api/stores/0/links?hosts=1", &links); len(links.Hosts) != 1 || len(links.Links) != 0 {
		t.Errorf("of one host: %+v", links)
	}
}

// deadlines counts the bytes of an answer after each new deadline.
type deadlines struct {
	http.ResponseWriter
	most, since int
}

func (d *deadlines) SetWriteDeadline(time.Time) error { d.since = 0; return nil }

func (d *deadlines) Write(b []byte) (int, error) {
	d.since += len(b)
	d.most = max(d.most, d.since)
	return len(b), nil
}

// TestSlowDownload: a client has some time for each few bytes, however much is written at once.
func TestSlowDownload(t *testing.T) {
	d := &deadlines{ResponseWriter: httptest.NewRecorder()}
	if n, err := (hasty{t.Context(), d}).Write(make([]byte, 3<<20+1)); n != 3<<20+1 || err != nil || d.most > hastyBytes {
		t.Errorf("wrote %d, %v, at most %d bytes a deadline", n, err, d.most)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := (hasty{ctx, d}).Write(make([]byte, 9)); n != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the crawl: %d, %v", n, err)
	}
}

// TestIdle: what a scorer took long to learn is not forgotten in seconds.
func TestIdle(t *testing.T) {
	for learning, want := range map[time.Duration]time.Duration{0: idleTime, time.Minute: 2 * time.Minute, time.Hour: idleMost} {
		if got := (&resting{examiner: asks{}, learning: learning}).idleFor(); got != want {
			t.Errorf("after learning for %v: %v, want %v", learning, got, want)
		}
	}
	if got := (&resting{learning: time.Hour}).idleFor(); got != idleTime {
		t.Errorf("without a scorer: %v", got)
	}
}

// TestManyStores: the list opens few stores at once, closes them, and remembers them until they change.
func TestManyStores(t *testing.T) {
	dirs := []string{}
	for range mostOpening + 2 {
		dirs = append(dirs, makeStore(t, 2))
	}
	s := serve(t, dirs...)
	var all struct{ Stores []summary }
	s.get(t, "/api/stores", &all)
	for i, one := range s.stores {
		r := one.rest.source.(*resting)
		r.mu.Lock()
		if all.Stores[i].Pages != 2 || r.s != nil {
			t.Errorf("store %d: %+v; open: %t", i, all.Stores[i], r.s != nil)
		}
		r.mu.Unlock()
	}
	for range mostOpening { // as while others are opened
		s.opening <- struct{}{}
	}
	if s.get(t, "/api/stores", &all); all.Stores[0].Pages != 2 {
		t.Errorf("from memory: %+v", all.Stores[0])
	}
	s.stores[0].files = ""
	if s.get(t, "/api/stores", &all); !strings.Contains(all.Stores[0].Error, "in a moment") {
		t.Errorf("while others are opened: %+v", all.Stores[0])
	}
	for range mostOpening {
		<-s.opening
	}
}

// TestPauseInAPass: a pass over the store lets go of it when a session ends, and a later one begins again.
func TestPauseInAPass(t *testing.T) {
	dir := makeStore(t, 4)
	socket, st := running(t, dir, nil)
	f := New(socket, urlsOf, textOf, changesOf, Crawl{})
	defer f.Close()
	_, done, err := f.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := f.untilPause()
	defer stop()
	paused := make(chan struct{})
	go func() { socket.Pause(); close(paused) }()
	<-ctx.Done() // or the test ends by its time limit
	_ = done()
	<-paused
	socket.Resume(st, engine{st}, nil)
	for complete := false; !complete; {
		if complete, err = f.indexed(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLateAnswer: an answer that takes too long is a sentence.
func TestLateAnswer(t *testing.T) {
	got := httptest.NewRecorder()
	answering(func(*http.Request) (any, error) { return nil, fmt.Errorf("x: %w", context.DeadlineExceeded) })(got, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
	if got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), errLate.Error()) {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

// TestStatusOf: a question at a crawl's end is one to ask again, no fault of the server.
func TestStatusOf(t *testing.T) {
	for want, errs := range map[int][]error{
		http.StatusServiceUnavailable: {crawler.ErrEnded, store.ErrBusy, fmt.Errorf("list: %w", errPaused)}, http.StatusNotFound: {store.ErrUnknown, store.ErrNoPage},
		http.StatusBadRequest: {cli.Usagef("no")}, http.StatusInternalServerError: {store.ErrDamaged},
	} {
		for _, err := range errs {
			if got := statusOf(err); got != want {
				t.Errorf("%v: %d, want %d", err, got, want)
			}
		}
	}
}
