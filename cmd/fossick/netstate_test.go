package main

import (
	"cmp"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fossick/crawler/fetch"
	"fossick/datasets/web"
	"fossick/internal/fulltest"
	"fossick/store"
	"fossick/store/change"
)

// TestChancesOfFaultyCrawl reads the journal of a crawl of a web with pages that fail once,
// always, or not, and of two refreshes of it. On visits to URLs that were visited
// before, the predictor beats "as last time" and paper E's chain.
func TestChancesOfFaultyCrawl(t *testing.T) {
	fulltest.Only(t, "waits for the rests that failures ask for")
	t.Parallel()
	names := []string{"busy-503", "busy-429", "busy-nonsense", "status-500", "status-403", "status-410"}

	addr, _, stop, err := serveSet(t.Context(), linkedWeb(24, 5), web.Options{Faults: web.FaultPlan{Share: .4, Names: names}})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	plan := killPlan{args: []string{"--seed", "http://h0.test/0"}}
	dir := filepath.Join(t.TempDir(), "crawl")
	args := plan.command(addr, dir)
	for range 3 {
		if killed, _ := runAndKill(t, args, 2*time.Minute); killed {
			t.Fatal("the crawl takes too long")
		}
		args = append(plan.command(addr, dir), "--resume", "--refresh", "1ms")
	}
	visits := journal(t, dir)
	p := change.NewPredictor(change.PredictorOptions{})
	before := map[string]bool{}
	var ours, chain, last float64
	n := 0
	for _, v := range visits {
		good := v.Outcome == change.OK
		truth := share(good, 1, 0)
		if was, seen := before[v.URL]; seen {
			n++
			ours += square(p.Chance(v.URL, v.Host, v.At) - truth)
			chain += square(share(was, .9638, 1-.7426) - truth)
			last += square(share(was, 1, 0) - truth)
		}
		before[v.URL] = good
		p.Learn(v)
	}
	t.Logf("%d visits to URLs visited before, of %d, faults %v: Brier score %.4f, paper E's chain %.4f, as last time %.4f",
		n, len(visits), names, ours/float64(n), chain/float64(n), last/float64(n))
	if n < 100 || ours >= last || ours >= chain {
		t.Error("want 100 visits at least, and less than both")
	}
}

func square(x float64) float64 { return x * x }

func share(good bool, yes, no float64) float64 {
	if good {
		return yes
	}
	return no
}

// journal returns a crawl's visits as they were made.
func journal(t *testing.T, dir string) (visits []change.Attempt) {
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for v, err := range s.URLs().Visits() {
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(v.URL)
		if err != nil {
			t.Fatal(err)
		}
		visits = append(visits, change.Attempt{URL: v.URL, Host: u.Host, At: time.UnixMilli(v.Start), Outcome: outcomeOf(v.Visit)})
	}
	slices.SortStableFunc(visits, func(a, b change.Attempt) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
	return visits
}

// outcomeOf is the class of a visit's state.
func outcomeOf(v store.Visit) change.Outcome {
	switch fetch.State(v.State) {
	case fetch.StateOK, fetch.StateNotModified, fetch.StateDuplicate, fetch.StateRedirect:
		return change.OK
	case fetch.StateCode:
		if v.Code != 429 && v.Code < 500 {
			return change.Permanent
		}
	}
	return change.Transient
}
