package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fossick/datasets/web"
	"fossick/eval/monitor"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestReadersOfACrawl runs readers on a store that a crawl is writing, and kills some of them. Each
// sees a sound store of one moment; the crawl's pages and their order do not change.
func TestReadersOfACrawl(t *testing.T) {
	testkit.Only(t, "kills readers of a long crawl; by default reading.txtar reads one")
	log := &requestLog{}
	addr, _ := served(t, linkedWeb(20, 20), web.Options{Log: log, Latency: 40 * time.Millisecond})
	crawl := func(dir string) []string {
		return []string{
			"focus", "--topic", "all", "--keywords", "page,host", "--threshold", "0", "--links", "all", "--json", "--quiet",
			"--proxy", "http://" + addr, "--delay", "0", "--workers", "1", "--max-pages", "150", "--store", dir,
			"--also", "near-duplicates", "--seed", "http://h0.test/0",
		}
	}
	alone, read := filepath.Join(t.TempDir(), "alone"), filepath.Join(t.TempDir(), "read")
	if killed, _ := runAndKill(t, crawl(alone), 2*time.Minute); killed {
		t.Fatal("the crawl takes too long")
	}
	began, ended := log.lines(), make(chan []byte, 1)
	go func() {
		_, out := runAndKill(t, crawl(read), 5*time.Minute)
		ended <- out
	}()
	for tick := time.NewTicker(time.Millisecond); log.lines() < began+20; <-tick.C {
	}
	t.Setenv("TMPDIR", t.TempDir()) // for what killed readers leave behind
	readers := [][]string{
		{"verify", read, "--json"}, {"eval", read, "--json"}, {"rank", read, "--json"}, {"stats", read, "--json"},
		{"simulate", read, "--order", "bfs", "--max-pages", "5", "--json"}, {"graph", read, "-o", filepath.Join(t.TempDir(), "graph"), "--json"},
	}
	during, last := 0, uint64(0)
	var result []byte
	for n := 0; result == nil; n++ {
		reader := readers[n%len(readers)]
		if n%7 == 3 {
			runAndKill(t, reader, time.Duration(n*3)*time.Millisecond)
		} else if killed, out := runAndKill(t, reader, time.Minute); killed {
			t.Fatalf("%v takes too long", reader)
		} else {
			last = checkReader(t, reader, out, last)
			during++
		}
		select {
		case result = <-ended:
		default:
		}
	}
	if during < 2 {
		t.Errorf("%d readers while the crawl went on: this test means little", during)
	}
	var r monitor.Result
	if err := json.Unmarshal(result, &r); err != nil || r.Fetched != 150 {
		t.Errorf("the crawl: %v, %s", err, result)
	}
	checkStore(t, read)
	if got, want := storedOrder(t, read), storedOrder(t, alone); !slices.Equal(got, want) {
		t.Errorf("with readers the pages are\n%q, alone\n%q", got, want)
	}
}

// checkReader checks that a reader saw a sound store, with no fewer pages than the one before.
func checkReader(t *testing.T, reader []string, out []byte, last uint64) uint64 {
	t.Helper()
	var r struct {
		Errors  []store.Problem
		Fetched *uint64
	}
	if err := json.Unmarshal(out, &r); err != nil || len(r.Errors) > 0 {
		t.Errorf("%v: %v, %s", reader, err, out)
	}
	if r.Fetched == nil {
		return last
	}
	if *r.Fetched < last || *r.Fetched == 0 {
		t.Errorf("%v: %d pages after %d", reader, *r.Fetched, last)
	}
	return *r.Fetched
}
