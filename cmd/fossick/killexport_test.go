package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fossick/export"
	"fossick/internal/fulltest"
)

// TestKilledExport kills exports at random moments. Each time there is nothing under the
// final name, or all of it, and the last run finds what an undisturbed one writes.
func TestKilledExport(t *testing.T) {
	fulltest.Only(t, "kills exports of a whole crawl; by default the tests of export look at each moment")
	t.Parallel()
	dir := crawledDemo(t)
	export := func(to string) []string {
		return []string{"export", dir, "--to", "jsonl,parquet,csv,text,links,gexf,graph,sites", "-o", to, "--quiet"}
	}
	whole, out := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "out")
	start := time.Now()
	if killed, _ := runAndKill(t, export(whole), 2*time.Minute); killed {
		t.Fatal("export takes too long")
	}
	took := time.Since(start)
	rng := rand.New(rand.NewPCG(uint64(start.UnixNano()), 4))
	kills := 0
	for range fromEnv("FOSSICK_KILLS", 10) {
		if killed, _ := runAndKill(t, export(out), time.Duration(rng.Int64N(int64(took)))); killed {
			kills++
		}
		if _, err := os.Stat(out); err == nil {
			sameFiles(t, out, whole)
		}
	}
	if killed, _ := runAndKill(t, export(out), 2*time.Minute); killed {
		t.Fatal("export takes too long")
	}
	sameFiles(t, out, whole)
	if entries, err := os.ReadDir(filepath.Dir(out)); err != nil || len(entries) != 1 {
		t.Errorf("beside the export there are %v, %v", entries, err)
	}
	t.Logf("%d kills", kills)
}

func sameFiles(t *testing.T, got, want string) {
	t.Helper()
	if same, err := export.Equal(got, want); err != nil || !same {
		t.Fatalf("%s and %s differ: %v", got, want, err)
	}
}
