package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/datasets"
)

// set makes a set of pages.
func set(pages ...*datasets.Example) *datasets.Set {
	return datasets.FromSeq("test", func(yield func(*datasets.Example, error) bool) {
		for _, e := range pages {
			if !yield(e, nil) {
				return
			}
		}
	}, datasets.Options{})
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

// start serves sets and returns a client that reaches them through the proxy.
func start(t testing.TB, opt Options, sets ...*datasets.Set) (*Web, *httptest.Server, *http.Client) {
	t.Helper()
	w, err := New(t.Context(), opt, sets...)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(w)
	pem, err := os.ReadFile(w.CA())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		t.Fatal("the authority's file holds no certificate")
	}
	proxy, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
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
	resp, err := c.Get(u)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
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
		body   string // what the body holds, or Location
		typ    string
	}{
		{"http://a.test/", 200, "home of a", "text/html; charset=utf-8"},
		{"http://A.test:80", 200, "home of a", "text/html; charset=utf-8"},
		{"http://a.test/wiki/%c3%85land", 200, "Åland", "text/html; charset=utf-8"},
		{"http://a.test/x", 200, "first", "text/html; charset=utf-8"},
		{"http://a.test/dir", 301, "http://a.test/dir/", "text/html; charset=utf-8"},
		{"http://a.test/none", 404, "no page here", "text/html; charset=utf-8"},
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

// TestByHostHeader asks the port itself, without a proxy.
func TestByHostHeader(t *testing.T) {
	_, server, _ := start(t, Options{}, few())
	for host, want := range map[string]int{"a.test": 200, "a.test:80": 200, "none.test": 502} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
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
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://a.test/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(tt.name, tt.value)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != tt.want {
			t.Errorf("%s: %s gives %d, want %d", tt.name, tt.value, resp.StatusCode, tt.want)
		}
	}
}

func TestMethods(t *testing.T) {
	_, _, client := start(t, Options{}, few())
	resp, err := client.Head("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 200 || resp.ContentLength != int64(len("<p>home of a")) {
		t.Errorf("HEAD: %d, length %d", resp.StatusCode, resp.ContentLength)
	}
	resp, err = client.Post("http://a.test/", "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != 405 || resp.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d, Allow %q", resp.StatusCode, resp.Header.Get("Allow"))
	}
}

// TestLatency runs on the bubble's clock: the answer takes half to one and a half
// of the mean, each URL its own time, the same again.
func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := New(t.Context(), Options{Latency: time.Second, Seed: 3}, few())
		if err != nil {
			t.Fatal(err)
		}
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

// TestServe wants a clean end by the context.
func TestServe(t *testing.T) {
	w, err := New(t.Context(), Options{SpoolDir: t.TempDir()}, few())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.Serve(ctx, l) }()
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+l.Addr().String()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "a.test"
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Serve: %v, want nil when its context ends", err)
	}
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
		{"no room", Options{SpoolDir: "/nonexistent"}, few(), "TMPDIR"},
	}
	for _, tt := range tests {
		w, err := New(t.Context(), tt.opt, tt.set)
		if w != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v; want an error saying %q", tt.name, w, err, tt.want)
		}
	}
}

// TestArchive: a WARC is served with its redirects, errors, robots.txt and copies.
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
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := datasets.Open(path, datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
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
