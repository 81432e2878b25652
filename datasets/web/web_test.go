package web

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/html"

	"fossick/datasets"
	"fossick/internal/testkit"
)

func set(pages ...*datasets.Example) *datasets.Set {
	return datasets.FromSeq("test", testkit.Each(pages), datasets.Options{})
}

func few() *datasets.Set {
	return set(
		&datasets.Example{URL: "http://a.test/", HTML: "<p>home of a"},
		&datasets.Example{URL: "http://a.test/wiki/%C3%85land", HTML: "<p>Åland"},
		&datasets.Example{URL: "http://a.test/x#part", HTML: "<p>first"},
		&datasets.Example{URL: "http://a.test/x", HTML: "<p>second"},
		&datasets.Example{URL: "http://a.test/s?PHPSESSID=0123456789abcdef0123456789abcdef", HTML: "<p>session"},
		&datasets.Example{URL: "http://a.test/dir/", HTML: "<p>dir"},
		&datasets.Example{URL: "https://secure.test/in?a=1&b=2", HTML: "<p>secure"},
		&datasets.Example{URL: "http://text.test:8080/log.txt", Text: "plain <b>"},
		&datasets.Example{URL: "http://old.test/", HTML: "<meta charset=iso-8859-1><p>café", Charset: "iso-8859-1"},
		&datasets.Example{URL: "ftp://f.test/file", Text: "not on the web"},
	)
}

func start(t testing.TB, opt Options, sets ...*datasets.Set) (*Web, *httptest.Server, *http.Client) {
	t.Helper()
	w := testkit.Call(New(t.Context(), opt, sets...)).Must(t)
	server := httptest.NewServer(w)
	pem := testkit.Call(os.ReadFile(w.CA())).Must(t)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("the authority's file holds no certificate")
	}
	proxy := testkit.Call(url.Parse(server.URL)).Must(t)
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: roots}, MaxIdleConnsPerHost: 64}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
		if err := w.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if _, err := os.Stat(w.CA()); err == nil {
			t.Errorf("%s is left behind", w.CA())
		}
	})
	return w, server, client
}

func get(t testing.TB, c *http.Client, u string) (*http.Response, string) {
	t.Helper()
	resp := testkit.Call(c.Get(u)).Must(t)
	defer resp.Body.Close()
	body := testkit.Call(io.ReadAll(resp.Body)).Must(t)
	return resp, string(body)
}

func TestThroughProxy(t *testing.T) {
	w, _, client := start(t, Options{}, few())
	if s := w.Stats(); s.Hosts != 4 || s.Pages != 8 || s.Repeated != 1 || s.Unserved != 1 {
		t.Errorf("stats %+v, want 4 hosts, 8 pages, 1 repeated, 1 unserved", s)
	}
	tests := []struct {
		url    string
		status int
		body   string // part of the body, or Location
		typ    string
	}{
		{"http://a.test/", 200, "home of a", "text/html; charset=utf-8"},
		{"http://A.test:80", 200, "home of a", "text/html; charset=utf-8"},
		{"http://a.test/wiki/%c3%85land", 200, "Åland", "text/html; charset=utf-8"},
		{"http://a.test/x", 200, "first", "text/html; charset=utf-8"},
		{"http://a.test/dir", 301, "http://a.test/dir/", "text/html; charset=utf-8"},
		{"http://a.test/none", 404, "no page here", "text/html; charset=utf-8"},
		{"http://a.test/sitemap.xml", 404, "no page here", "text/html; charset=utf-8"},
		{"http://none.test/", 502, "not in the corpus", "text/html; charset=utf-8"},
		{"http://a.test:81/", 502, "not in the corpus", "text/html; charset=utf-8"},
		{"https://secure.test/in?a=1&b=2", 200, "secure", "text/html; charset=utf-8"},
		{"http://secure.test/in?a=1&b=2", 200, "secure", "text/html; charset=utf-8"},
		{"https://a.test/", 200, "home of a", "text/html; charset=utf-8"},
		{"https://a.test/dir", 301, "http://a.test/dir/", "text/html; charset=utf-8"},
		{"http://a.test/s?PHPSESSID=0123456789abcdef0123456789abcdef", 200, "session", "text/html; charset=utf-8"},
		{"http://a.test/s", 200, "session", "text/html; charset=utf-8"},
		{"http://text.test:8080/log.txt", 200, "plain <b>", "text/plain; charset=utf-8"},
		{"http://old.test/", 200, "caf\xe9", "text/html"},
		{"http://a.test/robots.txt", 200, "User-agent: *\nDisallow:\n", "text/plain; charset=utf-8"},
		{"https://secure.test/robots.txt", 200, "User-agent: *", "text/plain; charset=utf-8"},
	}
	for _, tt := range tests {
		resp, body := get(t, client, tt.url)
		if resp.StatusCode != tt.status || resp.Header.Get("Content-Type") != tt.typ {
			t.Errorf("%s: %d %s, want %d %s", tt.url, resp.StatusCode, resp.Header.Get("Content-Type"), tt.status, tt.typ)
		}
		if tt.status == 301 {
			body = resp.Header.Get("Location")
		}
		if !strings.Contains(body, tt.body) {
			t.Errorf("%s: body %q, want it to hold %q", tt.url, body, tt.body)
		}
	}
	if _, err := client.Get("https://none.test/"); err == nil || !strings.Contains(err.Error(), "Bad Gateway") {
		t.Errorf("CONNECT to an unknown host: %v, want Bad Gateway", err)
	}
}

// TestByHostHeader requests pages directly, without a proxy.
func TestByHostHeader(t *testing.T) {
	_, server, _ := start(t, Options{}, few())
	for host, want := range map[string]int{"a.test": 200, "a.test:80": 200, "none.test": 502} {
		req := testkit.Call(http.NewRequestWithContext(t.Context(), "GET", server.URL+"/", nil)).Must(t)
		req.Host = host
		resp := testkit.Call(server.Client().Do(req)).Must(t)
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("Host %s: %d, want %d", host, resp.StatusCode, want)
		}
	}
}

func TestConditional(t *testing.T) {
	_, _, client := start(t, Options{}, few())
	resp, _ := get(t, client, "http://a.test/")
	etag, modified := resp.Header.Get("Etag"), resp.Header.Get("Last-Modified")
	if etag == "" || modified == "" {
		t.Fatalf("ETag %q, Last-Modified %q; want both", etag, modified)
	}
	tests := []struct {
		name, value string
		want        int
	}{
		{"If-None-Match", etag, 304},
		{"If-None-Match", `"x", W/` + etag, 304},
		{"If-None-Match", `"x"`, 200},
		{"If-Modified-Since", modified, 304},
		{"If-Modified-Since", "Tue, 31 Dec 2019 23:59:59 GMT", 200},
		{"If-Modified-Since", "yesterday", 200},
	}
	for _, tt := range tests {
		req := testkit.Call(http.NewRequestWithContext(t.Context(), "GET", "http://a.test/", nil)).Must(t)
		req.Header.Set(tt.name, tt.value)
		resp := testkit.Call(client.Do(req)).Must(t)
		resp.Body.Close()
		if resp.StatusCode != tt.want {
			t.Errorf("%s: %s gives %d, want %d", tt.name, tt.value, resp.StatusCode, tt.want)
		}
	}
}

func TestMethods(t *testing.T) {
	_, _, client := start(t, Options{}, few())
	resp := testkit.Call(client.Head("http://a.test/")).Must(t)
	resp.Body.Close()
	if resp.StatusCode != 200 || resp.ContentLength != int64(len("<p>home of a")) {
		t.Errorf("HEAD: %d, length %d", resp.StatusCode, resp.ContentLength)
	}
	resp = testkit.Call(client.Post("http://a.test/", "text/plain", strings.NewReader("x"))).Must(t)
	resp.Body.Close()
	if resp.StatusCode != 405 || resp.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d, Allow %q", resp.StatusCode, resp.Header.Get("Allow"))
	}
}

// TestLatency checks the delay range, and that each URL keeps its own delay.
func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := testkit.Call(New(t.Context(), Options{Latency: time.Second, Seed: 3}, few())).Must(t)
		defer w.Close()
		took := func(u string) time.Duration {
			before := time.Now()
			w.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", u, nil))
			return time.Since(before)
		}
		a, again, b := took("http://a.test/"), took("http://a.test/"), took("http://a.test/x")
		if a != again || a == b || a < time.Second/2 || a > 3*time.Second/2 {
			t.Errorf("latencies %v, %v and %v; want the first two equal, the third other, near 1s", a, again, b)
		}
	})
}

func TestNewErrors(t *testing.T) {
	bad := func(yield func(*datasets.Example, error) bool) {
		yield(nil, &datasets.RowError{File: "x.jsonl", Line: 7, Err: io.ErrUnexpectedEOF})
	}
	tests := []struct {
		name string
		opt  Options
		set  *datasets.Set
		want string
	}{
		{"a bad row", Options{}, datasets.FromSeq("bad", bad, datasets.Options{}), "x.jsonl:7"},
		{"no pages", Options{}, set(), "no page to serve"},
		{"a share of 1", Options{Disallow: 1}, few(), "want a share"},
	}
	for _, tt := range tests {
		w, err := New(t.Context(), tt.opt, tt.set)
		if w != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v; want an error saying %q", tt.name, w, err, tt.want)
		}
	}
	t.Setenv("TMPDIR", "/nonexistent")
	if _, err := New(t.Context(), Options{}, few()); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("no room: %v, want an error saying TMPDIR", err)
	}
}

func TestArchive(t *testing.T) {
	var file []byte
	record := func(kind, url, field, block string) {
		file = fmt.Appendf(file, "WARC/1.1\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, url, field, len(block), block)
	}
	record("response", "http://a.test/", "", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>A</title>")
	record("response", "http://a.test/old", "", "HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n")
	record("response", "http://a.test/gone", "", "HTTP/1.1 410 Gone\r\n\r\n")
	record("response", "http://a.test/robots.txt", "", "HTTP/1.1 200 OK\r\n\r\nUser-agent: *\nDisallow: /x\n")
	record("revisit", "http://b.test/copy", "WARC-Refers-To-Target-URI: http://a.test/\r\n", "")
	path := filepath.Join(t.TempDir(), "a.warc")
	testkit.Must(t, os.WriteFile(path, file, 0o600))
	set := testkit.Call(datasets.Open(path, datasets.Options{})).Must(t)
	_, _, client := start(t, Options{}, set)
	for url, want := range map[string]struct {
		code int
		body string
	}{
		"http://a.test/": {200, "<title>A</title>"}, "http://a.test/old": {302, ""}, "http://a.test/gone": {410, ""}, "http://a.test/none": {404, ""},
		"http://a.test/robots.txt": {200, "Disallow: /x"}, "http://b.test/copy": {200, "<title>A</title>"},
	} {
		if resp, body := get(t, client, url); resp.StatusCode != want.code || !strings.Contains(body, want.body) {
			t.Errorf("%s: %d %q, want %d %q", url, resp.StatusCode, body, want.code, want.body)
		}
	}
}

// FuzzAnswer checks that every answer is documented and every served page is in the set.
func FuzzAnswer(f *testing.F) {
	for _, seed := range [][3]string{
		{"a.test", "/x", ""}, {"A.TEST.:80", "/dir", "q"}, {"[::1]:443", "//", ""}, {"", "", ""}, {"a.test:x", "/%zz/../x", "a=%"},
		{"townhall.test", "/calendar/2025/06/-1", ""}, {"board.test", "/threads/5", "visit=99999999999999999999"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	demo := testkit.Call(datasets.Open("demo", datasets.Options{})).Must(f)
	w := testkit.Call(New(f.Context(), Options{}, few(), demo)).Must(f)
	f.Cleanup(func() { w.Close() })
	f.Fuzz(func(t *testing.T, host, path, query string) {
		r := &http.Request{Method: "GET", Host: host, URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{}}
		rec := httptest.NewRecorder()
		w.ServeHTTP(rec, r)
		switch rec.Code {
		case 200, 301, 302, 403, 404, 410, 500:
			if _, ok := w.hosts[hostName(host)]; !ok {
				t.Errorf("host %q is unknown, but %q was answered with %d", host, path, rec.Code)
			}
		case 502:
		default:
			t.Errorf("%q %q: status %d", host, path, rec.Code)
		}
		if to := rec.Header().Get("Location"); to != "" && strings.ContainsAny(to, "\r\n") {
			t.Errorf("%q %q: a redirect to %q", host, path, to)
		}
	})
}

func TestHostName(t *testing.T) {
	for in, want := range map[string]string{
		"a.test": "a.test", "A.Test.": "a.test", "a.test:80": "a.test", "a.test:443": "a.test", "a.test:8080": "a.test:8080",
		"a.test:": "a.test", "[::1]:80": "::1", "[::1]": "::1", "[::1]:81": "[::1]:81", "": "",
	} {
		if got := hostName(in); got != want {
			t.Errorf("hostName(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestLog checks that each answer has a complete log line at once.
func TestLog(t *testing.T) {
	var log syncBuffer
	_, _, client := start(t, Options{Log: &log}, few())
	urls := []string{"http://a.test/x", "https://secure.test/in?a=1&b=2", "http://none.test/", "http://a.test/robots.txt"}
	for _, u := range urls {
		get(t, client, u)
	}
	var got []record
	for line := range strings.Lines(log.String()) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		got = append(got, r)
	}
	want := []record{
		{Host: "a.test:80", Path: "/x", Status: 200, Bytes: 8},
		{Host: "secure.test:443", Path: "/in?a=1&b=2", Status: 200, Bytes: 9},
		{Host: "none.test:80", Path: "/", Status: 502},
		{Host: "a.test:80", Path: "/robots.txt", Status: 200, Bytes: 24},
	}
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(want), log.String())
	}
	for i, w := range want {
		g := got[i]
		if g.Host != w.Host || g.Path != w.Path || g.Status != w.Status || (w.Bytes > 0 && g.Bytes != w.Bytes) {
			t.Errorf("line %d: %+v, want %+v", i+1, g, w)
		}
		if g.URL != urls[i] || g.UserAgent != "Go-http-client/1.1" || g.Start.IsZero() || g.End.Before(g.Start) {
			t.Errorf("line %d: %+v", i+1, g)
		}
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func TestOnLoopback(t *testing.T) {
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	proxy, stop, err := OnLoopback(t.Context(), Options{}, set)
	if err != nil {
		t.Fatal(err)
	}
	through, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(through), DisableKeepAlives: true}}
	resp, err := client.Get("http://attic.test/")
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != http.StatusOK {
		t.Errorf("a page of the set: %s", resp.Status)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if resp, err := client.Get("http://attic.test/"); err == nil {
		resp.Body.Close()
		t.Error("it still answers when it has been stopped")
	}
}

func many(n int) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		for i := range n {
			e := &datasets.Example{URL: fmt.Sprintf("http://m.test/d%d/p%d", i%17, i), HTML: fmt.Sprint("<p>", i)}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// TestDisallow counts the pages that robots.txt forbids, by prefix matching.
func TestDisallow(t *testing.T) {
	const n = 2000
	texts := map[string]bool{}
	for _, share := range []float64{0, 0.05, 0.3, 0.9} {
		for seed := range uint64(2) {
			opt := Options{Disallow: share, Seed: seed}
			_, _, client := start(t, opt, datasets.FromSeq("m", many(n), datasets.Options{}))
			_, robots := get(t, client, "http://m.test/robots.txt")
			_, _, client2 := start(t, opt, datasets.FromSeq("m", many(n), datasets.Options{}))
			if _, again := get(t, client2, "http://m.test/robots.txt"); again != robots {
				t.Errorf("share %v, seed %d: robots.txt differs from run to run", share, seed)
			}
			texts[robots] = true
			var rules []string
			for line := range strings.Lines(robots) {
				if rule, ok := strings.CutPrefix(strings.TrimSpace(line), "Disallow: "); ok {
					rules = append(rules, rule)
				}
			}
			got := 0
			for e := range many(n) {
				for _, rule := range rules {
					if strings.HasPrefix(strings.TrimPrefix(e.URL, "http://m.test"), rule) {
						got++
						break
					}
				}
			}
			if want := int(share * n); got != want {
				t.Errorf("share %v, seed %d: %d of %d pages disallowed, want %d", share, seed, got, n, want)
			}
		}
	}
	if len(texts) != 7 { // with share 0 both seeds agree
		t.Errorf("%d different robots.txt, want 7: each share and seed its own", len(texts))
	}
}

func TestSitemaps(t *testing.T) {
	_, _, client := start(t, Options{Sitemaps: true}, few())
	for url, want := range map[string]string{
		"http://a.test/robots.txt":       "User-agent: *\nDisallow:\n\nSitemap: http://a.test/sitemap.xml\n",
		"https://a.test/robots.txt":      "Sitemap: http://a.test/sitemap.xml\n",
		"https://secure.test/robots.txt": "Sitemap: https://secure.test/sitemap.xml\n",
		"http://a.test/sitemap.xml":      "<url><loc>http://a.test/wiki/%C3%85land</loc><lastmod>2020-",
		"http://secure.test/sitemap.xml": "<loc>https://secure.test/in?a=1&amp;b=2</loc>",
	} {
		if resp, body := get(t, client, url); resp.StatusCode != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s\nwant %s", url, resp.StatusCode, body, want)
		}
	}
	if _, body := get(t, client, "http://a.test/sitemap.xml"); strings.Count(body, "<loc>") != 5 {
		t.Errorf("%d of 5 pages: %s", strings.Count(body, "<loc>"), body)
	}
	if resp, _ := get(t, client, "http://a.test/sitemap-1.xml.gz"); resp.StatusCode != 200 {
		t.Errorf("part 1: %d", resp.StatusCode)
	}
	for _, none := range []string{"/sitemap-2.xml", "/sitemap-0.xml", "/sitemap-x.xml", "/sitemap-1.txt"} {
		if resp, _ := get(t, client, "http://a.test"+none); resp.StatusCode != 404 {
			t.Errorf("%s: %d", none, resp.StatusCode)
		}
	}
}

// TestSitemapIndex checks that a large sitemap is split without repeating pages.
func TestSitemapIndex(t *testing.T) {
	const n = sitemapURLs + 10
	many := datasets.FromSeq("test", func(yield func(*datasets.Example, error) bool) {
		for i := range n {
			if !yield(&datasets.Example{URL: fmt.Sprintf("http://a.test/%d", i), Text: "x"}, nil) {
				return
			}
		}
	}, datasets.Options{})
	_, _, client := start(t, Options{Sitemaps: true}, many)
	_, index := get(t, client, "http://a.test/sitemap.xml")
	if want := "<loc>http://a.test/sitemap-2.xml.gz</loc>"; !strings.Contains(index, want) || strings.Count(index, "<loc>") != 2 {
		t.Fatalf("index %s", index)
	}
	pages := map[string]bool{}
	for i := 1; i <= 2; i++ {
		resp, err := client.Get(fmt.Sprintf("http://a.test/sitemap-%d.xml.gz", i))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(z)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(body), "<loc>") {
			if u, _, ok := strings.Cut(part, "</loc>"); ok {
				pages[u] = true
			}
		}
	}
	if len(pages) != n {
		t.Errorf("%d pages, want %d", len(pages), n)
	}
}

func changing(t *testing.T, plan ChangePlan, n int) *Web {
	t.Helper()
	web := testkit.Call(New(t.Context(), Options{Change: plan, Seed: 1}, datasets.FromSeq("some", func(yield func(*datasets.Example, error) bool) {
		for i := range n {
			if !yield(&datasets.Example{URL: fmt.Sprintf("http://a.test/%d", i), HTML: fmt.Sprintf("<p>one<p>page %d has a long paragraph<pre>x</pre></body>", i)}, nil) {
				return
			}
		}
	}, datasets.Options{}))).Must(t)
	t.Cleanup(func() {
		if err := web.Close(); err != nil {
			t.Error(err)
		}
	})
	return web
}

func ask(web *Web, url, etag string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, url, nil)
	r.Header.Set("If-None-Match", etag)
	rw := httptest.NewRecorder()
	web.ServeHTTP(rw, r)
	return rw
}

// TestLastmod checks true and wrong lastmod values and 304 for an unchanged sitemap.
func TestLastmod(t *testing.T) {
	for _, wrong := range []float64{0, 1} {
		web := testkit.Call(New(t.Context(), Options{Sitemaps: true, Change: ChangePlan{Mean: time.Hour, Wrong: wrong}, Seed: 1}, datasets.FromSeq("some", func(yield func(*datasets.Example, error) bool) {
			for i := range 20 {
				if !yield(&datasets.Example{URL: fmt.Sprintf("http://h%d.test/", i), HTML: "<p>a page"}, nil) {
					return
				}
			}
		}, datasets.Options{}))).Must(t)
		defer web.Close()
		web.began = web.began.Add(-1000 * time.Hour)
		seen := map[lastmod]int{}
		for i := range 20 {
			host := fmt.Sprintf("http://h%d.test", i)
			truth := web.Truth(host + "/")
			seen[truth.Lastmod]++
			got := ask(web, host+"/sitemap.xml", "")
			_, told, _ := strings.Cut(got.Body.String(), "<lastmod>")
			told, _, _ = strings.Cut(told, "</lastmod>")
			at, _ := time.Parse(time.RFC3339, told)
			now := web.at(truth, time.Since(web.began))
			right := map[lastmod]bool{
				trueLastmod:   at.Equal(web.began.Add(now.lastText).Truncate(time.Second)),
				alwaysLastmod: time.Since(at) < time.Minute,
				neverLastmod:  len(told) == len(time.DateOnly),
			}
			if !right[truth.Lastmod] {
				t.Errorf("%s, %s: lastmod %s", host, truth.Lastmod, told)
			}
			if again := ask(web, host+"/sitemap.xml", got.Header().Get("Etag")); truth.Lastmod != alwaysLastmod && again.Code != http.StatusNotModified {
				t.Errorf("%s: asked again: %d, want 304", host, again.Code)
			}
		}
		if wrong == 0 && seen[trueLastmod] != 20 || wrong == 1 && (seen[trueLastmod] > 0 || seen[alwaysLastmod] == 0 || seen[neverLastmod] == 0) {
			t.Errorf("of wrong hosts %g: %v", wrong, seen)
		}
	}
}

// TestChange checks that a known version gets 304 until the page changes.
func TestChange(t *testing.T) {
	web := changing(t, ChangePlan{Mean: time.Hour, Adverts: 1}, 2)
	const url = "http://a.test/1"
	first := ask(web, url, "")
	if again := ask(web, url, first.Header().Get("Etag")); !strings.HasPrefix(first.Body.String(), "<p>one<p>page 1") || again.Code != http.StatusNotModified {
		t.Errorf("%q, then %d; want the page, then 304", first.Body, again.Code)
	}
	web.began = web.began.Add(-1000 * time.Hour)
	second := ask(web, url, first.Header().Get("Etag"))
	if body := second.Body.String(); second.Code != http.StatusOK || !strings.HasPrefix(body, "<p>one<p>By revision") || !strings.Contains(body, "Offer") || !strings.HasSuffix(body, "</body>") {
		t.Errorf("after a thousand hours %d %q, want another revision and another offer", second.Code, second.Body)
	}
	if again := ask(web, url, second.Header().Get("Etag")); again.Code != http.StatusNotModified {
		t.Errorf("asked again: %d, want 304", again.Code)
	}
}

// TestTruth compares observed change and absence rates with Truth.
func TestTruth(t *testing.T) {
	const n, hours = 400, 2000
	web := changing(t, ChangePlan{Mean: time.Hour, Adverts: 2, Away: .5}, n)
	texts, adverts, expected := 0., 0., 0.
	absent, away := map[absence]int{}, 0
	for i := range n {
		truth := web.Truth(fmt.Sprintf("http://a.test/%d", i))
		m := web.at(truth, hours*time.Hour)
		texts, adverts = texts+float64(m.text), adverts+float64(m.advert)
		expected += float64(hours*time.Hour) / float64(truth.Interval)
		absent[truth.Absence]++
		if m.away {
			away++
		}
	}
	if math.Abs(texts/expected-1) > .02 || math.Abs(adverts/expected-2) > .04 {
		t.Errorf("%.0f changes of texts, %.0f of adverts, want %.0f and twice that", texts, adverts, expected)
	}
	if g, m := absent[gone], absent[movedAway]; g < 60 || m < 60 || absent[never] < 150 {
		t.Errorf("%v, want a quarter each gone and moved now and then", absent)
	}
	if share := float64(away) / float64(n-absent[never]); math.Abs(share-2./7) > .1 {
		t.Errorf("%.2f of the pages that go away are, want two sevenths", share)
	}
	var out bytes.Buffer
	if err := web.WriteTruth(&out); err != nil || strings.Count(out.String(), "\n") != n || !strings.Contains(out.String(), `"absence":"moved"`) {
		t.Errorf("%v: %.200s", err, out.String())
	}
}

// TestAway checks the answers for gone and moved pages.
func TestAway(t *testing.T) {
	web := changing(t, ChangePlan{Mean: time.Hour, Away: 1}, 60)
	start := web.began
	codes := map[int]int{}
	for hour := range 30 {
		web.began = start.Add(-time.Duration(hour) * time.Hour)
		for i := range 60 {
			url := fmt.Sprintf("http://a.test/%d", i)
			r := ask(web, url, "")
			codes[r.Code]++
			moved := ask(web, url+movedTo, "")
			if to := r.Header().Get("Location"); (r.Code == http.StatusMovedPermanently) != (moved.Code == http.StatusOK) || to != "" && to != url+movedTo {
				t.Fatalf("%s: %d to %q, where it has moved to %d", url, r.Code, to, moved.Code)
			}
		}
	}
	for _, code := range []int{200, 301, 404, 410} {
		if codes[code] == 0 {
			t.Errorf("codes %v: want %d too", codes, code)
		}
	}
	if first := web.Truth(web.first); first.Absence != never {
		t.Errorf("the first page, by which crawls begin: %+v", first)
	}
}

// TestDemoWeb crawls 1000 pages of the demo web breadth first and counts the answers.
func TestDemoWeb(t *testing.T) {
	demo := testkit.Call(datasets.Open("demo", datasets.Options{})).Must(t)
	_, _, client := start(t, Options{}, demo)
	queue, seen := []string{"http://linkbook.test/"}, map[string]bool{"http://linkbook.test/": true}
	codes, charset := map[int]int{}, map[string]int{}
	trapped := 0
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if strings.Contains(at, "/calendar/") || strings.Contains(at, "/threads") {
			if trapped++; trapped > 50 {
				continue
			}
		}
		resp, body := get(t, client, at)
		codes[resp.StatusCode]++
		charset[resp.Header.Get("Content-Type")]++
		var links []string
		switch {
		case resp.StatusCode == http.StatusOK:
			links = hrefs(t, at, body)
		case resp.Header.Get("Location") != "":
			links = []string{resp.Header.Get("Location")}
		}
		for _, l := range links {
			if !seen[l] {
				seen[l] = true
				queue = append(queue, l)
			}
		}
	}
	t.Logf("codes %v, types %v", codes, charset)
	for code, least := range map[int]int{200: 600, 301: 2, 302: 4, 403: 1, 404: 5, 410: 1, 500: 1, 502: 1} {
		if codes[code] < least {
			t.Errorf("status %d came %d times, want %d at least", code, codes[code], least)
		}
	}
	if trapped < 100 {
		t.Errorf("the traps were met %d times; they must not end", trapped)
	}
	if _, robots := get(t, client, "http://northgate-bank.test/robots.txt"); !strings.Contains(robots, "Disallow: /private/") {
		t.Errorf("robots.txt of a host with a private part: %q", robots)
	}
}

func hrefs(t *testing.T, at, body string) []string {
	base := testkit.Call(url.Parse(at)).Must(t)
	var out []string
	z := html.NewTokenizer(strings.NewReader(body))
	for z.Next() != html.ErrorToken {
		tok := z.Token()
		for _, a := range tok.Attr {
			if tok.Data == "a" && a.Key == "href" {
				if u, err := base.Parse(a.Val); err == nil {
					out = append(out, u.String())
				}
			}
		}
	}
	return out
}

// TestConcurrent mixes all kinds of requests, for the race detector.
func TestConcurrent(t *testing.T) {
	demo := testkit.Call(datasets.Open("demo", datasets.Options{})).Must(t)
	var log syncBuffer
	_, _, client := start(t, Options{Log: &log, Disallow: 0.1}, demo)
	urls := []string{
		"http://javacorner.test/", "https://pitlane.test/", "http://townhall.test/calendar/2025/06",
		"http://board.test/threads?visit=7", "http://m31.test/robots.txt", "https://m31.test/robots.txt", "http://kiosk.test/none",
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 4 * len(urls) {
				resp, err := client.Get(urls[(i+worker)%len(urls)])
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					t.Error(err)
				}
				resp.Body.Close()
			}
		})
	}
	wg.Wait()
	want := 8 * 4 * len(urls)
	n := 0
	// A line is written after the answer is sent, so the last lines may lag behind the clients.
	for end := time.Now().Add(10 * time.Second); n < want && time.Now().Before(end); time.Sleep(time.Millisecond) {
		n = strings.Count(log.String(), "\n")
	}
	if n != want {
		t.Errorf("%d lines in the log, want one for each of %d requests", n, want)
	}
}

func corpus(t testing.TB, name string) *datasets.Set {
	t.Helper()
	s := testkit.Call(datasets.Open(testkit.Corpus(t, name), datasets.Options{})).Must(t)
	return s
}

// TestRealCorpora serves each corpus and requests every 97th page.
func TestRealCorpora(t *testing.T) {
	tests := []struct {
		name                             string
		hosts, pages, repeated, unserved int
	}{
		{"wikispeedia", 238, 4598, 0, 0},
		{"webkb", 0, 0, 0, 0},
		{"uci_ics", 88, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name != "webkb" {
				testkit.Only(t, "serves a large corpus")
			}
			s, before := corpus(t, tt.name), time.Now()
			w, _, client := start(t, Options{}, s)
			took := time.Since(before)
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			st := w.Stats()
			t.Logf("%+v in %v; %d MiB of heap from the system", st, took, m.HeapSys>>20)
			n, asked := 0, 0
			for e := range testkit.All(t, s.Examples()) {
				n++
				if n%97 != 0 || strings.Contains(e.URL, "#") || !strings.HasPrefix(e.URL, "http") {
					continue
				}
				asked++
				resp, body := get(t, client, e.URL)
				if want := e.HTML + e.Text; resp.StatusCode != 200 || (body != want && st.Repeated == 0) {
					t.Errorf("%s: %d, %d bytes; want 200 and %d bytes", e.URL, resp.StatusCode, len(body), len(want))
				}
			}
			if st.Pages+st.Repeated+st.Unserved != n {
				t.Errorf("%+v do not add up to the %d rows", st, n)
			}
			if tt.hosts > 0 && st.Hosts != tt.hosts || tt.pages > 0 && st.Pages != tt.pages {
				t.Errorf("%d hosts, %d pages; want %d, %d", st.Hosts, st.Pages, tt.hosts, tt.pages)
			}
			t.Logf("asked for %d pages", asked)
		})
	}
}
