package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fossick/crawler"
	"fossick/eval/monitor"
)

// TestMaxWait: a server that asks for a year of rest does not keep a crawl from
// ending; what it has waits, and the result says until when.
func TestMaxWait(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case r.URL.Host == "busy.test":
			w.Header().Set("Retry-After", "31536000")
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<p>A bank lends money. <a href="http://busy.test/1">one</a> <a href="http://busy.test/2">two</a>`))
		}
	}))
	defer proxy.Close()
	args := []string{"--threshold", "0", "--proxy", proxy.URL, "--delay", "0", "--store", t.TempDir() + "/crawl"}
	crawl := func(more ...string) (monitor.Result, string, int) {
		var out, errOut bytes.Buffer
		code := run(t.Context(), append(append([]string{"focus"}, args...), more...), &out, &errOut)
		var r monitor.Result
		if strings.Contains(strings.Join(more, " "), "--json") {
			if err := json.Unmarshal(out.Bytes(), &r); err != nil {
				t.Fatalf("%v in %s, %s", err, &out, &errOut)
			}
		}
		return r, out.String() + errOut.String(), code
	}
	r, _, code := crawl("--topic", "money", "--keywords", "bank", "--seed", "http://a.test/", "--json")
	if code != exitDone || r.Stopped != crawler.StopEmpty || r.Fetched != 1 || r.Waiting != 2 || r.WaitingUntil == nil {
		t.Fatalf("exit %d, %+v; want frontier_empty with one page, and two URLs that wait", code, r)
	}
	if in := time.Until(*r.WaitingUntil); in < 364*24*time.Hour || in > 366*24*time.Hour {
		t.Errorf("waits until %v, want a year from now", r.WaitingUntil)
	}
	if _, text, _ := crawl("--resume", "--max-wait", "1h"); !strings.Contains(text, "all waiting URLs are on hosts that rest, the first until 2") {
		t.Errorf("a later session says\n%s", text)
	}
	if _, text, code := crawl("--resume", "--max-wait=-5s"); code != exitUsage || !strings.Contains(text, "want a time, such as 90s, 15m") {
		t.Errorf("exit %d of a negative --max-wait: %s", code, text)
	}
}
