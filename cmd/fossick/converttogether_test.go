package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fossick/crawler/cluster/bus"
	"fossick/datasets/web"
	"fossick/export"
	"fossick/internal/fulltest"
	"fossick/store"
)

// TestConvertTogether: agents in processes of their own, each with its store alone, convert them
// by an exchange to the bytes that convert makes of all stores on one machine. One of them, each
// in turn, is killed on the way and comes back, or does it a second time. When the others had
// all by then they do it again too, which changes nothing.
func TestConvertTogether(t *testing.T) {
	fulltest.Only(t, "it waits for processes; package convert has deaths at every moment, in one process")
	t.Parallel()
	addr, _, stop, err := serveSet(t.Context(), linkedWeb(12, 40), web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dir := t.TempDir()
	crawl := filepath.Join(dir, "crawl")
	const agents = 3
	runAndKill(t, []string{"focus", "--topic", "all", "--keywords", "the,of,and", "--threshold", "0", "--proxy", "http://" + addr, "--delay", "0",
		"--near-duplicates", "keep", "--seed", "http://h0.test/0", "--max-pages", "460", "--agents", fmt.Sprint(agents), "--store", crawl, "--quiet"}, time.Minute)
	s, err := bus.Serve(bus.ServeOptions{Crawl: "all", Agent: "00000000000000aa", Dir: filepath.Join(dir, "nats"), Clients: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	stores := store.AgentDirs(crawl)
	command := func(i int, name string, more ...string) []string {
		return append([]string{"convert", stores[i], "--crawl", name, "--agents", fmt.Sprint(agents), "--nats", "nats://" + s.Addr(), "--json", "--quiet"}, more...)
	}
	t.Run("nobody collects", func(t *testing.T) {
		var all sync.WaitGroup
		for i := range agents {
			all.Go(func() {
				if code, text := said(t, command(i, "nobody")...); code != exitFailed || !strings.Contains(text, "give -o DIR to one of them") {
					t.Errorf("agent %d: %d, %s", i, code, text)
				}
			})
		}
		all.Wait()
	})
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	const enough = 4
	kills, outs, took := 0, []string{}, time.Duration(0)
	for round := 0; kills < enough; round++ {
		if round == 10*enough {
			t.Fatalf("%d kills in %d conversions", kills, round)
		}
		victim, collects, name := round%agents, rng.IntN(agents), fmt.Sprint("all-", round)
		out := filepath.Join(dir, name)
		args := func(i int) []string {
			if i == collects {
				return command(i, name, "-o", out)
			}
			return command(i, name)
		}
		var back atomic.Bool // the victim has its result
		var all sync.WaitGroup
		for i := range agents {
			all.Go(func() {
				if i == victim {
					killed := false
					if took > 0 { // how long it takes on this machine
						if killed, _ = runAndKill(t, args(i), rand.N(took)); killed {
							kills++
						}
					}
					start := time.Now()
					late, b := runAndKill(t, args(i), 2*time.Minute)
					if took == 0 {
						took = time.Since(start)
					}
					var r convertResult
					if err := json.Unmarshal(b, &r); err != nil || late || r.Pages != 460 || (r.Output == out) != (i == collects) || r.At == "" {
						t.Errorf("round %d, agent %d: killed %v, too late %v: %+v, %v", round, i, killed, late, r, err)
					}
					back.Store(true)
					return
				}
				for !back.Load() {
					runAndKillWhen(t, args(i), 2*time.Minute, func() bool { return back.Load() && exists(out) })
				}
			})
		}
		all.Wait()
		outs = append(outs, out)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	name := func(path string) string { // of an agent without one: by where it is
		sum := sha256.Sum256([]byte(host + "\x00" + path))
		return hex.EncodeToString(sum[:8])
	}
	slices.SortFunc(stores, func(a, b string) int { return strings.Compare(name(a), name(b)) })
	whole := filepath.Join(dir, "whole")
	runAndKill(t, append([]string{"convert", "-o", whole, "--quiet"}, stores...), time.Minute)
	for _, out := range append(outs, whole) {
		if err := os.Remove(filepath.Join(out, "manifest.json")); err != nil {
			t.Fatal(err)
		}
	}
	for _, out := range outs {
		if same, err := export.Equal(out, whole); !same || err != nil {
			t.Errorf("%s is not what one machine makes, %v", out, err)
		}
	}
}
