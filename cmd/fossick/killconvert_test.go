package main

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fossick/internal/fulltest"
)

// TestKilledConvert kills a conversion of two stores again and again, and begins it again each
// time. Nothing has the final name before it is whole, and the run that is let end takes over
// what others finished, and ends with the bytes of one that was left alone.
func TestKilledConvert(t *testing.T) {
	fulltest.Only(t, "kills conversions of whole crawls; by default the tests of convert end them after each step")
	t.Parallel()
	first, second := crawledDemo(t), filepath.Join(t.TempDir(), "second")
	importCorpus(t, "demo", second)
	convert := func(to string) []string { return []string{"convert", first, second, "-o", to, "--quiet", "--json"} }
	whole, out := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "out")
	start := time.Now()
	if killed, _ := runAndKill(t, convert(whole), 2*time.Minute); killed {
		t.Fatal("it takes too long")
	}
	took := time.Since(start)
	rng := rand.New(rand.NewPCG(uint64(start.UnixNano()), 5))
	kills, found := 0, 0
	for range fromEnv("FOSSICK_KILLS", 10) {
		for rounds := 0; ; rounds++ { // each run a little longer, so that some end
			least := took * time.Duration(rounds) / 8
			killed, result := runAndKill(t, convert(out), least+time.Duration(rng.Int64N(int64(took/2))))
			if killed {
				kills++
				if _, err := os.Stat(out); err == nil {
					sameFiles(t, out, whole) // killed after the end
				}
				continue
			}
			var r convertResult
			if err := json.Unmarshal(result, &r); err != nil {
				t.Fatal(err)
			}
			found += r.Found
			break
		}
		sameFiles(t, out, whole)
		if entries, err := os.ReadDir(filepath.Dir(out)); err != nil || len(entries) != 1 {
			t.Fatalf("beside it there are %v, %v", entries, err)
		}
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
	if kills == 0 || found == 0 {
		t.Errorf("%d kills, %d files taken over: this test means little", kills, found)
	}
	t.Logf("%d kills, %d files taken over, %v alone", kills, found, took)
}
