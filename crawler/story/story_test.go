package story

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/store"
	"fossick/store/change"
)

// TestNext: the story tells when a URL may be visited next, and what its host does.
func TestNext(t *testing.T) {
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
			"1 of its visits do not count, because the host or this machine's network was down then"}},
		{&store.Life{Queued: &store.Queued{Visits: 1, Excused: 1}, Visits: []store.Visit{{State: "ok"}}}, &store.Host{}, time.Time{}, []string{
			"fossick repair removed its lost page; it will be fetched again, and its earlier visits do not count"}},
		{&store.Life{Queued: &store.Queued{}}, busy, now.Add(time.Minute), []string{
			"its host gave no answer to the last 4 requests, since 2026-11-21 11:00:00", "its host rests until 2026-11-21 12:01:00"}},
		{&store.Life{Queued: &store.Queued{}}, &store.Host{Name: "a.test:80", Next: now.Add(time.Hour).UnixMilli(), RestFor: store.RestForRetryAfter, RestMillis: 365 * 24 * 3_600_000},
			now.Add(time.Hour), []string{"its host rests until 2026-11-21 13:00:00: a.test:80 asked for 365 days in an answer (Retry-After)"}},
		{&store.Life{Queued: &store.Queued{}}, &store.Host{Name: "a.test:80", Next: now.Add(time.Hour).UnixMilli(), RestFor: store.RestForCrawlDelay, RestMillis: 3_600_000},
			now.Add(time.Hour), []string{"its host rests until 2026-11-21 13:00:00: a.test:80 asks for 1h after each request in its robots.txt (Crawl-delay)"}},
		{&store.Life{Queued: &store.Queued{}}, &store.Host{Name: "a.test:80", Failures: 4, Next: now.Add(time.Second).UnixMilli(), RestFor: store.RestForFailures, RestMillis: 8000},
			now.Add(time.Second), []string{"its host rests until 2026-11-21 12:00:01: the last requests to a.test:80 failed, 4 in a row (back-off of 8s)"}},
	} {
		r := &Story{}
		r.tellNext(tc.l, tc.h, now)
		if got := r.Times.Next; got == nil != tc.next.IsZero() || got != nil && !got.Equal(tc.next) || !slices.Equal(r.Reasons, tc.reasons) {
			t.Errorf("%+v: next %v, %q; want %v, %q", tc.l, got, r.Reasons, tc.next, tc.reasons)
		}
		if rest := r.Rest; (rest != nil) != (tc.h.RestFor != "") || rest != nil && (rest.Host != tc.h.Name || rest.Seconds*1000 != float64(tc.h.RestMillis) || !rest.Until.Equal(tc.next)) {
			t.Errorf("%+v: rest %+v", tc.h, rest)
		}
	}
}

// TestRefreshed: the story tells what later visits have brought.
func TestRefreshed(t *testing.T) {
	l := &store.Life{
		Visits: []store.Visit{{Start: 1e12}, {Start: 2e12, Was: []byte{0xab, 0xcd}}, {Start: 2e12 + 1000, Change: change.Text}, {Start: 3e12, State: "code", Code: 404}},
		Fate:   &store.Fate{State: "code", Page: 7, Stored: true}, Page: &store.Page{Number: 7, At: 2e12},
	}
	r := tell(l, "")
	for _, want := range []string{
		"its content had changed by 2033-05-18 03:33:20: the checksum was abcd before",
		"its content had changed by 2033-05-18 03:33:21, the main text too",
		"page 7 is stored in its version of 2033-05-18 03:33:20",
	} {
		found := false
		for _, reason := range r.Reasons {
			found = found || reason == want
		}
		if !found {
			t.Errorf("%q\nis not among %q", want, r.Reasons)
		}
	}
}

// TestPrintVisits: what is odd about an answer is told, also of one that was taken.
func TestPrintVisits(t *testing.T) {
	r := tell(&store.Life{Visits: []store.Visit{
		{State: "connect_error", Error: "refused"}, {State: "ok", Code: 200, Error: "gzip without its trailer"}, {State: "ok", Code: 200}}}, "")
	var b strings.Builder
	r.Print(&b, false)
	for _, want := range []string{", connect_error: refused\n", ", ok (200): gzip without its trailer\n", ", ok (200)\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
}
