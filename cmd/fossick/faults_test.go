package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fossick/crawler/fetch"
	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/eval/monitor"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestFaultStates checks that a page with each fault ends in a state that the fault names.
func TestFaultStates(t *testing.T) {
	all := web.Faults()
	if len(all) < 30 {
		t.Fatalf("%d faults; want 30 at least", len(all))
	}
	faults := testkit.Tries(t, "faulty servers")
	for _, f := range all {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			state := faultState(t, &f)
			faults.Try(slices.Contains(f.States, string(state)), "%s: %s: state %s, want %v", f.Name, f.About, state, f.States)
		})
	}
}

// faultState fetches a page from a web in which every page has the fault.
func faultState(t *testing.T, f *web.Fault) fetch.State {
	set := datasets.FromSeq("pages", func(yield func(*datasets.Example, error) bool) {
		for _, u := range []string{"http://first.test/", "https://a.test/page"} {
			if !yield(&datasets.Example{URL: u, HTML: "<title>Page</title><p>An honest page, long enough to be cut in two."}, nil) {
				return
			}
		}
	}, datasets.Options{})
	addr, ca := served(t, set, web.Options{Faults: web.FaultPlan{Share: 1, Names: []string{f.Name}}})
	fetcher := proxyFetcher(t, addr, ca, f.States)
	target := "http://a.test/page"
	if f.Host() {
		target = "https://a.test/page"
		r := fetcher.Fetch(t.Context(), fetch.RobotsRequest("https://a.test/robots.txt"))
		for hops := 0; r.State == fetch.StateRedirect && hops < fetch.MaxRobotsRedirects; hops++ {
			r = fetcher.Fetch(t.Context(), fetch.RobotsRequest(r.Location))
		}
		if rules, final := fetch.RobotsFrom(r); final && !rules.Allowed("fossick", "/page") {
			if r.State == fetch.StateTLSError || r.State == fetch.StateConnectTimeout {
				return r.State
			}
			return fetch.StateRobotsDenied
		}
	}
	r := fetcher.Fetch(t.Context(), fetch.Request{URL: target})
	if r.Code == 429 || r.Code == 503 {
		r = fetcher.Fetch(t.Context(), fetch.Request{URL: target})
	}
	if len(r.Body) > 4<<20 {
		t.Errorf("body of %d bytes", len(r.Body))
	}
	return r.State
}

// proxyFetcher returns a fetcher with short time limits only if a wanted state is a timeout: a busy
// machine may be slow.
func proxyFetcher(t *testing.T, addr, ca string, states []string) *fetch.Fetcher {
	t.Helper()
	f := testkit.Call(os.Open(ca)).Must(t)
	defer f.Close()
	roots := testkit.Call(fetch.ReadCAs(f, ca)).Must(t)
	opt := fetch.Options{Proxy: &url.URL{Scheme: "http", Host: addr}, RootCAs: roots}
	if endsByTime(states) {
		opt.Timeout, opt.ConnectTimeout, opt.HeaderTimeout, opt.RateGrace = 20*time.Second, 5*time.Second, time.Second, time.Second
	}
	fetcher := testkit.Call(fetch.New(opt)).Must(t)
	t.Cleanup(fetcher.Close)
	return fetcher
}

// faultyWeb is a home page that links to many hosts of one page each, half of them https.
func faultyWeb(hosts int) *datasets.Set {
	return datasets.FromSeq("pages", func(yield func(*datasets.Example, error) bool) {
		var home strings.Builder
		home.WriteString("<title>Home</title>")
		var pages []*datasets.Example
		for i := range hosts {
			scheme := "http"
			if i%2 == 1 {
				scheme = "https"
			}
			u := fmt.Sprintf("%s://h%d.test/page", scheme, i)
			fmt.Fprintf(&home, "<a href=%q>host %d</a>\n", u, i)
			pages = append(pages, &datasets.Example{URL: u, HTML: fmt.Sprintf("<title>Page %d</title><p>An honest page of host %d, word%d.", i, i, i)})
		}
		for _, e := range append([]*datasets.Example{{URL: "http://home.test/", HTML: home.String()}}, pages...) {
			if !yield(e, nil) {
				return
			}
		}
	}, datasets.Options{})
}

// TestFaultyCrawl crawls a web of which a third misbehaves. The crawl ends, every honest page is
// stored, every faulty one has a state that its fault allows, and no request enters a guarded net.
// Faults that need a time limit are crawled apart: short limits cause errors on a busy machine.
func TestFaultyCrawl(t *testing.T) {
	t.Parallel()
	var quick, slow []string
	for _, f := range web.Faults() {
		if endsByTime(f.States) {
			slow = append(slow, f.Name)
		} else {
			quick = append(quick, f.Name)
		}
	}
	t.Run("quick", func(t *testing.T) {
		t.Parallel()
		checkFaultyCrawl(t, testkit.Rounds(200, 1400), quick, "2m")
	})
	t.Run("slow", func(t *testing.T) {
		testkit.Only(t, "waits for time limits")
		t.Parallel()
		checkFaultyCrawl(t, 200, slow, "20s")
	})
}

// endsByTime says whether only a time limit ends a fault.
func endsByTime(states []string) bool {
	return slices.ContainsFunc(states, func(s string) bool { return strings.HasSuffix(s, "_timeout") })
}

func checkFaultyCrawl(t *testing.T, hosts int, names []string, timeout string) {
	log := &requestLog{}
	addr, ca := served(t, faultyWeb(hosts), web.Options{Log: log, Faults: web.FaultPlan{Share: 1.0 / 3, Names: names}})
	dir := filepath.Join(t.TempDir(), "crawl")
	run := runFossick(t, []string{
		"focus", "--topic", "all", "--keywords", "page", "--threshold", "0", "--seed", "http://home.test/",
		"--proxy", "http://" + addr, "--ca", ca, "--delay", killRest.String(), "--timeout", timeout, "--workers", "64",
		"--max-pages", "100000", "--store", dir, "--json", "--quiet",
	}, 10*time.Minute, func() bool { return false })
	killed, out := run.killed, run.stdout
	var result monitor.Result
	if err := json.Unmarshal(out, &result); killed || err != nil || result.Stopped != "frontier_empty" {
		t.Fatalf("the crawl did not end by itself: killed %v, %v, %s", killed, err, out)
	}
	checkRests(t, log.requests(t), nil)
	pageFault, robotsFault, asked := map[string]string{}, map[string]string{}, map[string]bool{}
	for _, r := range log.requests(t) {
		asked[r.Host] = true
		switch r.Path {
		case "/robots.txt":
			robotsFault[r.Host] = r.Fault
		case "/page":
			pageFault[r.Host] = r.Fault
		}
	}
	s := testkit.Call(store.Open(dir)).Must(t)
	defer s.Close()
	met := map[string]bool{}
	for i := range hosts {
		u, host := fmt.Sprintf("http://h%d.test/page", i), fmt.Sprintf("h%d.test:80", i)
		if i%2 == 1 {
			u, host = fmt.Sprintf("https://h%d.test/page", i), fmt.Sprintf("h%d.test:443", i)
		}
		want := []string{"ok"}
		switch page, robots := faultNamed(pageFault[host]), faultNamed(robotsFault[host]); {
		case !asked[host] && i%2 == 1:
			want = []string{"tls_error", "connect_timeout"}
		case robots != nil && !slices.Contains(robots.States, "ok"):
			want = robots.States
			met[robots.Name] = true
		case page != nil:
			want = page.States
			met[page.Name] = true
		}
		life, err := s.URLs().Life(u)
		if err != nil || life.Outcome == nil {
			t.Errorf("%s: no outcome, %v", u, err)
		} else if !slices.Contains(want, life.Outcome.State) {
			t.Errorf("%s: state %s (%s), want %v for %q, %q", u, life.Outcome.State, life.Outcome.Reason, want, pageFault[host], robotsFault[host])
		}
	}
	if run.peak > 512<<20 {
		t.Errorf("%d MiB resident at most, want 512", run.peak>>20)
	}
	if 4*len(met) < len(names) {
		t.Errorf("%d faults met of %d; want more: enlarge the web", len(met), len(names))
	}
	for _, inside := range []string{"http://127.0.0.1:22/", "http://127.0.0.1:6379/", "http://127.0.0.1:22/relative", "http://127.0.0.1:22/robots.txt", "http://10.0.0.1/admin", "http://169.254.169.254/latest/meta-data/", "http://[::ffff:7f00:1]/", "http://127.0.0.1/"} {
		if life, err := s.URLs().Life(inside); err == nil && (life.Outcome == nil || life.Outcome.State != "guard_denied") {
			t.Errorf("%s: %+v, want guard_denied", inside, life.Outcome)
		}
	}
	checkFaultyStore(t, s)
	t.Logf("%d faults met, %d requests, states %v, %d MiB resident at most", len(met), result.Requests, result.ByState, run.peak>>20)
}

// TestFaultySitemaps checks that hosts with faulty sitemaps of any kind cost neither their page nor the
// crawl's bounds, and that no sitemap makes the crawl ask another host.
func TestFaultySitemaps(t *testing.T) {
	testkit.Only(t, "serves sitemaps of half a gigabyte")
	t.Parallel()
	var names []string
	for _, f := range web.Faults() {
		if strings.HasPrefix(f.Name, "sitemap-") {
			names = append(names, f.Name)
		}
	}
	const hosts = 40
	log := &requestLog{}
	addr, ca := served(t, faultyWeb(hosts), web.Options{Log: log, Sitemaps: true, Faults: web.FaultPlan{Share: 1, Names: names}})
	run := runFossick(t, []string{
		"focus", "--topic", "all", "--keywords", "page", "--threshold", "0", "--seed", "http://home.test/", "--proxy", "http://" + addr, "--ca", ca,
		"--delay", killRest.String(), "--also", "sitemaps", "--max-pages", "100000", "--store", filepath.Join(t.TempDir(), "crawl"), "--json", "--quiet",
	}, 10*time.Minute, func() bool { return false })
	var r monitor.Result
	if err := json.Unmarshal(run.stdout, &r); err != nil || r.Stopped != "frontier_empty" || r.Fetched != hosts+1 || run.peak > 512<<20 {
		t.Errorf("killed %v, %d MiB resident, %v: %s", run.killed, run.peak>>20, err, run.stdout)
	}
	met := map[string]bool{}
	for _, q := range log.requests(t) {
		met[q.Fault] = true
		if strings.HasPrefix(q.Host, "victim") || strings.HasPrefix(q.Host, "10.") {
			t.Errorf("a sitemap made the crawl ask %s", q.Host)
		}
	}
	for _, name := range names {
		if !met[name] {
			t.Errorf("no host had %s: enlarge the web", name)
		}
	}
	checkRests(t, log.requests(t), nil)
}

// faultsByName is built once: every log line needs it, and some faults take milliseconds to make.
var faultsByName = sync.OnceValue(func() map[string]*web.Fault {
	byName := map[string]*web.Fault{}
	for _, f := range web.Faults() {
		byName[f.Name] = &f
	}
	return byName
})

func faultNamed(name string) *web.Fault { return faultsByName()[name] }

func checkFaultyStore(t *testing.T, s *store.Store) {
	t.Helper()
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
}
