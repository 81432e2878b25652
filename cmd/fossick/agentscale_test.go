package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fossick/crawler/cluster/bus"
	"fossick/datasets/web"
)

// Of TestAgentsScale: a web that is bound by latency and rests, and for how long it is
// crawled before and while requests are counted.
const (
	scaleHosts   = 10_000
	scalePages   = 4 // a host
	scaleLatency = 200 * time.Millisecond
	scaleRest    = 2 * time.Second
	scaleWorkers = 8 // an agent
	scaleBefore  = 20 * time.Second
	scaleWindow  = 40 * time.Second
)

// TestAgentsScale says how many requests a second 1, 2, 4 and 8 agents make, each a process
// with its own workers, by one server and by three that make a cluster, and what convert and
// rank of their stores take:
//
//	FOSSICK_SCALE=1 go test ./cmd/fossick -run TestAgentsScale -v -timeout 30m
func TestAgentsScale(t *testing.T) {
	if os.Getenv("FOSSICK_SCALE") == "" {
		t.Skip("set FOSSICK_SCALE=1 to measure crawls of 1, 2, 4 and 8 agents; takes a quarter of an hour")
	}
	pages := linkedWeb(scaleHosts, scalePages)
	var seeds strings.Builder
	for h := 0; h < scaleHosts; h += 5 {
		fmt.Fprintf(&seeds, "http://h%d.test/0\n", h)
	}
	list := filepath.Join(t.TempDir(), "seeds")
	if err := os.WriteFile(list, []byte(seeds.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var one float64
	for _, c := range []struct{ agents, servers int }{{1, 1}, {2, 1}, {4, 1}, {8, 1}, {4, 3}, {8, 3}} {
		agents := c.agents
		log := &requestLog{}
		addr, _, stop, err := serveSet(t.Context(), pages, web.Options{Log: log, Latency: scaleLatency})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		rate := crawlInParallel(t, agents, c.servers, addr, list, dir, log)
		j := mannersJudge{log: log.requests(t), delay: scaleRest}
		j.judge().report(t)
		stop()
		if agents == 1 {
			one = rate
		}
		t.Logf("%d agents, %d servers: %.1f requests a second, %.2f of one", agents, c.servers, rate, rate/one)
		var stores []string
		for i := range agents {
			stores = append(stores, filepath.Join(dir, fmt.Sprint("agent-", i)))
		}
		began := time.Now()
		runAndKill(t, append([]string{"convert", "--quiet", "-o", filepath.Join(dir, "converted")}, stores...), time.Minute)
		converted := time.Now()
		_, out := runAndKill(t, append([]string{"rank", "--json", "--quiet"}, stores...), time.Minute)
		var ranked struct{ Pages int }
		if err := json.Unmarshal(out, &ranked); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		t.Logf("%d pages: crawl %v, convert %v, rank %v", ranked.Pages, scaleBefore+scaleWindow, converted.Sub(began), time.Since(converted))
	}
}

// crawlInParallel crawls with so many agents, of which the first have servers, and returns how
// many requests a second they make when all are at work.
func crawlInParallel(t *testing.T, agents, servers int, addr, seeds, dir string, log *requestLog) (rate float64) {
	clients, routes, machines := make([]string, servers), make([]string, servers), make([]string, servers)
	for i := range servers {
		machines[i] = fmt.Sprintf("127.0.0.%d", i+1)
		clients[i], routes[i] = freePort(t), machines[i]+":"+freePort(t)
	}
	keys := filepath.Join(dir, "keys")
	if _, err := bus.Init(keys, machines, time.Now()); err != nil {
		t.Fatal(err)
	}
	var crawls []*exec.Cmd
	for i := range agents {
		args := []string{"agent", "--topic", "all", "--keywords", "the,of,and", "--threshold", "0", "--max-pages", "1000000",
			"--json", "--quiet", "--proxy", "http://" + addr, "--delay", scaleRest.String(), "--workers", fmt.Sprint(scaleWorkers),
			"--near-duplicates", "keep", "--seeds", seeds, "--store", filepath.Join(dir, fmt.Sprint("agent-", i))}
		if servers > 1 {
			args = append(args, "--keys", filepath.Join(keys, machines[i%servers]))
		}
		switch {
		case i >= servers:
			args = append(args, "--nats", "nats://127.0.0.1:"+clients[i%servers])
		case servers > 1:
			args = append(args, "--local", clients[i], "--route", routes[i], "--peers", strings.Join(routes, ","))
		default:
			args = append(args, "--local", clients[i])
		}
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env, cmd.Stderr = append(os.Environ(), beMain+"=1"), os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		crawls = append(crawls, cmd)
	}
	for begun := time.Now(); log.lines() < 100*agents; time.Sleep(100 * time.Millisecond) {
		if time.Since(begun) > 4*time.Minute {
			t.Fatalf("%d agents have made %d requests", agents, log.lines())
		}
	}
	time.Sleep(scaleBefore)
	before := log.lines()
	time.Sleep(scaleWindow)
	rate = float64(log.lines()-before) / scaleWindow.Seconds()
	for _, cmd := range crawls {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
	}
	for _, cmd := range crawls {
		_ = cmd.Wait() // interrupted, it says so
	}
	return rate
}
