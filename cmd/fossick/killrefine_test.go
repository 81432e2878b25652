package main

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/fulltest"
	"fossick/store"
)

// TestKillRefine kills refine again and again: the store stays sound, and when one
// refine comes to its end the labels are those of one that was never killed.
func TestKillRefine(t *testing.T) {
	fulltest.Only(t, "TestKill kills a crawl")
	t.Parallel()
	dir := crawledDemo(t)
	whole := filepath.Join(t.TempDir(), "whole")
	if err := os.CopyFS(whole, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	refine := func(dir string) []string {
		return []string{"refine", dir, "--model", "../../models/topics/banking/model.fossick", "--topic", "banking", "--quiet"}
	}
	start := time.Now()
	if killed, _ := runAndKill(t, refine(whole), 2*time.Minute); killed {
		t.Fatal("refine takes too long")
	}
	took := time.Since(start)
	k := &killer{at: map[string]int{}}
	rng := rand.New(rand.NewPCG(uint64(start.UnixNano()), 3))
	for range fromEnv("FOSSICK_KILLS", fulltest.Rounds(2, 10)) {
		if killed, _ := runAndKill(t, refine(dir), time.Duration(rng.Int64N(int64(took)))); killed {
			k.at["in refine"]++
		}
		if !sound(t, dir, k) {
			t.Fatal("the store has gone")
		}
	}
	if killed, _ := runAndKill(t, refine(dir), 2*time.Minute); killed {
		t.Fatal("refine takes too long")
	}
	got, want := refinedLabels(t, dir), refinedLabels(t, whole)
	if len(want) < 500 || !maps.Equal(got, want) {
		t.Errorf("%d labels after the kills, %d without; want the same ones", len(got), len(want))
	}
	t.Logf("%d labels, %v, %d errors found by verify", len(got), k.at, k.problems)
}

// crawledDemo returns the store of a crawl of the demo set, for verbs to be killed on.
func crawledDemo(t *testing.T) (dir string) {
	t.Helper()
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	addr, _, stop, err := serveSet(t.Context(), set, web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	plan := killPlan{set: set, args: append(demoSeeds(t), "--delay", "0", "--exclude", `[?&]|/calendar/|/threads`)}
	dir = filepath.Join(t.TempDir(), "crawl")
	if killed, _ := runAndKill(t, plan.command(addr, dir), 2*time.Minute); killed {
		t.Fatal("the crawl takes too long")
	}
	return dir
}

func refinedLabels(t *testing.T, dir string) map[uint64]store.Label {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all := map[uint64]store.Label{}
	for n, err := range s.Pages() {
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.Label(n.Number)
		if err != nil {
			t.Fatal(err)
		}
		all[n.Number] = *l
	}
	return all
}
