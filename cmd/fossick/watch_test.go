package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fossick/crawler"
	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/fulltest"
	"fossick/internal/stats"
	"fossick/store"
	"fossick/store/change"
)

// TestWatch watches a web whose pages change, are gone or elsewhere for a while and come
// back, over the network, in three rounds or twenty. Each visit of the server's log is on
// record with what it came to; adverts are told from texts; and the rates that the visits
// show agree with those that the web was made with.
func TestWatch(t *testing.T) {
	t.Parallel()
	rounds := fulltest.Rounds(3, 20)
	log := &requestLog{}
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	served, addr := changingDemo(t, set, log, web.ChangePlan{Mean: 4 * time.Second, Adverts: 1, Away: .2})
	dir := filepath.Join(t.TempDir(), "crawl")
	plan := killPlan{args: append(demoSeeds(t), "--max-pages", "120", "--exclude", `[?&]|/calendar/|/threads`)}
	var errs bytes.Buffer
	if code := run(t.Context(), plan.command(addr, dir), io.Discard, &errs); code != exitDone {
		t.Fatalf("crawl: %d, %s", code, errs.String())
	}
	before := len(log.requests(t))
	every := time.Duration(fulltest.Rounds(1500, 2000)) * time.Millisecond
	r := watch(t, dir, "--rounds", itoa(rounds), "--every", every.String())
	requests := log.requests(t)

	asked := map[int]int{} // pages asked for by the watch, by code
	for _, q := range requests[before:] {
		if q.Path != "/robots.txt" {
			asked[q.Status]++
		}
	}
	got := map[int]int{}
	for v, err := range visitsOf(t, dir) {
		if err != nil {
			t.Fatal(err)
		}
		got[v.Code]++
	}
	all, noted := 0, 0
	for code, n := range asked {
		all += n
		noted += min(n, got[code])
	}
	if all != noted || int64(all) != r.Visits || r.Rounds != rounds || r.Pages < 60 || r.SS == nil || *r.SS < .7 {
		t.Errorf("the server was asked %v, on record is %v; %d visits in %d rounds of %d pages", asked, got, r.Visits, r.Rounds, r.Pages)
	}
	if r.All.Changes >= r.All.ContentChanges || r.All.Changes == 0 {
		t.Errorf("%+v: want changes of texts, and some of adverts alone", r.All)
	}
	j := mannersJudge{log: requests, delay: killRest, robots: readRobots(t, addr, requests)}
	j.judge().report(t)
	agree(t, served, dir)
	ratesAgree(t, served, dir)
}

// ratesAgree holds the rates of --history FILE.jsonl against the truth, of pages that change
// less often than the estimator can tell from always. The web's median must lie well below
// that: intervals hold in the mean over all pages, not over those that change least.
func ratesAgree(t *testing.T, served *web.Web, dir string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "history.jsonl")
	watch(t, dir, "--rounds", "0", "--history", file)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	pages, within := 0, 0
	for d := json.NewDecoder(f); ; {
		var line historyLine
		if err := d.Decode(&line); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if line.Rate == nil {
			continue
		}
		truth := 24 * 60 * 60 / served.Truth(line.URL).Interval.Seconds()
		if truth > change.MostRate {
			continue
		}
		pages++
		if line.Rate.CI[0] <= truth && truth <= line.Rate.CI[1] {
			within++
		}
		if r := line.Rate; !(r.CI[0] <= r.Value && r.Value <= r.CI[1]) {
			t.Errorf("%s: %+v", line.URL, r)
		}
	}
	t.Logf("the rates of %d of %d pages lie within their intervals", within, pages)
	if pages == 0 || float64(within) < .8*float64(pages) {
		t.Errorf("the rates of %d of %d pages lie within their intervals", within, pages)
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// changingDemo serves a set whose pages change until the test ends.
func changingDemo(t *testing.T, set *datasets.Set, log io.Writer, plan web.ChangePlan) (served *web.Web, addr string) {
	t.Helper()
	served, err := web.New(t.Context(), web.Options{Log: log, Change: plan, Seed: 5, Sitemaps: plan.Wrong > 0}, set)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = served.Serve(ctx, l) // ends with ctx
	}()
	t.Cleanup(func() { cancel(); <-done; _ = served.Close() })
	return served, l.Addr().String()
}

func watch(t *testing.T, dir string, args ...string) (r watchResult) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(t.Context(), append([]string{"watch", dir, "--json", "--quiet"}, args...), &out, &errs); code != exitDone {
		t.Fatalf("watch: %d, %s", code, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWatchBudget spends so many visits a day as each policy says. A second watch goes on by
// what the first one found.
func TestWatchBudget(t *testing.T) {
	t.Parallel()
	log := &requestLog{}
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, addr := changingDemo(t, set, log, web.ChangePlan{Mean: time.Second, Away: .2})
	dir := filepath.Join(t.TempDir(), "crawl")
	plan := killPlan{args: append(demoSeeds(t), "--max-pages", "60", "--exclude", `[?&]|/calendar/|/threads`)}
	var errs bytes.Buffer
	if code := run(t.Context(), plan.command(addr, dir), io.Discard, &errs); code != exitDone {
		t.Fatalf("crawl: %d, %s", code, errs.String())
	}
	policies := policyNames()
	visits := int64(0)
	for _, policy := range policies[:fulltest.Rounds(1, len(policies))] {
		before := pageRequests(t, log)
		const perSecond, seconds = 40, 2
		r := watch(t, dir, "--budget", itoa(perSecond*24*60*60), "--max-time", itoa(seconds)+"s", "--policy", policy, "--delay", "10ms")
		asked := pageRequests(t, log) - before
		// The machine may be busy; what the pause before left undone is made up for, a minute's
		// worth at most.
		if asked < 45 || asked > perSecond*(seconds+1+60) || r.Visits-visits != int64(asked) || r.Stopped != crawler.StopMaxTime {
			t.Errorf("%s: %d requests, %d visits on record, %s; want some %d", policy, asked, r.Visits-visits, r.Stopped, perSecond*seconds)
		}
		visits = r.Visits
	}
}

// visitsOf yields the visits to stored pages after the one that stored each.
func visitsOf(t *testing.T, dir string) func(yield func(change.Visit, error) bool) {
	return func(yield func(change.Visit, error) bool) {
		s, err := store.OpenWhenFree(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		for p, err := range watchedPages(s) {
			if err != nil {
				yield(change.Visit{}, err)
				return
			}
			for _, v := range p.Visits[1:] {
				if !yield(v, nil) {
					return
				}
			}
		}
	}
}

// agree holds the share of looks that found a text changed against the truth: of a page that
// changes by a Poisson process it is 1 − exp(−time between looks / interval).
func agree(t *testing.T, served *web.Web, dir string) {
	t.Helper()
	s, err := store.OpenWhenFree(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	pages, within, expected, found := 0, 0, 0., 0.
	for p, err := range watchedPages(s) {
		if err != nil {
			t.Fatal(err)
		}
		interval := served.Truth(p.URL).Interval.Seconds() * 1000
		looks, changes, chance, last := 0, 0, 0., p.Visits[0].At
		for _, v := range p.Visits[1:] {
			if !change.Downloaded(v.State) || v.State == "duplicate" {
				continue
			}
			looks++
			chance += 1 - math.Exp(-float64(v.At-last)/interval)
			last = v.At
			if v.Change == change.Text {
				changes++
			}
		}
		if looks == 0 {
			continue
		}
		ci := stats.Wilson(changes, looks)
		pages++
		expected, found = expected+chance, found+float64(changes)
		if x := chance / float64(looks); x >= ci[0] && x <= ci[1] {
			within++
		}
	}
	t.Logf("%d of %d pages' chances of change lie within the interval of what was seen; %.0f changes seen, %.0f expected", within, pages, found, expected)
	if float64(within) < .85*float64(pages) || math.Abs(found/expected-1) > .2 {
		t.Errorf("of %d pages %d lie within; %.0f changes seen, %.0f expected", pages, within, found, expected)
	}
}

// TestKillWatch kills one watch after the other. Of the visits that the server saw none is
// lost but those in flight at a kill, the store is sound each time, and a last watch
// finishes the round that was cut off, by pages that it had not asked for.
func TestKillWatch(t *testing.T) {
	t.Parallel()
	const hosts, pages = 20, 15
	log := &requestLog{}
	addr, _, stop, err := serveSet(t.Context(), linkedWeb(hosts, pages), web.Options{Log: log, Change: web.ChangePlan{Mean: 2 * time.Second, Away: .1}})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dir := filepath.Join(t.TempDir(), "crawl")
	if killed, _ := runAndKill(t, killPlan{args: []string{"--seed", "http://h0.test/0"}}.command(addr, dir), 2*time.Minute); killed {
		t.Fatal("the crawl takes too long")
	}
	args := []string{"watch", dir, "--json", "--quiet", "--every", "1ms", "--keep-versions", "--rounds"}
	before := pageRequests(t, log)
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 5))
	k := &killer{at: map[string]int{}}
	var kills []kill
	for range fromEnv("FOSSICK_KILLS", fulltest.Rounds(2, 8)) {
		answers := log.lines() + rng.IntN(hosts*pages)
		goesOn(kills)
		if killed, _ := runAndKillWhen(t, append(args, "3"), 2*time.Minute, func() bool { return log.lines() > answers }); killed {
			k.at["in watch"]++
			kills = append(kills, kill{at: time.Now()})
		}
		if !sound(t, dir, k) {
			t.Fatal("the store has gone")
		}
	}
	goesOn(kills)
	killed, out := runAndKill(t, append(args, "1"), 2*time.Minute)
	var r watchResult
	if err := json.Unmarshal(out, &r); killed || err != nil {
		t.Fatalf("killed %v, %v, %s", killed, err, out)
	}
	seen := pageRequests(t, log) - before
	if lost := seen - int(r.Visits); lost < 0 || lost > len(kills)*killWorkers || r.Stopped != "rounds" {
		t.Errorf("%d visits on record, the server saw %d; at most %d can have been in flight at %d kills", r.Visits, seen, len(kills)*killWorkers, len(kills))
	}
	again := watch(t, dir, "--rounds", "0")
	if again.Rounds != r.Rounds || r.Rounds == 0 || again.Refreshed != nil || again.Visits != r.Visits {
		t.Errorf("%+v, then only told: %+v", r, again)
	}
	checkRests(t, log.requests(t), kills)
	t.Logf("%v, %d errors found by verify; %d rounds, %d visits, %d requests", k.at, k.problems, r.Rounds, r.Visits, seen)
}

func pageRequests(t *testing.T, log *requestLog) (n int) {
	for _, q := range log.requests(t) {
		if !strings.HasSuffix(q.Path, "/robots.txt") {
			n++
		}
	}
	return n
}
