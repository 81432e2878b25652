package main

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"fossick/datasets/web"
	"fossick/eval/monitor"
	"fossick/internal/testkit"
)

// TestKillRefresh kills refreshes of a store whose pages change: it is sound each time, loses no page,
// and every host rests. A last refresh requests each page once and finds changes; another, for pages
// that are older, requests none.
func TestKillRefresh(t *testing.T) {
	t.Parallel()
	const hosts, pages = 20, 15
	log := &requestLog{}
	addr, _ := served(t, linkedWeb(hosts, pages), web.Options{Log: log, Change: web.ChangePlan{Mean: 2 * time.Second}})
	plan := killPlan{args: []string{"--seed", "http://h0.test/0"}}
	dir := filepath.Join(t.TempDir(), "crawl")
	refresh := func(age string) []string { return append(plan.command(addr, dir), "--resume", "--refresh", age) }
	if killed, _ := runAndKill(t, plan.command(addr, dir), 2*time.Minute); killed {
		t.Fatal("the crawl takes too long")
	}
	had := checkStore(t, dir)
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 5))
	k := &killer{at: map[string]int{}}
	var kills []kill
	for range fromEnv("FOSSICK_KILLS", testkit.Rounds(2, 6)) {
		answers := log.lines() + rng.IntN(hosts*pages)
		goesOn(kills)
		if killed, _ := runAndKillWhen(t, refresh("1ns"), 2*time.Minute, func() bool { return log.lines() > answers }); killed {
			k.at["in refresh"]++
			kills = append(kills, kill{at: time.Now()})
		}
		if !sound(t, dir, k) {
			t.Fatal("the store has gone")
		}
	}
	goesOn(kills)
	before := log.lines()
	result := refreshed(t, refresh("1ns"))
	if r := result.Refreshed; r == nil || r.Asked != hosts*pages || r.NotModified+r.Changed != r.Asked || r.Changed == 0 || log.lines()-before < int(r.Asked) {
		t.Errorf("%+v, %d requests; want %d pages asked for, and some changed", r, log.lines()-before, hosts*pages)
	}
	if r := refreshed(t, refresh("1h")).Refreshed; r == nil || *r != (monitor.Refreshed{Seconds: r.Seconds}) {
		t.Errorf("%+v of pages an hour old, want none", r)
	}
	now := checkStore(t, dir)
	same := maps.Clone(now)
	maps.DeleteFunc(same, func(url, sum string) bool { return had[url] != sum })
	if len(now) != len(had) || len(same) == len(now) {
		t.Errorf("%d pages of %d, %d of them as they were; want all, and changed ones", len(now), len(had), len(same))
	}
	checkRests(t, log.requests(t), kills)
	t.Logf("%v, %d errors found by verify; of %d pages %d have changed", k.at, k.problems, len(now), len(now)-len(same))
}

func refreshed(t *testing.T, args []string) (r monitor.Result) {
	t.Helper()
	began := time.Now()
	killed, out := runAndKill(t, args, 2*time.Minute)
	if err := json.Unmarshal(out, &r); killed || err != nil {
		t.Fatalf("%v: killed %v, %v, %s", args, killed, err, out)
	}
	if took := time.Since(began).Seconds(); r.Refreshed.Seconds > took {
		t.Errorf("a session of %.3g s says that it took %.3g s", took, r.Refreshed.Seconds)
	}
	return r
}
