package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/crawler"
	"fossick/store"
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
	crawl := func(more ...string) (crawlResult, string, int) {
		var out, errOut bytes.Buffer
		code := run(t.Context(), append(append([]string{"focus"}, args...), more...), &out, &errOut)
		var r crawlResult
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
	if _, text, _ := crawl("--resume", "--max-wait", "1h"); !strings.Contains(text, "all that waits rests, the first host until 2") {
		t.Errorf("a later session says\n%s", text)
	}
	if _, text, code := crawl("--resume", "--max-wait=-5s"); code != exitUsage || !strings.Contains(text, "want a time, such as 90s, 15m") {
		t.Errorf("exit %d of a negative --max-wait: %s", code, text)
	}
}

// TestWhyNext: why tells when a URL may be visited next, and what its host does.
func TestWhyNext(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ended := &store.Life{Fate: &store.Fate{State: "code", Next: now.Add(30 * 24 * time.Hour).UnixMilli()}}
	waits := &store.Life{Queued: &store.Queued{Visits: 2, Excused: 1}}
	busy := &store.Host{Silent: 4, SilentSince: now.Add(-time.Hour).UnixMilli(), Next: now.Add(time.Minute).UnixMilli()}
	for _, tc := range []struct {
		l       *store.Life
		h       *store.Host
		next    time.Time
		reasons []string
	}{
		{ended, busy, now.Add(30 * 24 * time.Hour), nil},
		{&store.Life{Fate: &store.Fate{State: "trap"}}, busy, time.Time{}, nil},
		{waits, &store.Host{Next: now.Add(-time.Minute).UnixMilli()}, time.Time{}, []string{
			"1 of its visits do not count: the host, or our network, gave no answer to anybody then"}},
		{&store.Life{Queued: &store.Queued{Visits: 1, Excused: 1}, Visits: []store.Visit{{State: "ok"}}}, &store.Host{}, time.Time{}, []string{
			"its page was lost and taken out by fossick repair; it is fetched anew, and its visits so far do not count"}},
		{&store.Life{Queued: &store.Queued{}}, busy, now.Add(time.Minute), []string{
			"its host gave no answer to the last 4 requests, since 2026-11-21 11:00:00", "its host rests until 2026-11-21 12:01:00"}},
		{&store.Life{Queued: &store.Queued{}}, &store.Host{Name: "a.test:80", Next: now.Add(time.Hour).UnixMilli(), RestFor: store.RestForRetryAfter, RestMillis: 365 * 24 * 3_600_000},
			now.Add(time.Hour), []string{"its host rests until 2026-11-21 13:00:00: a.test:80 asked for 365 days in an answer (Retry-After)"}},
		{&store.Life{Queued: &store.Queued{}}, &store.Host{Name: "a.test:80", Next: now.Add(time.Hour).UnixMilli(), RestFor: store.RestForCrawlDelay, RestMillis: 3_600_000},
			now.Add(time.Hour), []string{"its host rests until 2026-11-21 13:00:00: a.test:80 asks for 1h after each request in its robots.txt (Crawl-delay)"}},
		{&store.Life{Queued: &store.Queued{}}, &store.Host{Name: "a.test:80", Failures: 4, Next: now.Add(time.Second).UnixMilli(), RestFor: store.RestForFailures, RestMillis: 8000},
			now.Add(time.Second), []string{"its host rests until 2026-11-21 12:00:01: the last requests to a.test:80 failed, 4 in a row (back-off of 8s)"}},
	} {
		r := &whyResult{}
		r.tellNext(tc.l, tc.h, now)
		if got := r.Times.Next; got == nil != tc.next.IsZero() || got != nil && !got.Equal(tc.next) || !slices.Equal(r.Reasons, tc.reasons) {
			t.Errorf("%+v: next %v, %q; want %v, %q", tc.l, got, r.Reasons, tc.next, tc.reasons)
		}
		if rest := r.Rest; (rest != nil) != (tc.h.RestFor != "") || rest != nil && (rest.Host != tc.h.Name || rest.Seconds*1000 != float64(tc.h.RestMillis) || !rest.Until.Equal(tc.next)) {
			t.Errorf("%+v: rest %+v", tc.h, rest)
		}
	}
}
