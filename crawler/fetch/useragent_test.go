package fetch

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
)

// TestUserAgentEverywhere: whatever goes out carries our user agent and no
// other, judged by the logs of a proxy and of the server behind it. That is so
// of pages, robots.txt, what is streamed, conditional requests, CONNECT, and
// requests that are made again after a failure.
func TestUserAgentEverywhere(t *testing.T) {
	for _, secure := range []bool{false, true} {
		var mu sync.Mutex
		agents := map[string]int{} // who saw it, method and user agent → requests
		note := func(who string, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			agents[fmt.Sprintf("%s %s %q", who, r.Method, r.Header["User-Agent"])]++
		}
		srv, cas := tlsServer(t, false, func(w http.ResponseWriter, r *http.Request) {
			note("server", r)
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<p>page")
		})
		lead := forwardProxy(srv.Listener.Addr().String())
		log := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			note("proxy", r)
			if r.Host == "refused.example:443" {
				http.Error(w, "not there", http.StatusBadGateway)
				return
			}
			lead.ServeHTTP(w, r)
		})
		start := httptest.NewServer
		if secure {
			start = httptest.NewTLSServer
		}
		proxy := start(log)
		t.Cleanup(proxy.Close)
		proxyURL := mustURL(t, proxy.URL)
		proxyURL.User = url.UserPassword("user", secret)
		f := newTest(t, Options{UserAgent: "fossick-test/1.0", Proxy: proxyURL, RootCAs: cas, MaxIdleConns: -1})
		for _, origin := range []string{"http://example.com", "https://example.com"} {
			checkState(t, f.Fetch(t.Context(), Request{URL: origin + "/page"}), StateOK)
			checkState(t, f.Fetch(t.Context(), Request{URL: origin + "/robots.txt", Accept: []string{"*/*"}, Truncate: true, AnySuccess: true}), StateOK)
			checkState(t, f.Fetch(t.Context(), Request{URL: origin + "/again", ETag: `"1"`}), StateOK)
			checkState(t, f.Fetch(t.Context(), Request{URL: origin + "/map", Accept: []string{"*/*"}, Stream: func(r io.Reader) { io.Copy(io.Discard, r) }}), StateOK)
		}
		for range 2 {
			checkState(t, f.Fetch(t.Context(), Request{URL: "https://refused.example/"}), StateConnectError)
		}
		connects := 0
		for seen, n := range agents {
			switch seen {
			case `proxy CONNECT ["fossick-test/1.0"]`:
				connects += n
			case `proxy GET ["fossick-test/1.0"]`, `server GET ["fossick-test/1.0"]`:
				if n != 4 {
					t.Errorf("https proxy %v: %s: %d requests, want 4", secure, seen, n)
				}
			default:
				t.Errorf("https proxy %v: %d requests went out as %s", secure, n, seen)
			}
		}
		if connects < 3 {
			t.Errorf("https proxy %v: %d CONNECTs by our user agent, want 3 at least; seen %v", secure, connects, agents)
		}
	}
}
