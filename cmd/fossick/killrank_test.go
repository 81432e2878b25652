package main

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fossick/internal/fulltest"
	"fossick/store"
)

// TestKillRank kills rank again and again, by two methods in turns: the store stays
// sound and holds no ranks, or all of one method and no other. A rank that is let end
// writes its own.
func TestKillRank(t *testing.T) {
	fulltest.Only(t, "TestKill kills the writer that writes most")
	t.Parallel()
	dir := crawledDemo(t)
	rank := func(dir, method string) []string { return []string{"rank", dir, "--method", method, "--quiet"} }
	methods := []string{"pagerank", "hits"}
	want, took := map[string]map[uint64]store.Rank{}, time.Minute
	for _, m := range methods {
		whole := filepath.Join(t.TempDir(), m)
		if err := os.CopyFS(whole, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if killed, _ := runAndKill(t, rank(whole, m), 2*time.Minute); killed {
			t.Fatal("rank takes too long")
		}
		took = min(took, time.Since(start))
		of, ranks := keptRanks(t, whole)
		if of != m || len(ranks) < 500 {
			t.Fatalf("%d ranks by %q", len(ranks), of)
		}
		want[m] = ranks
	}
	k := &killer{at: map[string]int{}}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 4))
	last, most := "", fromEnv("FOSSICK_KILLS", fulltest.Rounds(2, 10))
	for i, kills := 0, 0; kills < most && i < 4*most; i++ {
		m := methods[i%2]
		killed, _ := runAndKill(t, rank(dir, m), time.Duration(rng.Int64N(int64(took))))
		if !sound(t, dir, k) {
			t.Fatal("the store has gone")
		}
		of, ranks := keptRanks(t, dir)
		switch {
		case !killed && of != m, of != m && of != last:
			t.Errorf("after a rank by %s (killed: %v) the ranks are by %q, before by %q", m, killed, of, last)
		case !maps.Equal(ranks, want[of]):
			t.Errorf("%d ranks by %q, want %d", len(ranks), of, len(want[of]))
		}
		if killed {
			kills++
			k.at["in rank, ranks by "+of+" left"]++
		}
		last = of
	}
	if killed, _ := runAndKill(t, rank(dir, "hits"), 2*time.Minute); killed {
		t.Fatal("rank takes too long")
	}
	if of, ranks := keptRanks(t, dir); of != "hits" || !maps.Equal(ranks, want["hits"]) {
		t.Errorf("%d ranks by %q after all the kills", len(ranks), of)
	}
	t.Logf("%v, %d errors found by verify", k.at, k.problems)
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
	for r, err := range s.Ranks().All() {
		if err != nil {
			t.Fatal(err)
		}
		if ranks == nil {
			ranks = map[uint64]store.Rank{}
		}
		ranks[r.Page] = r.Rank
	}
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return method, ranks
}
