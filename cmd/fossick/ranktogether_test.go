package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/bus"
	"fossick/datasets/web"
	"fossick/internal/fulltest"
	"fossick/store"
)

// rankFile reads what rank --output wrote.
func rankFile(t *testing.T, path string) map[string]float64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	scores := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		node, score, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		x, err := strconv.ParseFloat(score, 64)
		if _, had := scores[node]; !ok || err != nil || had {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		scores[node] = x
	}
	return scores
}

// farFrom is the distance of scores in the L1 norm.
func farFrom(t *testing.T, got, want map[string]float64) (off float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d nodes, want %d", len(got), len(want))
	}
	for node, x := range want {
		off += math.Abs(got[node] - x)
	}
	return off
}

// TestRankTogether: agents in processes of their own, each with its store alone, come by an
// exchange to the ranks that rank gives their stores on one machine. One was killed before
// all were there. Another ranking, without the first's settings, is refused.
func TestRankTogether(t *testing.T) {
	fulltest.Only(t, "it waits for processes; package cluster has the ways")
	t.Parallel()
	addr, _, stop, err := serveSet(t.Context(), linkedWeb(12, 12), web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dir := t.TempDir()
	crawl := filepath.Join(dir, "crawl")
	runAndKill(t, []string{"focus", "--topic", "all", "--keywords", "the,of,and", "--threshold", "0", "--proxy", "http://" + addr, "--delay", "0",
		"--near-duplicates", "keep", "--seed", "http://h0.test/0", "--max-pages", "130", "--agents", "3", "--store", crawl, "--quiet"}, time.Minute)
	exact := filepath.Join(dir, "exact")
	runAndKill(t, []string{"rank", crawl, "--epsilon", "1e-13", "-o", exact, "--quiet"}, time.Minute)
	want := rankFile(t, exact)
	s, err := bus.Serve(bus.ServeOptions{Crawl: "all", Agent: "00000000000000aa", Dir: filepath.Join(dir, "nats"), Clients: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	command := func(i int, more ...string) []string {
		return append([]string{"rank", store.AgentDir(crawl, i), "--crawl", "all", "--nats", "nats://" + s.Addr(), "-o", filepath.Join(dir, fmt.Sprint("ranks-", i)), "--json"}, more...)
	}
	if code, text := said(t, command(0)...); code != exitFailed || !strings.Contains(text, `knows no agent of a crawl \"all\"`) {
		t.Errorf("without a crawl: %d, %s", code, text)
	}
	if killed, _ := runAndKill(t, command(1, "--agents", "3", "--quiet"), 2*time.Second); !killed {
		t.Error("it ranked without the others")
	}
	got, results := map[string]float64{}, make([]rankResult, 3)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() {
			killed, out := runAndKill(t, command(i, "--agents", "3", "--quiet"), time.Minute)
			if err := json.Unmarshal(out, &results[i]); err != nil || killed {
				t.Errorf("agent %d: killed %v, %v, %s", i, killed, err, out)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	pages := uint64(0)
	for i, r := range results {
		for node, x := range rankFile(t, *r.File) {
			got[node] = x
		}
		method, ranks := keptRanks(t, store.AgentDir(crawl, i))
		if r.Agents != 3 || r.Nodes != len(want) || r.Rounds != results[0].Rounds || method != "pagerank" || *r.Pages != uint64(len(ranks)) {
			t.Errorf("agent %d: %+v; %d ranks kept", i, r, len(ranks))
		}
		pages += *r.Pages
	}
	if off := farFrom(t, got, want); off > 1e-10 || pages != 130 {
		t.Errorf("%d pages, off by %g", pages, off)
	}
	b, err := bus.Open(t.Context(), bus.Options{Crawl: "all", Agent: cluster.AgentID(newAgentID()), URL: "nats://" + s.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	was, waits := rosterAt(t, b), make(chan string)
	go func() {
		_, text := said(t, command(0, "--agents", "2")...)
		waits <- text
	}()
	for rosterAt(t, b) == was {
		time.Sleep(50 * time.Millisecond)
	}
	if killed, _ := runAndKill(t, command(1, "--agents", "3", "--quiet"), 3*time.Second); !killed {
		t.Error("it ranked without the others")
	}
	if text := <-waits; !strings.Contains(text, "other settings") {
		t.Errorf("other settings: %s", text)
	}
}

// TestRankTogetherKilled kills one of three agents anywhere in the ranking, each in turn, so once
// the one that leads. It comes back, and all come to their ranks. When the others had
// theirs by then they rank again, as the documents say.
func TestRankTogetherKilled(t *testing.T) {
	fulltest.Only(t, "TestOverExchange has deaths at every moment, in one process")
	t.Parallel()
	dir := t.TempDir()
	s, err := bus.Serve(bus.ServeOptions{Crawl: "all", Agent: "00000000000000aa", Dir: filepath.Join(dir, "nats"), Clients: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	paths := threeLists(t, dir)
	exact := filepath.Join(dir, "exact")
	runAndKill(t, append([]string{"rank", "--epsilon", "1e-13", "-o", exact, "--quiet"}, paths...), time.Minute)
	want := rankFile(t, exact)
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	kills := 0
	for round := range 9 {
		victim := round % len(paths)
		var back atomic.Bool // the victim has its ranks
		has := func(path string) bool {
			_, err := os.Stat(path + ".ranks")
			return err == nil
		}
		for _, path := range paths {
			if err := os.RemoveAll(path + ".ranks"); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		for i, path := range paths {
			args := []string{"rank", path, "--crawl", fmt.Sprint("all-", round), "--agents", "3", "--nats", "nats://" + s.Addr(), "-o", path + ".ranks", "--quiet", "--top", "0"}
			all.Go(func() {
				if i == victim {
					after := time.Duration(150+rng.IntN(600)) * time.Millisecond
					killed, _ := runAndKill(t, args, after)
					t.Logf("agent %d: killed %v, after at most %v", i, killed, after)
					if killed {
						kills++
						killed, _ = runAndKill(t, args, 2*time.Minute)
					}
					if killed {
						t.Errorf("agent %d did not come back", i)
					}
					back.Store(true)
					return
				}
				over := func() bool { return back.Load() && has(path) } // not before: it is about to have them
				for !over() {
					runAndKillWhen(t, args, 2*time.Minute, over)
					for waited := 0; waited < 150 && !back.Load(); waited++ {
						time.Sleep(100 * time.Millisecond)
					}
				}
			})
		}
		all.Wait()
		got := map[string]float64{}
		for _, path := range paths {
			for node, x := range rankFile(t, path+".ranks") {
				got[node] = x
			}
		}
		if off := farFrom(t, got, want); off > 1e-10 {
			t.Errorf("agent %d killed: off by %g", victim, off)
		}
	}
	if kills < 3 {
		t.Errorf("%d kills in 9 rankings", kills)
	}
}

// threeLists writes a made-up web as lists of links, pages dealt at random.
func threeLists(t *testing.T, dir string) (paths []string) {
	t.Helper()
	whole := filepath.Join(dir, "whole.tsv")
	runAndKill(t, []string{"graph", "synthetic:40000", "--edges", whole, "--quiet"}, time.Minute)
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	var parts [3]strings.Builder
	for line := range strings.Lines(string(text)) {
		from, _, _ := strings.Cut(line, "\t")
		n, err := strconv.ParseUint(from, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		parts[n*2654435761>>16%3].WriteString(line)
	}
	for i := range parts {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("part-%d.tsv", i)))
		if err := os.WriteFile(paths[i], []byte(parts[i].String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// rankAsTheyCrawled ranks the stores one, two and three of a crawl by agents: the first has the
// server, whose values say who is awaited. It wants what rank says of all on one machine.
func rankAsTheyCrawled(t *testing.T, dir, port string) {
	names, got := []string{"one", "two", "three"}, map[string]float64{}
	exact := filepath.Join(dir, "exact")
	runAndKill(t, []string{"rank", "--epsilon", "1e-13", "-o", exact, "--quiet", filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "three")}, time.Minute)
	var all sync.WaitGroup
	for _, name := range names {
		args := []string{"rank", filepath.Join(dir, name), "--crawl", "all", "-o", filepath.Join(dir, "ranks-"+name), "--quiet"}
		if name == "one" {
			args = append(args, "--local", port)
		} else {
			args = append(args, "--nats", "nats://127.0.0.1:"+port)
		}
		all.Go(func() {
			if killed, _ := runAndKill(t, args, 2*time.Minute); killed {
				t.Errorf("%s did not come to its ranks", name)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	for _, name := range names {
		for node, x := range rankFile(t, filepath.Join(dir, "ranks-"+name)) {
			got[node] = x
		}
	}
	if off := farFrom(t, got, rankFile(t, exact)); off > 1e-10 {
		t.Errorf("ranked by agents: off by %g", off)
	}
}

// rosterAt is the revision of what agents said last that want to rank.
func rosterAt(t *testing.T, b *bus.Bus) uint64 {
	t.Helper()
	values, err := b.Values(t.Context(), "task.rank")
	if err != nil {
		t.Fatal(err)
	}
	return values["task.rank"].Revision
}
