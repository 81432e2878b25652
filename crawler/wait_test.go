package crawler

import (
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
)

// TestLongRestEndsTheCrawl: a host that asks for a year is not waited for. Its
// URL stays queued, no session asks before the year is over, and one that comes
// later goes on.
func TestLongRestEndsTheCrawl(t *testing.T) {
	const year = 365 * 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{
			pages: map[string]string{
				"http://a.test/": html("gold", "http://b.test/"), "http://b.test/": html("gold b", "http://c.test/"),
				"http://c.test/": html("gold c"),
			},
			took: time.Second,
			fail: map[string][]fetch.Response{"http://b.test/": {{State: fetch.StateCode, Code: 503, RetryAfter: year}}},
		}
		opt := newOptions(t, w, "http://a.test/")
		opt.Workers = 4
		passed := time.Duration(0) // not slept: the store's clocks tick twice a second
		opt.Now = func() time.Time { return time.Now().Add(passed) }
		r := crawl(t, opt)
		asked := w.log[len(w.log)-1]
		if r.Stopped != StopEmpty || r.Counts.Pages != 1 || !r.WaitUntil.Equal(asked.end.Add(year)) {
			t.Errorf("stopped by %s with %d pages, waits until %v; want frontier_empty, 1, a year after %v",
				r.Stopped, r.Counts.Pages, r.WaitUntil, asked.end)
		}
		if took := time.Since(w.log[0].start); took > time.Minute {
			t.Errorf("the crawl took %v, want no wait", took)
		}
		if r = crawl(t, opt); len(w.log) != 4 || r.WaitUntil.IsZero() {
			t.Errorf("%d exchanges after a session in between, want 4", len(w.log))
		}
		passed = year
		if r = crawl(t, opt); r.Counts.Pages != 3 || !r.WaitUntil.IsZero() {
			t.Errorf("%d pages a year later, want 3; waits until %v", r.Counts.Pages, r.WaitUntil)
		}
	})
}

// TestMaxWait: shorter rests are waited for, and exactly the longest.
func TestMaxWait(t *testing.T) {
	for _, tc := range []struct {
		rest, most time.Duration
		pages      uint64
	}{
		{2 * time.Minute, 0, 2}, {16 * time.Minute, 0, 1}, {17 * time.Minute, 17 * time.Minute, 2}, {time.Second, -1, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &fakeWeb{
				pages: map[string]string{"http://a.test/": html("gold"), "http://b.test/": html("gold b")},
				fail:  map[string][]fetch.Response{"http://b.test/": {{State: fetch.StateCode, Code: 429, RetryAfter: tc.rest}}},
			}
			opt := newOptions(t, w, "http://a.test/", "http://b.test/")
			opt.MaxWait = tc.most
			if r := crawl(t, opt); r.Counts.Pages != tc.pages {
				t.Errorf("rest %v, most %v: %d pages, want %d", tc.rest, tc.most, r.Counts.Pages, tc.pages)
			}
		})
	}
}
