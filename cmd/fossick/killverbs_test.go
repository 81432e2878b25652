package main

import (
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fossick/datasets/web"
	"fossick/export"
	"fossick/export/search"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestKillVerbs kills verbs with SIGKILL at random moments of their work on a crawl. After each kill
// the store is sound and holds the whole result or none; a last run gives the result of a run that was
// never killed.
func TestKillVerbs(t *testing.T) {
	testkit.Only(t, "kills many processes; by default TestKill kills a crawl")
	t.Parallel()
	crawl, second := crawledDemo(t), filepath.Join(t.TempDir(), "second")
	importCorpus(t, "demo", second)
	for name, v := range map[string]killedVerb{
		"refine": {
			args: func(dir, _ string) []string {
				return []string{"refine", dir, "--model", "banking", "--topic", "banking"}
			},
			result: func(t *testing.T, dir, _ string) any { return keptLabels(t, dir) },
			part:   true, // it writes label by label, and the next run completes them
		},
		"rank": {
			args:   func(dir, _ string) []string { return []string{"rank", dir, "--method", "hits"} },
			result: func(t *testing.T, dir, _ string) any { _, ranks := keptRanks(t, dir); return ranks },
		},
		"search": {
			args: func(dir, _ string) []string { return []string{"search", dir, "bank", "--json", "--limit", "1000"} },
			reset: func(t *testing.T, dir string) {
				testkit.Must(t, search.Remove(dir))
			},
			prints: true,
		},
		"export": {args: func(dir, out string) []string {
			return []string{"export", dir, "--to", "jsonl,parquet,csv,text,links,gexf,graph,sites", "-o", out}
		}},
		"convert": {args: func(dir, out string) []string { return []string{"convert", dir, second, "-o", out} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killVerb(t, crawl, v)
		})
	}
}

// killedVerb is a verb to kill. Without result or prints, its result is the folder that it writes.
type killedVerb struct {
	args   func(dir, out string) []string
	result func(t *testing.T, dir, out string) any // reads the result from a store
	reset  func(t *testing.T, dir string)          // before each run that is killed
	prints bool                                    // the result is its output
	part   bool                                    // a kill may leave a part of the result
}

func killVerb(t *testing.T, crawl string, v killedVerb) {
	dir, whole := filepath.Join(t.TempDir(), "crawl"), filepath.Join(t.TempDir(), "whole")
	outs := t.TempDir()
	out, wholeOut := filepath.Join(outs, "out"), filepath.Join(t.TempDir(), "out")
	for _, to := range []string{dir, whole} {
		testkit.Must(t, os.CopyFS(to, os.DirFS(crawl)))
	}
	run := func(dir, out string) []byte {
		killed, printed := runAndKill(t, append(v.args(dir, out), "--quiet"), 2*time.Minute)
		if killed {
			t.Fatal("it takes too long")
		}
		return printed
	}
	if v.result == nil && !v.prints {
		whole = dir // the folder names its store
	}
	start := time.Now()
	want := run(whole, wholeOut)
	took := time.Since(start)
	empty := any(nil)
	if v.result != nil {
		empty = v.result(t, dir, out)
	}
	same := func(after string) {
		t.Helper()
		if v.result != nil {
			if got, want := v.result(t, dir, out), v.result(t, whole, wholeOut); !equal(got, want) && (after == "" || !v.part && !equal(got, empty)) {
				t.Fatalf("%s: got %.300v, want %.300v", after, got, want)
			}
		} else if _, err := os.Stat(out); !v.prints && (err == nil || after == "") {
			if same, err := export.Equal(out, wholeOut); err != nil || !same {
				t.Fatalf("%s: %s and %s differ: %v", after, out, wholeOut, err)
			}
		}
	}
	k := &killer{at: map[string]int{}}
	rng := rand.New(rand.NewPCG(uint64(start.UnixNano()), 3))
	for range fromEnv("FOSSICK_KILLS", 5) {
		if v.reset != nil {
			v.reset(t, dir)
		}
		begin := time.Now()
		if killed, _ := runAndKill(t, append(v.args(dir, out), "--quiet"), time.Duration(rng.Int64N(int64(took)))); killed {
			k.at["killed"]++
		} else {
			took = min(took, time.Since(begin)) // beside other tests the first run was slower
		}
		if !sound(t, dir, k) {
			t.Fatal("the store has gone")
		}
		same("after a kill")
	}
	if got := run(dir, out); v.prints && !slices.Equal(resultsIn(t, got), resultsIn(t, want)) {
		t.Errorf("got %.300s, want %.300s", got, want)
	}
	same("")
	if entries, err := os.ReadDir(outs); err != nil || len(entries) > 1 {
		t.Errorf("beside the result there are %v, %v", entries, err)
	}
	if k.at["killed"] == 0 {
		t.Error("no run was killed: the test tests nothing")
	}
	t.Logf("%v, %d errors found by verify, %v alone", k.at, k.problems, took)
}

func equal(a, b any) bool {
	switch a := a.(type) {
	case map[uint64]store.Label:
		return maps.Equal(a, b.(map[uint64]store.Label))
	case map[uint64]store.Rank:
		return maps.Equal(a, b.(map[uint64]store.Rank))
	}
	return a == b
}

// resultsIn returns the results that search prints, without its times.
func resultsIn(t *testing.T, printed []byte) []byte {
	t.Helper()
	var r struct{ Results json.RawMessage }
	if err := json.Unmarshal(printed, &r); err != nil || len(r.Results) < 1000 {
		t.Fatalf("%v: %.300s", err, printed)
	}
	return r.Results
}

func keptLabels(t *testing.T, dir string) map[uint64]store.Label {
	t.Helper()
	s := testkit.Call(store.Open(dir)).Must(t)
	defer s.Close()
	all := map[uint64]store.Label{}
	for p := range testkit.All(t, s.Pages()) {
		if l, err := s.Label(p.Number); err != nil {
			t.Fatal(err)
		} else if l != nil {
			all[p.Number] = *l
		}
	}
	return all
}

func crawledDemo(t *testing.T) (dir string) {
	t.Helper()
	set := demoSet(t)
	addr, _ := served(t, set, web.Options{})
	plan := killPlan{set: set, args: append(demoSeeds(t), "--delay", "0", "--exclude", `[?&]|/calendar/|/threads`)}
	dir = filepath.Join(t.TempDir(), "crawl")
	if killed, _ := runAndKill(t, plan.command(addr, dir), 2*time.Minute); killed {
		t.Fatal("the crawl takes too long")
	}
	return dir
}

// keptRanks returns the ranks of a store and their method, "" when there are none.
func keptRanks(t *testing.T, dir string) (method string, ranks map[uint64]store.Rank) {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	ranking, err := s.Ranks().Last()
	if err != nil {
		t.Fatal(err)
	}
	if ranking != nil {
		method = ranking.Method
	}
	for r := range testkit.All(t, s.Ranks().All()) {
		if ranks == nil {
			ranks = map[uint64]store.Rank{}
		}
		ranks[r.Page] = r.Rank
	}
	testkit.Must(t, errors.Join(err, s.Close()))
	return method, ranks
}
