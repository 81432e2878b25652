package crawler

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/testkit"
	"fossick/store"
)

// Limits of package hosts.
const (
	closeAfter    = 3 // exchanges without an answer before a host is only probed
	maxProbes     = 6
	newcomerShare = 4 // one in so many workers is for hosts that have answered
)

// TestDeadHostsAreNoOutage: many dead hosts in a row raise a suspicion, which an answer refutes.
func TestDeadHostsAreNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pages := manyPages(3, 3)
		var links []string
		for i := range 40 {
			links = append(links, fmt.Sprintf("http://dead%d.test/", i))
		}
		pages["http://h0.test/0"] = html("gold", append(links, "/1", "http://h1.test/1", "http://h2.test/2")...)
		w := &illWeb{fakeWeb: &fakeWeb{pages: pages, took: 100 * time.Millisecond}, wait: 15 * time.Second}
		w.down = func(host, _ string) fetch.State {
			if strings.HasPrefix(host, "dead") {
				return fetch.StateConnectTimeout
			}
			return ""
		}
		opt := newOptions(t, w.fakeWeb, "http://h0.test/0", "http://h1.test/0")
		opt.Fetcher, opt.Workers = w, 8
		r := crawl(t, opt)
		if r.Outages != 0 || r.Counts.States["connect_timeout"] != 40 {
			t.Errorf("%d outages, states %v; want none and 40 dead hosts", r.Outages, r.Counts.States)
		}
		probes := 0
		for _, s := range w.log {
			if strings.HasPrefix(s.host, "h") && strings.HasSuffix(s.url, "/robots.txt") {
				probes++
			}
		}
		if probes -= 3; probes < 1 || probes > 40 {
			t.Errorf("%d probes, want some", probes)
		}
		checkSound(t, opt.Store)
	})
}

// TestTakeBack: URLs and hosts that failed for good in an outage wait again.
func TestTakeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var down atomic.Bool          // workers read it, one sets it
		const busy = 10 * time.Second // meanwhile the other hosts are met
		pages := manyPages(12, 20)
		w := &illWeb{fakeWeb: &fakeWeb{pages: pages, took: 100 * time.Millisecond, fail: map[string][]fetch.Response{
			"http://h3.test/1": {{State: fetch.StateCode, Code: 503}, {State: fetch.StateCode, Code: 503, RetryAfter: busy}},
		}}, wait: time.Second}
		w.down = func(_, url string) fetch.State {
			if url == "http://h3.test/1" && time.Since(start) > busy {
				down.Store(true)
			}
			if down.Load() && time.Since(start) < 20*time.Minute {
				return fetch.StateConnectError
			}
			return ""
		}
		seeds := []string{"http://h3.test/1"}
		for h := range 12 {
			seeds = append(seeds, fmt.Sprintf("http://h%d.test/0", h))
		}
		opt := newOptions(t, w.fakeWeb, seeds...)
		opt.Fetcher, opt.Workers, opt.Delay = w, 3, Delay{Fixed: true, Rest: time.Second}
		opt.Scope.Exclude = regexp.MustCompile(`h3\.test/(\d\d|[2-9])`) // which would come before a failed URL
		maps.DeleteFunc(pages, func(url, _ string) bool { return opt.Scope.Exclude.MatchString(url) })
		var buried uint64
		opt.Progress = func(p Progress) { buried = max(buried, p.Counts.States["connect_error"]) }
		r := crawl(t, opt)
		checkAllStored(t, opt.Store, pages)
		checkSound(t, opt.Store)
		if buried == 0 {
			t.Error("no URL was given up before the outage was noticed: the test tests nothing")
		}
		if r.Counts.States["connect_error"] != 0 || r.Outages != 1 {
			t.Errorf("states %v, %d outages", r.Counts.States, r.Outages)
		}
		if l := life(t, opt.Store, "http://h3.test/1"); len(l.Visits) < 4 || l.Visits[2].State != "connect_error" {
			t.Errorf("visits %+v; want two of 503, connect_error, and the page", l.Visits)
		}
	})
}

// TestStopped: failures while the process was stopped count for nobody; rests use the wall clock.
func TestStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var passed atomic.Int64 // nanoseconds while stopped
		w := &illWeb{fakeWeb: &fakeWeb{pages: manyPages(9, 6), took: 300 * time.Millisecond}, wait: time.Second}
		stops := 0
		w.down = func(_, url string) fetch.State {
			if stops < 30 && strings.HasSuffix(url, "/3") && passed.Load() < int64(30*time.Hour) { // a stop during each of the first exchanges for 3
				stops++
				passed.Add(int64(time.Hour))
				return fetch.StateHeaderTimeout
			}
			return ""
		}
		opt := newOptions(t, w.fakeWeb, "http://h0.test/0", "http://h5.test/2")
		opt.Fetcher, opt.Workers, opt.Delay = w, 1, Delay{Fixed: true, Rest: 20 * time.Second}
		opt.Now = func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
		start := time.Now()
		r := crawl(t, opt)
		checkAllStored(t, opt.Store, w.pages)
		if r.Outages != 0 || r.Counts.States["header_timeout"] != 0 || stops != 30 {
			t.Errorf("%d outages, states %v, %d stops", r.Outages, r.Counts.States, stops)
		}
		if took := time.Since(start); took > 10*time.Minute {
			t.Errorf("it took %v that the process ran: rests must go on while it is stopped", took)
		}
		for h := range 9 {
			record, err := opt.Store.Host(fmt.Sprintf("h%d.test:80", h))
			if err != nil || record.Failures != 0 || record.Silent != 0 {
				t.Errorf("host %d: %+v, %v; want no failures", h, record, err)
			}
		}
	})
}

// TestRetryBudget: a host that always answers 500 is not requested three times for each URL.
func TestRetryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := map[string][]fetch.Response{}
		for _, u := range []string{"http://a.test/1", "http://a.test/2", "http://a.test/3"} {
			fail[u] = slices.Repeat([]fetch.Response{{State: fetch.StateCode, Code: 500}}, 9)
		}
		w := &fakeWeb{pages: map[string]string{}, fail: fail}
		opt := newOptions(t, w, "http://a.test/1", "http://a.test/2", "http://a.test/3")
		b := opt.Store.Batch()
		// Now one retry is left, and each further page adds half of one.
		testkit.Must(t, b.PutHost(&store.Host{Name: "a.test:80", Requests: 98, Retries: 10 + 100/2 - 1}))
		testkit.Must(t, b.Commit())
		r := crawl(t, opt)
		if len(w.urls()) != 6 || r.Counts.States["code"] != 3 {
			t.Errorf("asked for %v, states %v; want three pages, and three retries", w.urls(), r.Counts.States)
		}
		record, err := opt.Store.Host("a.test:80")
		if err != nil || record.Requests != 105 || record.Retries != 62 {
			t.Errorf("%d of %d requests were retries, %v; want 62 of 105", record.Retries, record.Requests, err)
		}
		if l := life(t, opt.Store, "http://a.test/2"); !strings.Contains(l.Outcome.Reason, "not retried: 59 of the 101 requests to the host were retries, and 1 more are to come") {
			t.Errorf("reason %q, want the spent budget", l.Outcome.Reason)
		}
	})
}

// TestDeadAddress: once one host of an address was given up, the others get one probe each.
func TestDeadAddress(t *testing.T) {
	testkit.Only(t, "waits for hours, if not real ones")
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := &illWeb{fakeWeb: &fakeWeb{pages: manyPages(8, 400), took: 100 * time.Millisecond, addrs: map[string]string{}}, wait: 15 * time.Second}
		for h := range 4 {
			w.addrs[fmt.Sprintf("h%d.test:80", h)] = "203.0.113.7"
		}
		const ill = 10 * time.Minute
		w.down = func(host, _ string) fetch.State {
			if w.addrs[host] != "" && time.Since(start) > ill {
				return fetch.StateConnectTimeout
			}
			return ""
		}
		for h := 1; h < 4; h++ { // so seldom that the first has been given up before they are probed
			w.pages[fmt.Sprintf("http://h%d.test/robots.txt", h)] = "User-agent: *\nCrawl-delay: 900\n"
		}
		opt := newOptions(t, w.fakeWeb, "http://h0.test/0", "http://h1.test/0", "http://h2.test/0", "http://h3.test/0", "http://h5.test/0")
		opt.Fetcher, opt.Workers, opt.Delay = w, 8, Delay{Fixed: true, Rest: 10 * time.Second}
		if r := crawl(t, opt); !r.WaitUntil.IsZero() {
			t.Errorf("URLs wait until %v, want all four hosts given up", r.WaitUntil)
		}
		requests := 0
		for h := range 4 {
			host := fmt.Sprintf("h%d.test:80", h)
			asked := w.asked(host, start.Add(ill))
			if asked < closeAfter {
				t.Errorf("%d requests to %s: this test means little", asked, host)
			}
			requests += asked
		}
		if want := closeAfter + maxProbes + 3*(closeAfter+1); requests > want+3 {
			t.Errorf("%d requests to four hosts at a dead address, want about %d", requests, want)
		}
		checkSound(t, opt.Store)
	})
}
