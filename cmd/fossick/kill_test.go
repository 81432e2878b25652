package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fossick/corpusweb"
	"fossick/datasets"
	"fossick/store"
)

// TestKill kills a crawl with SIGKILL at random moments and resumes it until it
// ends by itself. The server's log, not the crawler's, says what happened: no
// page is missing, and none was fetched twice but those in flight at a kill.
// FOSSICK_KILLS says how often, 25 times if not set.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("kills many processes")
	}
	t.Run("demo", func(t *testing.T) {
		killOften(t, "demo", append(demoSeeds(t), "--exclude", `[?&]|/calendar/|/threads`))
	})
	t.Run("wikispeedia", func(t *testing.T) {
		corpus := filepath.Join(cmp.Or(os.Getenv("FOSSICK_DATA"), "../../../shared/data"), "wikispeedia")
		if _, err := os.Stat(corpus); err != nil {
			t.Skipf("needs the corpus: %v; set FOSSICK_DATA", err)
		}
		killOften(t, corpus, []string{"--seed", "http://h115.test/wiki/Ireland"})
	})
}

const killWorkers = 8

// killOften is the test for one corpus; args are the crawl's own.
func killOften(t *testing.T, corpus string, args []string) {
	log := &requestLog{}
	addr, stop, err := serve(t.Context(), corpus, corpusweb.Options{Log: log, Latency: 4 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dir := filepath.Join(t.TempDir(), "crawl")
	args = append([]string{
		"focus", "--topic", "all", "--keywords", "the,of,and", "--threshold", "0", "--json", "--quiet", "--proxy", "http://" + addr,
		"--delay", killRest.String(), "--workers", fmt.Sprint(killWorkers), "--max-pages", "100000", "--store", dir,
	}, args...)
	kills := crawlWithKills(t, dir, args)
	requests := log.requests(t)
	// The same crawl in one go says how many pages there are.
	uncut := filepath.Join(t.TempDir(), "uncut")
	args[slices.Index(args, dir)] = uncut
	if killed, out := runAndKill(t, args, 2*time.Minute); killed {
		t.Fatalf("the crawl in one go takes too long: %s", out)
	}
	checkLog(t, requests, kills)
	pages, want := checkStore(t, dir), checkStore(t, uncut)
	if pages != want {
		t.Errorf("%d pages after %d kills, want the %d of a crawl without", pages, len(kills), want)
	}
	t.Logf("%d kills, %d pages, %d requests", len(kills), pages, len(requests))
}

// crawlWithKills starts a crawl, kills it and resumes it as often as it shall,
// and then lets it end. It returns when it killed.
func crawlWithKills(t *testing.T, dir string, args []string) (kills []time.Time) {
	t.Helper()
	most := 25
	if n, err := strconv.Atoi(os.Getenv("FOSSICK_KILLS")); err == nil {
		most = n
	}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1)) // every run tries other moments
	for {
		full := args
		if s, err := store.Open(dir); err == nil { // a kill in the first milliseconds leaves none
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			full = append(args[:len(args):len(args)], "--resume")
		}
		after := time.Duration(40+rng.IntN(200)) * time.Millisecond
		if len(kills) >= most { // hosts that fail are tried again after a while: let them
			after = 2 * time.Minute
		}
		killed, out := runAndKill(t, full, after)
		if killed {
			kills = append(kills, time.Now())
			continue
		}
		var r crawlResult
		if err := json.Unmarshal(out, &r); err != nil || r.Stopped != "frontier_empty" {
			t.Fatalf("after %d kills: %s, %v", len(kills), out, err)
		}
		return kills
	}
}

// demoSeeds names the demo set's start pages.
func demoSeeds(t *testing.T) []string {
	t.Helper()
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var seeds []string
	for _, label := range slices.Sorted(maps.Keys(set.Web().Starts)) {
		for _, u := range set.Web().Starts[label] {
			seeds = append(seeds, "--seed", u)
		}
	}
	return seeds
}

// runAndKill starts fossick and kills it after d, unless it ends before.
func runAndKill(t *testing.T, args []string, d time.Duration) (killed bool, stdout []byte) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), beMain+"=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(d, func() { _ = cmd.Process.Kill() }) // it may have ended
	err := cmd.Wait()
	timer.Stop()
	if err == nil {
		return false, out.Bytes()
	}
	if !strings.Contains(err.Error(), "killed") {
		t.Fatalf("fossick %v: %v\n%s%s", args, err, out.Bytes(), errs.Bytes())
	}
	return true, nil
}

// killRest is the hosts' rest in the kill test. The crawler rests from the end of
// an answer, which comes after the server saw the request begin; so from begin to
// begin there is always a whole rest, however late the server's clock is read.
const killRest = 20 * time.Millisecond

// checkLog judges by the server's log: hosts rest, also across kills (but after
// a request that a kill left the server to finish alone; a new process sends none
// within the first rest), and few pages come twice.
func checkLog(t *testing.T, log []request, kills []time.Time) {
	t.Helper()
	checkRests(t, log, kills)
	fetched := map[string]int{}
	again := 0
	for _, r := range log {
		if r.Path == "/robots.txt" {
			continue
		}
		if fetched[r.Host+r.Path]++; fetched[r.Host+r.Path] > 1 {
			again++
		}
	}
	if most := len(kills) * killWorkers; again > most {
		t.Errorf("%d requests were repeated after %d kills, at most %d can have been in flight", again, len(kills), most)
	}
	t.Logf("%d requests repeated", again)
}

// checkRests is the part of checkLog about rests: no host was asked again before
// killRest was over, nor for a page before its robots.txt.
func checkRests(t *testing.T, log []request, kills []time.Time) {
	t.Helper()
	slices.SortFunc(log, func(a, b request) int { return a.Start.Compare(b.Start) }) // it is in the order of the ends
	last := map[string]request{}
	for _, r := range log {
		before, ok := last[r.Host]
		orphan := slices.ContainsFunc(kills, func(k time.Time) bool { return before.Start.Before(k.Add(killRest)) && k.Before(before.End) })
		if gap := r.Start.Sub(before.Start); ok && !orphan && gap < killRest {
			t.Errorf("%s%s came %v after %s began, want a rest of %v", r.Host, r.Path, gap, before.Path, killRest)
		}
		if !ok && r.Path != "/robots.txt" {
			t.Errorf("%s%s came before robots.txt", r.Host, r.Path)
		}
		last[r.Host] = r
	}
}

// checkStore reads every page and body of a store and returns their number.
func checkStore(t *testing.T, dir string) uint64 {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
	n := uint64(0)
	for p, err := range s.Pages() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; p.Number != n {
			t.Errorf("page %d follows page %d", p.Number, n-1)
		}
		if body, err := s.Body(p.Number); err != nil || int64(len(body)) != p.Bytes {
			t.Errorf("page %d: %d bytes, %v; want %d", p.Number, len(body), err, p.Bytes)
		}
	}
	if counts, err := s.Counts(); err != nil || counts.Pages != n {
		t.Errorf("%d pages are counted, %v; there are %d", counts.Pages, err, n)
	}
	return n
}
