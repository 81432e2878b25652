package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"fossick/crawler/cluster/bus"
	"fossick/datasets/web"
	"fossick/eval/monitor"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestAgentsByNATS runs three agent processes that share a crawl through the first one's server;
// one is killed and restarted. Every page is stored exactly once, and the server's log shows no
// concurrent requests to a host and no rest cut short.
func TestAgentsByNATS(t *testing.T) {
	testkit.Only(t, "agents wait for each other's leases")
	t.Parallel()
	log := &requestLog{}
	addr, _ := served(t, linkedWeb(20, 20), web.Options{Log: log, Latency: 30 * time.Millisecond})
	port, dir := freePort(t), t.TempDir()
	command := func(name string) []string {
		p := killPlan{args: []string{"--seed", "http://h0.test/0"}}
		args := append([]string{"agent"}, p.command(addr, filepath.Join(dir, name))[1:]...)
		if name == "two" {
			args[0] = "coordinator"
		}
		if name == "one" {
			return append(args, "--local", port)
		}
		return append(args, "--nats", "nats://127.0.0.1:"+port)
	}
	results := map[string]monitor.Result{}
	var mu sync.Mutex // guards results, kills and coordinator
	var kills []kill
	coordinator := ""
	var all sync.WaitGroup
	for _, name := range []string{"one", "two", "three"} {
		all.Go(func() {
			if name == "three" {
				answers := 120
				if killed, _ := runAndKillWhen(t, command(name), 5*time.Minute, func() bool { return log.lines() > answers }); killed {
					now := coordinatorAt(t, port)
					mu.Lock()
					coordinator = now
					kills = append(kills, kill{at: time.Now(), next: time.Now()})
					mu.Unlock()
				}
			}
			killed, out := runAndKill(t, command(name), 5*time.Minute)
			var r monitor.Result
			if err := json.Unmarshal(out, &r); err != nil || killed {
				t.Errorf("%s: killed %v, %v, %s", name, killed, err, out)
			}
			mu.Lock()
			defer mu.Unlock()
			results[name] = r
		})
	}
	all.Wait()
	pages := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		r := results[name]
		t.Logf("%s: %d pages, %d requests, %s", name, r.Fetched, r.Requests, r.Stopped)
		if r.Stopped != "frontier_empty" && r.Stopped != "nothing_fetched" {
			t.Errorf("%s ended with %s", name, r.Stopped)
		}
		for u, sum := range checkStore(t, filepath.Join(dir, name)) {
			if _, twice := pages[u]; twice {
				t.Errorf("%s is stored by two agents", u)
			}
			pages[u] = sum
		}
	}
	if s, err := store.Open(filepath.Join(dir, "two")); err != nil || s.Info().Agent != coordinator || s.Close() != nil {
		t.Errorf("%q coordinated, %v; want the one that prefers to", coordinator, err)
	}
	rankAsTheyCrawled(t, dir, port)
	if code, text := said(t, "focus", "--resume", "--store", filepath.Join(dir, "one")); code != exitUsage || !strings.Contains(text, "resume it with fossick agent --store ") {
		t.Errorf("focus of an agent's store ended with %d: %s", code, text)
	}
	if len(kills) != 1 || len(pages) != 20*20 {
		t.Errorf("%d pages are stored, want %d; %d kills", len(pages), 20*20, len(kills))
	}
	requests := log.requests(t)
	again := checkRepeats(t, requests, kills)
	j := mannersJudge{log: requests, kills: kills, delay: killRest, robots: readRobots(t, addr, requests)}
	j.judge().report(t)
	t.Logf("%d requests, %d repeated", len(requests), again)
}

func coordinatorAt(t *testing.T, port string) string {
	_, out := runAndKill(t, []string{"cluster", "status", "--crawl", "all", "--nats", "nats://127.0.0.1:" + port, "--json"}, time.Minute)
	var s monitor.Agents
	if err := json.Unmarshal(out, &s); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	return s.Coordinator
}

// TestAgentDiesByNATS kills one of three agents for good. The others fetch the rest of the web;
// without --refetch-lost they repeat no request answered two seconds or more before the kill.
func TestAgentDiesByNATS(t *testing.T) {
	testkit.Only(t, "agents wait for each other's leases")
	t.Parallel()
	t.Run("its pages are told as lost", func(t *testing.T) { agentDies(t, false) })
	t.Run("its pages are asked for again", func(t *testing.T) { agentDies(t, true, "--refetch-lost") })
}

func agentDies(t *testing.T, kept bool, flags ...string) {
	t.Parallel()
	log := &requestLog{}
	addr, _, stop, err := serveSet(t.Context(), linkedWeb(20, 40), web.Options{Log: log, Latency: 300 * time.Millisecond}) // slow enough for all to join before the crawl ends
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	port, dir := freePort(t), t.TempDir()
	const contact = "@agent.test" // tells in the log which agent sent a request
	command := func(name string) []string {
		p := killPlan{args: []string{"--seed", "http://h0.test/0", "--contact", name + contact}}
		args := slices.Concat([]string{"agent"}, p.command(addr, filepath.Join(dir, name))[1:], flags)
		if name == "one" {
			return append(args, "--local", port)
		}
		return append(args, "--nats", "nats://127.0.0.1:"+port)
	}
	var died time.Time
	var all sync.WaitGroup
	for _, name := range []string{"one", "two", "three"} {
		all.Go(func() {
			if name == "three" {
				if killed, _ := runAndKillWhen(t, command(name), 5*time.Minute, func() bool { return log.linesWith("three"+contact) > 100 }); !killed {
					t.Error("it ended before it was killed")
				}
				died = time.Now()
				return
			}
			if killed, out := runAndKill(t, command(name), 8*time.Minute); killed {
				t.Errorf("%s does not end: %s", name, out)
			}
		})
	}
	all.Wait()
	requests := log.requests(t)
	slices.SortFunc(requests, func(a, b request) int { return a.Start.Compare(b.Start) })
	had := map[string]bool{} // of the killed agent
	for u := range checkStore(t, filepath.Join(dir, "three")) {
		had[page.Host(u)] = true
	}
	answered, again, pages, first := map[string]time.Time{}, 0, 0, time.Time{}
	for _, r := range requests {
		if r.Path == "/robots.txt" {
			continue
		}
		before, twice := answered[r.Host+r.Path]
		switch {
		case twice && !kept && before.Before(died.Add(-2*time.Second)):
			t.Errorf("%s%s was asked for again, %v after the first time", r.Host, r.Path, r.Start.Sub(before))
		case twice:
			again++
		case r.Status == 200:
			pages++
		}
		if had[r.Host] && r.Start.After(died.Add(5*time.Second)) && first.IsZero() {
			first = r.Start
		}
		answered[r.Host+r.Path] = r.End
	}
	stored, lost := 0, 0
	for _, name := range []string{"one", "two"} {
		stored += len(checkStore(t, filepath.Join(dir, name)))
		s, err := store.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		n, err := s.Counts()
		if err = errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		lost += int(n.States["lost"])
	}
	if stored+lost != 20*40 || (lost == 0) != kept {
		t.Errorf("%d pages are stored and %d told as lost, of %d", stored, lost, 20*40)
	}
	if pages != 20*40 || len(had) == 0 || first.IsZero() {
		t.Errorf("%d pages, want %d; %d hosts were the dead one's", pages, 20*40, len(had))
	}
	j := mannersJudge{log: requests, kills: []kill{{at: died, next: died}}, delay: killRest, robots: readRobots(t, addr, requests)}
	j.judge().report(t)
	t.Logf("%d requests, %d repeated, %d pages lost; the dead one's %d hosts are asked again %v after its end", len(requests), again, lost, len(had), first.Sub(died).Round(time.Second))
}

func freePort(t *testing.T) string {
	l := testkit.Call(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	_ = l.Close() // frees the port for the server under test
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// rankFile reads the scores that rank --output wrote.
func rankFile(t *testing.T, path string) map[string]float64 {
	t.Helper()
	text := testkit.Call(os.ReadFile(path)).Must(t)
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

// farFrom returns the L1 distance between two sets of scores.
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

// rankAsTheyCrawled ranks three agents' stores together, through the first one's server, and
// compares the scores with those of one machine.
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

// beBroker gives this test binary another role: to serve an exchange, a broker as JSON, without an agent.
const beBroker = "FOSSICK_TEST_BE_BROKER"

// broker is an exchange's server in its own process.
type broker struct {
	Options bus.ServeOptions
	Keys    string // folder of the keys
}

// beBrokerAsTold serves until its standard input closes, so that it ends with the test.
func beBrokerAsTold(text string) {
	var b broker
	err := json.Unmarshal([]byte(text), &b)
	if err == nil {
		b.Options.Secrets, err = bus.ReadSecrets(b.Keys, time.Now())
	}
	if err == nil {
		_, err = bus.Serve(b.Options)
	}
	fmt.Fprintln(os.Stderr, "serving", err)
	if err == nil {
		_, _ = io.Copy(io.Discard, os.Stdin)
	}
	os.Exit(1)
}
