package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fossick/crawler"
	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/stats"
	"fossick/internal/testkit"
	"fossick/store"
	"fossick/store/change"
)

// TestWatch watches a web whose pages change, vanish or move for a while, and come back. Every visit in
// the server's log is on record with its outcome; changes of adverts and of texts are told apart; and
// the rates agree with those of the web.
func TestWatch(t *testing.T) {
	t.Parallel()
	rounds := testkit.Rounds(3, 20)
	log := &requestLog{}
	set := demoSet(t)
	served, addr := changingDemo(t, set, log, web.ChangePlan{Mean: 4 * time.Second, Adverts: 1, Away: .2})
	dir := filepath.Join(t.TempDir(), "crawl")
	plan := killPlan{args: append(demoSeeds(t), "--max-pages", "120", "--exclude", `[?&]|/calendar/|/threads`)}
	fossick(t, plan.command(addr, dir)...)
	before := len(log.requests(t))
	every := time.Duration(testkit.Rounds(1500, 2000)) * time.Millisecond
	r := watch(t, dir, "--rounds", itoa(rounds), "--every", every.String())
	requests := log.requests(t)

	asked := map[int]int{} // pages asked for by the watch, by code
	for _, q := range requests[before:] {
		if q.Path != "/robots.txt" {
			asked[q.Status]++
		}
	}
	got := map[int]int{}
	for v := range testkit.All(t, visitsOf(t, dir)) {
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
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func changingDemo(t *testing.T, set *datasets.Set, log io.Writer, plan web.ChangePlan) (served *web.Web, addr string) {
	t.Helper()
	served = testkit.Call(web.New(t.Context(), web.Options{Log: log, Change: plan, Seed: 5, Sitemaps: plan.Wrong > 0}, set)).Must(t)
	ctx, cancel := context.WithCancel(t.Context())
	l := testkit.Call(net.Listen("tcp", "127.0.0.1:0")).Must(t)
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
	testkit.Must(t, json.Unmarshal(fossick(t, append([]string{"watch", dir, "--json", "--quiet"}, args...)...), &r))
	return r
}

// TestWatchBudget checks that each policy spends its visits a day, and that a second watch goes on from
// what the first found.
func TestWatchBudget(t *testing.T) {
	t.Parallel()
	log := &requestLog{}
	set := demoSet(t)
	_, addr := changingDemo(t, set, log, web.ChangePlan{Mean: time.Second, Away: .2})
	dir := filepath.Join(t.TempDir(), "crawl")
	plan := killPlan{args: append(demoSeeds(t), "--max-pages", "60", "--exclude", `[?&]|/calendar/|/threads`)}
	fossick(t, plan.command(addr, dir)...)
	policies := policyNames()
	visits := int64(0)
	for _, policy := range policies[:testkit.Rounds(1, len(policies))] {
		before := pageRequests(t, log)
		const perSecond, seconds = 40, 2
		r := watch(t, dir, "--budget", itoa(perSecond*24*60*60), "--max-time", itoa(seconds)+"s", "--policy", policy, "--delay", "10ms")
		asked := pageRequests(t, log) - before
		// A busy machine may fall behind; a watch makes up for the pause before, by up to a minute's visits.
		if asked < 45 || asked > perSecond*(seconds+1+60) || r.Visits-visits != int64(asked) || r.Stopped != crawler.StopMaxTime {
			t.Errorf("%s: %d requests, %d visits on record, %s; want some %d", policy, asked, r.Visits-visits, r.Stopped, perSecond*seconds)
		}
		visits = r.Visits
	}
}

// TestWatchNews checks that a watch asks each host's sitemap once a round, and counts what they say.
func TestWatchNews(t *testing.T) {
	t.Parallel()
	log := &requestLog{}
	set := demoSet(t)
	_, addr := changingDemo(t, set, log, web.ChangePlan{Mean: 1500 * time.Millisecond, Adverts: .5, Wrong: .5})
	dir := filepath.Join(t.TempDir(), "crawl")
	fossick(t, killPlan{args: append(demoSeeds(t), "--max-pages", "70", "--exclude", `[?&]|/calendar/|/threads`)}.command(addr, dir)...)
	const rounds = 3
	r := watch(t, dir, "--rounds", itoa(rounds), "--every", "700ms", "--delay", "10ms")
	asked := 0
	for _, q := range log.requests(t) {
		if q.Path == "/sitemap.xml" {
			asked++
		}
	}
	if n := r.News; n.Hosts == 0 || int(n.Asked) != asked || asked != n.Hosts*rounds || n.Changed == 0 || n.New == 0 || n.NotModified == 0 {
		t.Errorf("%d requests for sitemaps; %+v", asked, n)
	}
}

// visitsOf yields the visits to stored pages, without those that stored them.
func visitsOf(t *testing.T, dir string) func(yield func(change.Visit, error) bool) {
	return func(yield func(change.Visit, error) bool) {
		s := testkit.Call(store.OpenWhenFree(t.Context(), dir)).Must(t)
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

// agree compares the share of visits that found a changed text with the truth: 1 − exp(−time between
// visits / interval) for a page that changes by a Poisson process.
func agree(t *testing.T, served *web.Web, dir string) {
	t.Helper()
	s := testkit.Call(store.OpenWhenFree(t.Context(), dir)).Must(t)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	pages, within, expected, found := 0, 0, 0., 0.
	for p := range testkit.All(t, watchedPages(s)) {
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

// TestKillWatch kills one watch after another. Only visits in flight at a kill are lost, the store is
// sound each time, and a last watch finishes the round with pages not yet visited.
func TestKillWatch(t *testing.T) {
	t.Parallel()
	const hosts, pages = 20, 15
	log := &requestLog{}
	addr, _ := served(t, linkedWeb(hosts, pages), web.Options{Log: log, Change: web.ChangePlan{Mean: 2 * time.Second, Away: .1}})
	dir := filepath.Join(t.TempDir(), "crawl")
	if killed, _ := runAndKill(t, killPlan{args: []string{"--seed", "http://h0.test/0"}}.command(addr, dir), 2*time.Minute); killed {
		t.Fatal("the crawl takes too long")
	}
	args := []string{"watch", dir, "--json", "--quiet", "--every", "1ms", "--keep-versions", "--rounds"}
	before := pageRequests(t, log)
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 5))
	k := &killer{at: map[string]int{}}
	var kills []kill
	for range fromEnv("FOSSICK_KILLS", testkit.Rounds(2, 8)) {
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

// growing is a web of four pages: after a step one has another text, one has another advert, and one is
// gone.
func growing(t *testing.T, step *atomic.Int32) string {
	text := func(word string) string {
		return "<p>" + strings.Repeat("The "+word+" of the old mine was found by the river after the flood, as all who live there know. ", 6)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		word := "gold"
		switch {
		case r.URL.Path == "/text" && step.Load() > 0:
			word = []string{"", "silver", "copper"}[step.Load()]
		case r.URL.Path == "/gone" && step.Load() > 0, r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
			return
		case r.URL.Path == "/":
			fmt.Fprint(w, "<a href=/text>text</a> <a href=/advert>advert</a> <a href=/gone>gone</a>")
		}
		fmt.Fprintf(w, "<title>%s</title><h1>%[1]s</h1>%s<p>%[1]s says so", r.URL.Path, text(word))
		if r.URL.Path == "/advert" {
			fmt.Fprintf(w, "<div class=ad>Buy %d</div>", step.Load())
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestWatchChanges checks the lists of new, changed and gone pages since a time, and the differences
// from former bodies that were kept.
func TestWatchChanges(t *testing.T) {
	t.Chdir(t.TempDir())
	var step atomic.Int32
	addr := growing(t, &step)
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"focus", "--topic", "a", "--keywords", "gold", "--threshold", "0", "--allow-net", "127.0.0.0/8", "--delay", "0", "--seed", addr + "/", "--store", "s"}, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	begin := time.Now().UTC()
	round := func(flags ...string) {
		t.Helper()
		step.Add(1)
		if r := watch(t, "s", append([]string{"--rounds", "1"}, flags...)...); r.Stopped != "rounds" || r.Refreshed.Changed != 2 {
			t.Errorf("stopped by %q: %+v", r.Stopped, r.Refreshed)
		}
	}
	round("--keep-versions")
	between := time.Now().UTC()
	round() // a page with versions keeps more of them
	since := func(at time.Time) *watchChanges {
		t.Helper()
		r := watch(t, "s", "--since", at.Format(time.RFC3339Nano), "--diff")
		if r.Refreshed != nil || r.Rounds != 2 {
			t.Errorf("--since asked: %+v", r.Refreshed)
		}
		return r.Changes
	}
	c := since(begin)
	if len(c.New) != 0 || len(c.Changed) != 2 || len(c.Gone) != 1 || c.Gone[0].URL != addr+"/gone" || c.Gone[0].What != "code" {
		t.Fatalf("%+v", c)
	}
	for _, l := range c.Changed {
		text := l.URL == addr+"/text"
		if text != (l.What == "text") || text != strings.Contains(l.Diff, "\n-The gold of") || text != strings.Contains(l.Diff, "\n+The copper of") {
			t.Errorf("%+v", l)
		}
	}
	if c = since(between); len(c.Gone) != 0 || !strings.Contains(c.Changed[0].Diff+c.Changed[1].Diff, "\n-The silver of") {
		t.Errorf("since the first round: %+v", c)
	}
	if c = since(begin.Add(-time.Hour)); len(c.New) != 3 || len(c.Gone) != 1 {
		t.Errorf("since before the crawl: %+v", c)
	}
	st, err := store.OpenToRead("s")
	if err != nil {
		t.Fatal(err)
	}
	few, err := changesSince(t.Context(), st, begin.Add(-time.Hour).Format(time.RFC3339Nano), false, 1)
	if err != nil || len(few.New) != 1 || few.all[&few.New] != 3 || slices.ContainsFunc(c.New, func(l changeLine) bool { return l.At > few.New[0].At }) {
		t.Errorf("the newest alone: %+v, %v", few, err)
	}
	testkit.Must(t, st.Close())
	out.Reset()
	if code := run(t.Context(), []string{"watch", "s", "--since", "1d"}, &out, &errs); code != 0 || !strings.Contains(out.String(), "3 pages new, 0 changed, 1 gone") || strings.Contains(out.String(), "S(n)") {
		t.Errorf("exit code %d, %s", code, out.String())
	}
	for _, bad := range [][]string{{"--diff"}, {"--since", "soon"}} {
		if code, told := runForErrors(t, append([]string{"watch", "s"}, bad...)); code != exitUsage || !strings.Contains(told, "--since") {
			t.Errorf("%v: exit code %d, %s", bad, code, told)
		}
	}
	out.Reset()
	if code := run(t.Context(), []string{"watch", "s", "--rounds", "0", "--json"}, &out, &errs); code != 0 || !json.Valid(out.Bytes()) || !strings.Contains(out.String(), `"changes":null`) {
		t.Errorf("exit code %d, %s", code, out.String())
	}
}

// TestWatchSurvey kills rounds of a survey whose sites have grown, until one ends. The store then has
// the pages of a fresh survey, also those of a start page that did not exist before. Only requests in
// flight at a kill are repeated, none leaves the parties, and every host rests.
func TestWatchSurvey(t *testing.T) {
	t.Parallel()
	hosts, pages := testkit.Rounds(8, 40), testkit.Rounds(16, 60)
	plan := killPlan{survey: true, args: []string{"--seeds", seedFile(t, hosts/2), "--seed", fmt.Sprintf("http://h0.test/%d", pages-1), "--max-depth", "50"}}
	dir, fresh := filepath.Join(t.TempDir(), "crawl"), filepath.Join(t.TempDir(), "fresh")

	log := &requestLog{}
	addr, _, stop, err := serveSet(t.Context(), linkedWeb(hosts/2, pages/2), web.Options{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if killed, _ := runAndKill(t, plan.command(addr, dir), 2*time.Minute); killed {
		t.Fatal("the survey takes too long")
	}
	before := checkStore(t, dir)
	stop()

	surveyed := len(log.requests(t))
	addr, _, stop, err = serveSet(t.Context(), linkedWeb(hosts, pages), web.Options{Log: log, Latency: 4 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	args := []string{"watch", dir, "--json", "--quiet", "--rounds", "1", "--proxy", "http://" + addr}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 5))
	k := &killer{at: map[string]int{}}
	var kills []kill
	most := fromEnv("FOSSICK_KILLS", testkit.Rounds(2, 8))
	killed, out := true, []byte(nil)
	for killed && len(kills) <= most { // until a run ends the round
		answers := log.lines() + rng.IntN(hosts*pages/6)
		goesOn(kills)
		killed, out = runAndKillWhen(t, args, 2*time.Minute, func() bool { return len(kills) < most && log.lines() > answers })
		if !killed {
			break
		}
		kills = append(kills, kill{at: time.Now()})
		if !sound(t, dir, k) {
			t.Fatal("the store has gone")
		}
	}
	var r watchResult
	if err := json.Unmarshal(out, &r); killed || err != nil {
		t.Fatalf("killed %v, %v, %s", killed, err, out)
	}
	requests := log.requests(t)
	checkRepeats(t, requests[surveyed:], kills)
	j := mannersJudge{log: requests, kills: kills, delay: killRest, robots: readRobots(t, addr, requests)}
	j.judge().report(t)
	if i := slices.IndexFunc(requests, func(q request) bool { return linkedSecret(q.Path) }); i >= 0 {
		t.Errorf("%s was asked for", requests[i].Path)
	}

	if killed, _ := runAndKill(t, plan.command(addr, fresh), 2*time.Minute); killed {
		t.Fatal("the survey takes too long")
	}
	got, want := slices.Sorted(maps.Keys(checkStore(t, dir))), slices.Sorted(maps.Keys(checkStore(t, fresh)))
	if !slices.Equal(got, want) || len(want) != hosts/2*pages || r.Rounds != 1 {
		t.Errorf("%d rounds, want 1; pages that a survey from the start has not, or has: %s", r.Rounds, differences(got, want))
	}
	if want := int64(len(got) - len(before)); r.NewPages != want || r.Seeds.Downloads[1] != hosts/2+1 {
		t.Errorf("%d new pages, want %d; start pages %v", r.NewPages, want, r.Seeds.Downloads)
	}
	t.Logf("%d kills, %d pages before and %d after", len(kills), len(before), len(got))
}
