package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/datasets/web"
	"fossick/internal/fulltest"
)

// TestWatchSurvey kills rounds of a survey whose sites have grown, until one ends. Then the
// store has the pages that a survey from the start has, those of a start page that was not
// there among them; nothing was asked for twice but what was in flight at a kill; nothing
// outside of the parties was asked for; and each rest was kept.
func TestWatchSurvey(t *testing.T) {
	t.Parallel()
	hosts, pages := fulltest.Rounds(8, 40), fulltest.Rounds(16, 60)
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
	most := fromEnv("FOSSICK_KILLS", fulltest.Rounds(2, 8))
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

// TestWatchSurveyRounds: of start pages that nobody ever got, and of one that comes later,
// S(n) tells as of all others.
func TestWatchSurveyRounds(t *testing.T) {
	t.Parallel()
	addr, _, stop, err := serveSet(t.Context(), linkedWeb(2, 5), web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { stop() }()
	dir, list := filepath.Join(t.TempDir(), "crawl"), filepath.Join(t.TempDir(), "seeds.txt")
	write(t, list, "http://h0.test/0\nhttp://h0.test/7\nhttp://h1.test/missing\n")
	surveyOnce(t, "--seeds", list, "--proxy", "http://"+addr, "--delay", "1ms", "--store", dir)
	watch(t, dir, "--rounds", "2", "--every", "1ms", "--delay", "1ms")
	stop()
	if addr, _, stop, err = serveSet(t.Context(), linkedWeb(2, 9), web.Options{}); err != nil {
		t.Fatal(err)
	}
	r := watch(t, dir, "--rounds", "1", "--delay", "1ms", "--proxy", "http://"+addr)
	if want := []int{1, 1, 0, 1}; !slices.Equal(r.Seeds.Downloads, want) || r.Pages != 9 || r.NewPages != 4 {
		t.Errorf("start pages by rounds that got them %v, want %v; %d pages, %d of them new", r.Seeds.Downloads, want, r.Pages, r.NewPages)
	}

	r = watch(t, dir, "--rounds", "1", "--no-new-pages", "--delay", "1ms", "--proxy", "http://"+addr)
	if r.Refreshed.Asked != 9 || r.Pages != 9 {
		t.Errorf("%+v; want nine stored pages asked for", r.Refreshed)
	}
	refused(t, []string{"watch", dir, "--budget", "9", "--new-pages"}, "--budget visits stored pages only")
	focus := filepath.Join(t.TempDir(), "crawl")
	if killed, _ := runAndKill(t, killPlan{args: []string{"--seed", "http://h0.test/0"}}.command(addr, focus), time.Minute); killed {
		t.Fatal("the crawl takes too long")
	}
	refused(t, []string{"watch", focus, "--new-pages"}, "fossick focus --resume --store")
}

// refused runs a command that is wrong usage.
func refused(t *testing.T, args []string, says string) {
	t.Helper()
	var errs strings.Builder
	if code := run(t.Context(), args, &errs, &errs); code != exitUsage || !strings.Contains(errs.String(), says) {
		t.Errorf("%v: %d, %s; want %q", args, code, errs.String(), says)
	}
}
