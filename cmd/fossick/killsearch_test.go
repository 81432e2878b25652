package main

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"fossick/export/search"
	"fossick/internal/fulltest"
)

// TestKillSearch kills searches while they make the index: the next goes on, and finds what
// a search finds that was never killed.
func TestKillSearch(t *testing.T) {
	fulltest.Only(t, "crawls, and kills many processes")
	t.Parallel()
	dir := crawledDemo(t)
	line := []string{"search", dir, "bank", "--json", "--quiet", "--limit", "1000"}
	found := func() string {
		killed, out := runAndKill(t, line, 2*time.Minute)
		if killed {
			t.Fatal("the search takes too long")
		}
		var r struct{ Results json.RawMessage }
		if err := json.Unmarshal(out, &r); err != nil || len(r.Results) < 1000 {
			t.Fatalf("%v: %s", err, out)
		}
		return string(r.Results)
	}
	began := time.Now()
	want := found()
	took := time.Since(began)
	rng := rand.New(rand.NewPCG(uint64(began.UnixNano()), 4))
	kills := 0
	for range fulltest.Rounds(2, 20) {
		if err := search.Remove(dir); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if killed, _ := runAndKill(t, line, time.Duration(rng.Int64N(int64(took)))); killed {
				kills++
			}
		}
		if got := found(); got != want {
			t.Fatalf("after kills %s\nwant %s", got, want)
		}
	}
	t.Logf("%d kills", kills)
}
