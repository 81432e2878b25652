package main

import (
	"net/url"
	"os"
	"slices"
	"testing"
	"time"

	"fossick/corpusweb"
	"fossick/datasets"
	"fossick/fetch"
)

// TestFaultStates asks for a page with each fault, through the proxy, and wants
// the state that the fault's description names.
func TestFaultStates(t *testing.T) {
	all := corpusweb.Faults()
	if len(all) < 30 {
		t.Fatalf("%d faults; want 30 at least", len(all))
	}
	for _, f := range all {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			state := faultState(t, &f)
			if !slices.Contains(f.States, string(state)) {
				t.Errorf("%s: state %s, want %v", f.About, state, f.States)
			}
		})
	}
}

// faultState fetches a page of a web where everything has the fault.
func faultState(t *testing.T, f *corpusweb.Fault) fetch.State {
	set := datasets.FromSeq("pages", func(yield func(*datasets.Example, error) bool) {
		for _, u := range []string{"http://first.test/", "https://a.test/page"} {
			if !yield(&datasets.Example{URL: u, HTML: "<title>Page</title><p>An honest page, long enough to be cut in two."}, nil) {
				return
			}
		}
	}, datasets.Options{})
	addr, ca, stop, err := serveSet(t.Context(), set, corpusweb.Options{Faults: corpusweb.FaultPlan{Share: 1, Names: []string{f.Name}}})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	fetcher := proxyFetcher(t, addr, ca)
	target := "http://a.test/page"
	if f.Host() {
		target = "https://a.test/page"
		r := fetcher.Fetch(t.Context(), fetch.RobotsRequest("https://a.test/robots.txt"))
		for hops := 0; r.State == fetch.StateRedirect && hops < fetch.MaxRobotsRedirects; hops++ {
			r = fetcher.Fetch(t.Context(), fetch.RobotsRequest(r.Location))
		}
		if rules, final := fetch.RobotsFrom(r); final && !rules.Allowed("fossick", "/page") {
			if r.State == fetch.StateTLSError {
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

// proxyFetcher returns a fetcher that is quick to give up.
func proxyFetcher(t *testing.T, addr, ca string) *fetch.Fetcher {
	t.Helper()
	f, err := os.Open(ca)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	roots, err := fetch.ReadCAs(f, ca)
	if err != nil {
		t.Fatal(err)
	}
	fetcher, err := fetch.New(fetch.Options{
		Proxy: &url.URL{Scheme: "http", Host: addr}, RootCAs: roots,
		Timeout: 20 * time.Second, HeaderTimeout: time.Second, RateGrace: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fetcher.Close)
	return fetcher
}
