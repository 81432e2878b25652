package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/bus"
	"fossick/datasets/corpusweb"
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
	fulltest.Only(t, "it waits for processes; cluster/peers and cluster/blockrank have the ways")
	t.Parallel()
	addr, _, stop, err := serveSet(t.Context(), linkedWeb(12, 12), corpusweb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dir := t.TempDir()
	crawl := filepath.Join(dir, "crawl")
	runAndKill(t, []string{"focus", "--topic", "all", "--keywords", "the,of,and", "--threshold", "0", "--proxy", "http://" + addr, "--delay", "0",
		"--also", "near-duplicates", "--seed", "http://h0.test/0", "--max-pages", "130", "--agents", "3", "--store", crawl, "--quiet"}, time.Minute)
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
