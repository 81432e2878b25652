package crawler

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/testkit"
	"fossick/store"
)

// during reports whether now is in an outage of this length, which begins some time after start.
func during(start time.Time, after, long time.Duration) bool {
	passed := time.Since(start)
	return passed >= after && passed < after+long
}

func checkAllStored(t *testing.T, s *store.Store, pages map[string]string) {
	t.Helper()
	missing := 0
	for u := range pages {
		if strings.HasSuffix(u, ".txt") {
			continue
		}
		if l, err := s.URLs().Life(u); err != nil || l.Page == nil {
			if missing++; missing <= 3 {
				t.Errorf("%s is not stored: %+v, %v", u, l, err)
			}
		}
	}
	if missing > 0 {
		t.Errorf("%d pages are not stored", missing)
	}
}

// TestOutage: the network fails for an hour during a crawl of 50 hosts. In the end everything is
// stored, nothing counts as a failure, and there were hardly any requests meanwhile.
func TestOutage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		state fetch.State
		wait  time.Duration
	}{
		{fetch.StateConnectTimeout, 15 * time.Second}, {fetch.StateConnectError, time.Millisecond},
		{fetch.StateNoIP, 5 * time.Second}, {fetch.StateHeaderTimeout, 20 * time.Second},
	} {
		t.Run(string(tc.state), func(t *testing.T) {
			if tc.state != fetch.StateNoIP {
				testkit.Only(t, "waits for an hour, if not a real one")
			}
			synctest.Test(t, func(t *testing.T) { checkOutage(t, tc.state, tc.wait) })
		})
	}
}

func checkOutage(t *testing.T, state fetch.State, wait time.Duration) {
	start := time.Now()
	failed := noIP(t, &net.DNSError{Err: "server misbehaving", IsTemporary: true})
	const after, long = 20 * time.Second, time.Hour
	w := &illWeb{fakeWeb: &fakeWeb{pages: manyPages(50, 8), took: 300 * time.Millisecond}, wait: wait, err: failed}
	w.down = func(string, string) fetch.State {
		if during(start, after, long) {
			return state
		}
		return ""
	}
	opt := newOptions(t, w.fakeWeb, "http://h0.test/0", "http://h9.test/1", "http://h17.test/2", "http://h31.test/4", "http://h42.test/6")
	opt.Fetcher, opt.Workers, opt.Delay = w, 16, Delay{}
	seen := false
	opt.Progress = func(p Progress) { seen = seen || !p.DownSince.IsZero() }
	r := crawl(t, opt)
	checkAllStored(t, opt.Store, w.pages)
	checkSound(t, opt.Store)
	if r.Counts.States[string(state)] != 0 || !seen || r.Outages != 1 {
		t.Errorf("states %v, %d outages, seen by progress: %v; want none of %s, 1, true", r.Counts.States, r.Outages, seen, state)
	}
	if r.OutageTime < long-time.Minute || r.OutageTime > long+5*time.Minute {
		t.Errorf("outage of %v, want about %v", r.OutageTime, long)
	}
	requests := 0
	for _, s := range w.log {
		if s.start.After(start.Add(after)) && s.start.Before(start.Add(after+long)) {
			requests++
		}
	}
	if requests > 150 {
		t.Errorf("%d requests while the network was down, want a probe every two minutes and what built up", requests)
	}
	for h := range 50 {
		record, err := opt.Store.Host(fmt.Sprintf("h%d.test:80", h))
		if err != nil || record.Silent != 0 || record.Failures != 0 {
			t.Errorf("host %d: %+v, %v; want no failures", h, record, err)
		}
	}
}

// TestOutageOverASession: interrupted or started during an outage, a crawl still succeeds.
func TestOutageOverASession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := &illWeb{fakeWeb: &fakeWeb{pages: manyPages(30, 5), took: 300 * time.Millisecond}, wait: 5 * time.Second}
		w.err = noIP(t, &net.DNSError{Err: "i/o timeout", IsTimeout: true})
		w.down = func(string, string) fetch.State {
			if during(start, 15*time.Second, 25*time.Minute) {
				return fetch.StateNoIP
			}
			return ""
		}
		opt := newOptions(t, w.fakeWeb, "http://h0.test/0", "http://h9.test/1", "http://h17.test/2")
		opt.Fetcher, opt.Workers, opt.Delay, opt.MaxTime = w, 16, Delay{}, 10*time.Minute
		for session := 1; ; session++ {
			began := time.Since(start)
			r := crawl(t, opt)
			if r.Stopped == StopEmpty {
				break
			}
			took, want := time.Since(start), StopMaxTime
			if outage := 15 * time.Second; began > outage && took < outage+time.Hour {
				want = StopNothing
			}
			if r.Stopped != want || took > time.Duration(session)*(opt.MaxTime+time.Minute) {
				t.Fatalf("session %d stopped by %s after %v, want %s in time", session, r.Stopped, took, want)
			}
			if session > 10 {
				t.Fatal("the crawl does not end")
			}
		}
		checkAllStored(t, opt.Store, w.pages)
		checkSound(t, opt.Store)
	})
}

// TestDeadHost: a host that dies for good ends with its state and a reason after few requests,
// without delaying others.
func TestDeadHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := &illWeb{fakeWeb: &fakeWeb{pages: manyPages(20, 200), took: 100 * time.Millisecond}, wait: 15 * time.Second}
		w.down = func(host, _ string) fetch.State {
			if host == "h7.test:80" && time.Since(start) > 20*time.Second {
				return fetch.StateConnectTimeout
			}
			return ""
		}
		opt := newOptions(t, w.fakeWeb, "http://h0.test/0", "http://h7.test/0", "http://h13.test/9")
		opt.Fetcher, opt.Workers, opt.Delay = w, 8, Delay{Fixed: true, Rest: 15 * time.Second}
		r := crawl(t, opt)
		if n := w.asked("h7.test:80", start.Add(20*time.Second)); n != closeAfter+maxProbes {
			t.Errorf("%d requests to the dead host, want %d", n, closeAfter+maxProbes)
		}
		ended := r.Counts.States["connect_timeout"]
		forbidden := r.Counts.States["robots_denied"] - 19 // of the dead host, if any were fetched
		if lived := r.Counts.Pages - 19*200; ended < 190 || ended+lived+forbidden != 201 {
			t.Errorf("states %v: %d pages of the dead host, %d of its URLs given up; want 201 in all", r.Counts.States, lived, ended)
		}
		l := life(t, opt.Store, "http://h7.test/150")
		if l.Outcome == nil || !strings.Contains(l.Outcome.Reason, "no answer to 9 requests in a row since") {
			t.Errorf("outcome %+v, want the silence of the host as the reason", l.Outcome)
		}
		checkSound(t, opt.Store)
		record, err := opt.Store.Host("h7.test:80")
		if err != nil || record.Closed != "connect_timeout" {
			t.Errorf("record %+v, %v; want a closed host", record, err)
		}
	})
}

// TestHostThatComesBack: a host that is away for a while loses no URL.
func TestHostThatComesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := &illWeb{fakeWeb: &fakeWeb{pages: manyPages(4, 100), took: 100 * time.Millisecond}, wait: time.Second}
		w.down = func(host, _ string) fetch.State {
			if host == "h2.test:80" && during(start, 30*time.Second, 14*time.Minute) {
				return fetch.StateConnectError
			}
			return ""
		}
		opt := newOptions(t, w.fakeWeb, "http://h0.test/0", "http://h2.test/0")
		opt.Fetcher, opt.Workers, opt.Delay = w, 4, Delay{Fixed: true, Rest: 10 * time.Second}
		r := crawl(t, opt)
		checkAllStored(t, opt.Store, w.pages)
		checkSound(t, opt.Store)
		if n := w.asked("h2.test:80", start); n > 100+1+closeAfter+maxProbes+2 {
			t.Errorf("%d requests to the host, want its pages and a few probes", n)
		}
		if r.Counts.States["connect_error"] != 0 {
			t.Errorf("states %v", r.Counts.States)
		}
	})
}

// TestFlappingHost: a host that is away every other minute loses nothing.
func TestFlappingHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := &illWeb{fakeWeb: &fakeWeb{pages: manyPages(3, 60), took: 100 * time.Millisecond}, wait: time.Second}
		w.down = func(host, _ string) fetch.State {
			if host == "h1.test:80" && int(time.Since(start).Minutes())%2 == 1 {
				return fetch.StateHeaderError
			}
			return ""
		}
		opt := newOptions(t, w.fakeWeb, "http://h0.test/0")
		opt.Fetcher, opt.Workers, opt.Delay = w, 4, Delay{Fixed: true, Rest: 5 * time.Second}
		crawl(t, opt)
		checkAllStored(t, opt.Store, w.pages)
		checkSound(t, opt.Store)
	})
}

// TestIllURLs: URLs that break the connection end, and their host does not count as dead.
func TestIllURLs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages := map[string]string{"http://a.test/": html("gold", "/ill1", "/ill2", "/ill3", "/ill4", "/good")}
		for i := range 4 {
			pages[fmt.Sprintf("http://a.test/ill%d", i+1)] = ""
		}
		pages["http://a.test/good"] = html("gold too")
		w := &illWeb{fakeWeb: &fakeWeb{pages: pages}, wait: time.Second, err: errors.New("connection reset")}
		w.down = func(_, url string) fetch.State {
			if strings.Contains(url, "ill") {
				return fetch.StateHeaderError
			}
			return ""
		}
		opt := newOptions(t, w.fakeWeb, "http://a.test/")
		opt.Fetcher = w
		start := time.Now()
		r := crawl(t, opt)
		if r.Counts.Pages != 2 || r.Counts.States["header_error"] != 4 {
			t.Errorf("%d pages, states %v; want 2 and 4 of header_error", r.Counts.Pages, r.Counts.States)
		}
		after := 0 // tries after an answered probe
		for i := range 4 {
			l := life(t, opt.Store, fmt.Sprintf("http://a.test/ill%d", i+1))
			t.Log(len(l.Visits))
			if len(l.Visits) < 3 || len(l.Visits) > 4 || l.Outcome.Reason != "connection reset" {
				t.Errorf("%d visits, outcome %+v; want 3, or 4, and the error", len(l.Visits), l.Outcome)
			}
			after += len(l.Visits) - 3
		}
		if after == 0 {
			t.Error("no URL has a try after a probe that was answered")
		}
		if took := time.Since(start); took > 2*time.Minute {
			t.Errorf("it took %v, want the back-offs alone", took)
		}
	})
}

// TestOneHost: a crawl of one host cannot tell its death from a network failure. It ends soon
// with its queue intact, and a later session continues.
func TestOneHost(t *testing.T) {
	testkit.Only(t, "waits for hours, if not real ones")
	synctest.Test(t, func(t *testing.T) {
		start, dead := time.Now(), true
		w := &illWeb{fakeWeb: &fakeWeb{pages: manyPages(1, 50), took: 100 * time.Millisecond}, wait: 15 * time.Second}
		w.down = func(string, string) fetch.State {
			if dead && time.Since(start) > 20*time.Second {
				return fetch.StateConnectTimeout
			}
			return ""
		}
		opt := newOptions(t, w.fakeWeb, "http://h0.test/0")
		opt.Fetcher, opt.Delay = w, Delay{}
		r := crawl(t, opt)
		if took := time.Since(start); r.Stopped != StopEmpty || r.WaitUntil.IsZero() || took > time.Hour {
			t.Errorf("stopped by %s after %v, waits until %v; want frontier_empty within the hour", r.Stopped, took, r.WaitUntil)
		}
		if n := w.asked("h0.test:80", start.Add(20*time.Second)); n > closeAfter+maxProbes {
			t.Errorf("%d requests to a dead host", n)
		}
		if r = crawl(t, opt); w.asked("h0.test:80", start.Add(20*time.Second)) > closeAfter+maxProbes+1 {
			t.Errorf("a later session makes more than one request to a host that is still dead")
		}
		dead = false
		crawl(t, opt)
		checkAllStored(t, opt.Store, w.pages)
		checkSound(t, opt.Store)
	})
}

// TestNoSuchHost: a missing name is looked up once for all its URLs.
func TestNoSuchHost(t *testing.T) {
	w := &illWeb{fakeWeb: &fakeWeb{pages: map[string]string{"http://a.test/": html("gold", "http://no.test/1", "http://no.test/2")}}}
	w.err = noIP(t, &net.DNSError{Err: "no such host", IsNotFound: true})
	asked := 0
	w.down = func(host, _ string) fetch.State {
		if host == "no.test:80" {
			asked++
			return fetch.StateNoIP
		}
		return ""
	}
	opt := newOptions(t, w.fakeWeb, "http://a.test/")
	opt.Fetcher = w
	if r := crawl(t, opt); r.Counts.States["no_ip"] != 2 || asked != 1 {
		t.Errorf("states %v after %d look-ups, want 2 of no_ip after one", r.Counts.States, asked)
	}
}
