package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fossick/datasets/web"
	"fossick/eval/monitor"
	"fossick/internal/fulltest"
	"fossick/store"
)

// TestFaultySitemaps crawls a web in which every sitemap misbehaves. Each page is
// stored all the same, what sitemaps add is bounded, so is memory, and the crawl's
// own report on its manners agrees with the server's log.
func TestFaultySitemaps(t *testing.T) {
	fulltest.Only(t, "serves sitemaps of half a gigabyte")
	var names []string
	for _, f := range web.Faults() {
		if strings.HasPrefix(f.Name, "sitemap-") {
			names = append(names, f.Name)
		}
	}
	const hosts = 40
	log := &requestLog{}
	addr, ca, stop, err := serveSet(t.Context(), faultyWeb(hosts), web.Options{
		Log: log, Sitemaps: true, Faults: web.FaultPlan{Share: 1, Names: names},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dir := filepath.Join(t.TempDir(), "crawl")
	result, memory := crawlBeside(t, "--seed", "http://home.test/", "--proxy", "http://"+addr, "--ca", ca, "--delay", killRest.String(),
		"--sitemaps", "--exclude", "~nothing", "--max-pages", "100000", "--store", dir)
	if result.Stopped != "frontier_empty" || result.Fetched != hosts+1 {
		t.Errorf("stopped for %s with %d pages, want %d", result.Stopped, result.Fetched, hosts+1)
	}
	if memory > 512<<20 {
		t.Errorf("%d MiB resident, want 512 at most", memory>>20)
	}
	checkRests(t, log.requests(t), nil)
	met := map[string]bool{}
	for _, r := range log.requests(t) {
		met[r.Fault] = true
		if strings.HasPrefix(r.Host, "victim") || strings.HasPrefix(r.Host, "10.") {
			t.Errorf("a sitemap made us ask %s", r.Host)
		}
	}
	for _, name := range names {
		if !met[name] {
			t.Errorf("no host had %s: enlarge the web", name)
		}
	}
	p := result.Politeness
	if p == nil || p.Violations != 0 || int(p.Requests) != len(log.requests(t)) || p.Hosts != hosts+1 {
		t.Errorf("politeness %+v; the server has seen %d requests of %d hosts", p, len(log.requests(t)), hosts+1)
	}
	checkSitemapBounds(t, dir)
	t.Logf("%d requests, %d for sitemaps, %d MiB resident", p.Requests, p.Sitemaps, memory>>20)
}

// crawlBeside runs focus --json in a process of its own and returns what it prints
// and the most memory that it had, in bytes.
func crawlBeside(t *testing.T, args ...string) (result monitor.Result, memory int64) {
	t.Helper()
	run := runFossick(t, append([]string{"focus", "--topic", "all", "--keywords", "page", "--threshold", "0", "--json", "--quiet"}, args...),
		10*time.Minute, func() bool { return false })
	if err := json.Unmarshal(run.stdout, &result); run.killed || err != nil {
		t.Fatalf("focus: %v, killed: %v, %s", err, run.killed, run.stdout)
	}
	return result, run.peak
}

func checkSitemapBounds(t *testing.T, dir string) {
	t.Helper()
	checkStore(t, dir)
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	most := 0
	for h, err := range s.Hosts() {
		if err != nil {
			t.Fatal(err)
		}
		if h.Sitemaps == nil {
			continue
		}
		most = max(most, h.Sitemaps.URLs)
		if h.Sitemaps.URLs > 10_000 || h.Sitemaps.Files > 50 || len(h.Sitemaps.Pending) > 0 {
			t.Errorf("%s: %+v", h.Name, *h.Sitemaps)
		}
	}
	if most != 10_000 {
		t.Errorf("no sitemap has filled its host's room; the fullest added %d URLs", most)
	}
}
