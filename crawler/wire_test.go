package crawler

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"fossick/crawler/fetch"
	"fossick/internal/page"
)

// FuzzNormalFormOnTheWire: a URL that the crawler queues and judges by robots.txt,
// page's normal form, is what the server is asked for, to the letter. Two letters
// that browsers leave in a path are in no URL (RFC 3986) and go out escaped.
func FuzzNormalFormOnTheWire(f *testing.F) {
	for _, s := range []string{
		"http://example.com/a/../b?c=d#e", "HTTP:\\\\Bücher.example:80/%7e%zz", "http://a.b/é?q=a|b&c='d'\"<>`{}[]^", "http://a.b",
		"http://a.b:8080/%2e%2E/x;p=1//y/", "http://a.b/?%zz&%&=&a", "http://a_b.c/\\x\ty", "http://a.b/x%2Fy^z|?^|", "http://8.8.8.8/", "http://[2606:4700::1]:81/*!'()~",
	} {
		f.Add(s)
	}
	asked := make(chan string, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.RequestURI
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<p>x")
	}))
	f.Cleanup(srv.Close)
	proxy, err := url.Parse(srv.URL)
	if err != nil {
		f.Fatal(err)
	}
	fetcher, err := fetch.New(fetch.Options{Proxy: proxy}) // a proxy is sent the whole URL
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(fetcher.Close)
	// Colly's parser takes a host's part that begins with more digits than 64 bits hold for
	// an address out of range, also where letters follow. No public host has such a name.
	longNumber := regexp.MustCompile(`^http://[^/]*[0-9]{18,}`)
	f.Fuzz(func(t *testing.T, raw string) {
		normal, err := page.Normalize(raw)
		if err != nil || !strings.HasPrefix(normal, "http:") { // by https a proxy sees the host alone
			return
		}
		if longNumber.MatchString(normal) {
			return
		}
		resp := fetcher.Fetch(t.Context(), fetch.Request{URL: normal})
		if resp.State == fetch.StateGuardDenied {
			return
		}
		if resp.State != fetch.StateOK {
			t.Fatalf("%q, of %q: %s, %v", normal, raw, resp.State, resp.Err)
		}
		path, _, _ := strings.Cut(normal, "?")
		want := strings.NewReplacer("^", "%5E", "|", "%7C").Replace(path) + strings.TrimPrefix(normal, path)
		if got := <-asked; got != want {
			t.Fatalf("asked for %q, want %q", got, want)
		}
	})
}
