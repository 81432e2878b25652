package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fossick/crawler/control"
	"fossick/datasets/web"
	"fossick/eval/monitor"
	"fossick/internal/testkit"
	"fossick/store"
)

// marker is in the titles of one host of linkedWeb, and in no other page.
func marker(host int) string { return fmt.Sprintf(" of host %d", host) }

func forget(t *testing.T, dir, pages string) (r control.ForgetAnswer) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"forget", pages, "--store", dir, "--json"}, &stdout, &stderr); code != 0 {
		t.Errorf("forget %s: %d: %s", pages, code, stderr.String())
		return r
	}
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Error(err)
	}
	return r
}

func filesWith(t *testing.T, dir, text string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a running crawl removes files
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(name)
		if bytes.Contains(content, []byte(text)) {
			names = append(names, name)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return names
}

func exportHas(t *testing.T, dir, text string) bool {
	t.Helper()
	out := filepath.Join(t.TempDir(), "all.jsonl")
	fossick(t, "export", dir, "--to", "jsonl", "-o", out)
	content, err := os.ReadFile(out)
	if err != nil || len(content) == 0 {
		t.Fatalf("exported %d bytes, %v", len(content), err)
	}
	return bytes.Contains(content, []byte(text))
}

func askedSince(t *testing.T, log *requestLog, host string, when time.Time) (paths []string) {
	t.Helper()
	for _, r := range log.requests(t) {
		if r.Host == host && r.Start.After(when) {
			paths = append(paths, r.Path)
		}
	}
	return paths
}

// TestForgetInARunningCrawl has a running crawl forget one host and some pages of another at the same
// time. Once it has answered, no file holds them, and no crawl requests them again. Readers wait
// meanwhile, and all other pages are fetched.
func TestForgetInARunningCrawl(t *testing.T) {
	t.Parallel()
	const hosts = 6
	pages := testkit.Rounds(60, 400)
	log := &requestLog{}
	addr, _ := served(t, linkedWeb(hosts, pages), web.Options{Log: log, Latency: time.Millisecond})
	dir := filepath.Join(t.TempDir(), "crawl")
	args := killPlan{args: []string{"--seed", "http://h0.test/0", "--seed", "http://h2.test/0"}, also: "traps,near-duplicates"}.command(addr, dir)
	l := startCrawl(t, dir, args[1:]...)
	defer l.stop(t)
	l.await(t, func(s monitor.Status) bool { return s.Fetched >= uint64(pages) })
	if len(filesWith(t, dir, marker(2))) == 0 {
		t.Fatal("the test looks for what is not there")
	}
	var both sync.WaitGroup
	for _, what := range []string{"h2.test", "http://h3.test/1*"} {
		both.Go(func() {
			if r := forget(t, dir, what); r.Pages == 0 || r.Store != dir || !strings.HasSuffix(what, r.Pattern) {
				t.Errorf("%s: %+v", what, r)
			}
		})
	}
	both.Go(func() { exportHas(t, dir, "") })
	both.Wait()
	answered := time.Now()
	if names := filesWith(t, dir, marker(2)); len(names) > 0 {
		t.Errorf("while the crawl goes on %v still have it", names)
	}
	if exportHas(t, dir, marker(2)) {
		t.Error("it was exported")
	}
	if code := <-l.ended; code != exitDone {
		t.Fatalf("exit code %d: %s", code, l.errors.String())
	}
	l.ended <- exitDone // for stop
	var r monitor.Result
	if err := json.Unmarshal(l.said.Bytes(), &r); err != nil || r.Stopped != "frontier_empty" {
		t.Fatalf("%s, %v", l.said.Bytes(), err)
	}
	kept, want := 0, 4*pages
	for u := range checkStore(t, dir) {
		if !strings.HasPrefix(u, "http://h2.test/") && !strings.HasPrefix(u, "http://h3.test/1") {
			kept++
		}
	}
	for n := range pages {
		if !strings.HasPrefix(fmt.Sprint(n), "1") {
			want++
		}
	}
	if kept != want {
		t.Errorf("%d other pages are stored, want %d", kept, want)
	}
	if _, out := runAndKill(t, append(args, "--resume", "--refresh", "0s"), time.Minute); !bytes.Contains(out, []byte("frontier_empty")) {
		t.Errorf("resumed: %s", out)
	}
	for _, host := range []string{"h2.test", "h3.test"} {
		for _, path := range askedSince(t, log, host, answered) {
			if host == "h2.test" || strings.HasPrefix(path, "/1") {
				t.Errorf("%s%s was asked for after it was forgotten", host, path)
			}
		}
	}
	if names := filesWith(t, dir, marker(2)); len(names) > 0 {
		t.Errorf("in the end %v have it", names)
	}
}

// TestKillForget kills crawls at random moments after they were asked to forget a host. Either the
// request is unknown and can be repeated, or the next command that opens the store completes it;
// nothing forgotten is exported or requested again.
func TestKillForget(t *testing.T) {
	testkit.Only(t, "kills many processes; by default TestForgetCutOff of store looks at each moment")
	t.Parallel()
	const hosts = 6
	const pages = 60
	log := &requestLog{}
	addr, _ := served(t, linkedWeb(hosts, pages), web.Options{Log: log, Latency: time.Millisecond})
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 5))
	kills, unknown, completed, whole := 0, 0, 0, 0
	for range fromEnv("FOSSICK_KILLS", 8) {
		dir := filepath.Join(t.TempDir(), "crawl")
		args := killPlan{args: []string{"--seed", "http://h0.test/0", "--seed", "http://h2.test/0"}}.command(addr, dir)
		asking, answered := make(chan struct{}), make(chan error, 1)
		begun, after := log.lines(), time.Duration(rng.IntN([]int{10_000, 700_000}[rng.IntN(2)]))*time.Microsecond
		var asked time.Time
		killed, _ := runAndKillWhen(t, args, time.Minute, func() bool {
			if asked.IsZero() && log.lines() > begun+hosts*pages/3 {
				asked = time.Now()
				go func() {
					close(asking)
					answered <- control.Ask(t.Context(), dir, "/forget", control.ForgetRequest{Pages: "h2.test"}, &control.ForgetAnswer{}, errors.New("busy"))
				}()
			}
			return !asked.IsZero() && time.Since(asked) > after
		})
		if killed {
			kills++
		}
		<-asking
		done := <-answered == nil
		if done && len(filesWith(t, dir, marker(2))) > 0 {
			t.Error("it was answered, and is on disk")
		}
		left := exportHas(t, dir, marker(2)) // the first command to open the store after the kill
		s, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		known, err := store.ForgetsOf(s)
		testkit.Must(t, errors.Join(err, s.Close()))
		switch {
		case len(known) > 0 && (left || known[0].Pending):
			t.Errorf("the request is known, %+v, and pages were exported: %v", known[0], left)
		case len(known) == 0 && done:
			t.Error("it was answered, and is not known")
		case done:
			whole++
		case len(known) > 0:
			completed++
		default:
			unknown++
			forget(t, dir, "h2.test")
		}
		resumed := time.Now()
		if names := filesWith(t, dir, marker(2)); len(names) > 0 {
			t.Errorf("%v still have it", names)
		}
		if _, out := runAndKill(t, append(args, "--resume"), 2*time.Minute); !bytes.Contains(out, []byte("frontier_empty")) {
			t.Errorf("resumed: %s", out)
		}
		if paths := askedSince(t, log, "h2.test", resumed); len(paths) > 0 {
			t.Errorf("asked for again: %v", paths)
		}
		if got := checkStore(t, dir); len(got) < (hosts-1)*pages {
			t.Errorf("%d pages in the end, want all %d of the other hosts", len(got), (hosts-1)*pages)
		}
		if names := filesWith(t, dir, marker(2)); len(names) > 0 {
			t.Errorf("in the end %v have it", names)
		}
	}
	t.Logf("%d kills: %d requests were not known, %d were completed by the next command, %d had been answered", kills, unknown, completed, whole)
}

// live is a crawl inside the test process.
type live struct {
	dir    string
	cancel context.CancelFunc
	ended  chan int     // exit code
	said   bytes.Buffer // stdout
	errors bytes.Buffer
}

func startCrawl(t *testing.T, dir string, args ...string) *live {
	return startVerb(t, "focus", dir, args...)
}

func startVerb(t *testing.T, verb, dir string, args ...string) *live {
	ctx, cancel := context.WithCancel(t.Context())
	l := &live{dir: dir, cancel: cancel, ended: make(chan int, 1)}
	args = append([]string{verb, "--store", dir, "--quiet", "--json"}, args...)
	go func() { l.ended <- run(ctx, args, &l.said, &l.errors) }()
	return l
}

func (l *live) stop(t *testing.T) {
	t.Helper()
	l.cancel()
	if code := <-l.ended; code != exitInterrupted && code != exitDone {
		t.Errorf("exit code %d: %s", code, l.errors.String())
	}
}

func (l *live) await(t *testing.T, wanted func(monitor.Status) bool) monitor.Status {
	t.Helper()
	for {
		var s monitor.Status
		err := control.Ask(t.Context(), l.dir, "/status", nil, &s, errors.New("no crawl"))
		if err == nil && wanted(s) {
			return s
		}
		select {
		case code := <-l.ended:
			l.ended <- code // for stop
			t.Fatalf("the crawl ended, %d: %s%s", code, l.errors.String(), l.said.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TestKillLabel kills crawls while their pages are being labelled: no acknowledged label is lost, and
// the store is sound.
func TestKillLabel(t *testing.T) {
	t.Parallel()
	addr, _ := served(t, linkedWeb(8, 40), web.Options{})
	k := &killer{at: map[string]int{}}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 5))
	acknowledged := 0
	for range fromEnv("FOSSICK_KILLS", testkit.Rounds(2, 5)) {
		dir := filepath.Join(t.TempDir(), fmt.Sprint("crawl", acknowledged))
		said := map[string]bool{} // by URL: whether the last acknowledged label was yes
		deadline := time.Now().Add(time.Minute)
		for i, most := 0, 1+rng.IntN(20); most > 0; most-- {
			runAndKillWhen(t, append(killPlan{args: []string{"--seed", "http://h0.test/0"}}.command(addr, dir), resumeIf(sound(t, dir, k))...), time.Minute, func() bool {
				url := fmt.Sprintf("http://h%d.test/0", i%8)
				i++
				var stdout, stderr bytes.Buffer
				label := []string{"yes", "no"}[rng.IntN(2)]
				delete(said, url) // a label without acknowledgement may be stored or not
				if run(t.Context(), []string{"label", url, label, "--store", dir, "--json"}, &stdout, &stderr) == 0 {
					said[url] = label == "yes"
				}
				return rng.IntN(6) == 0 && len(said) > 0 || time.Now().After(deadline)
			})
			if len(said) > 0 {
				break
			}
		}
		acknowledged += len(said)
		if !sound(t, dir, k) {
			t.Fatal("the store has gone")
		}
		checkMarks(t, dir, said)
	}
	t.Logf("%d URLs with acknowledged labels, %d errors found by verify", acknowledged, k.problems)
	if acknowledged == 0 {
		t.Error("no label was acknowledged: the test tests nothing")
	}
}

func resumeIf(there bool) []string {
	if there {
		return []string{"--resume"}
	}
	return nil
}

func checkMarks(t *testing.T, dir string, said map[string]bool) {
	t.Helper()
	s := testkit.Call(store.Open(dir)).Must(t)
	defer s.Close()
	for url, onTopic := range said {
		l := testkit.Call(s.URLs().Life(url)).Must(t)
		if l.Mark == nil || l.Mark.OnTopic != onTopic {
			t.Errorf("%s was labelled, on topic %v, and the store has %+v", url, onTopic, l.Mark)
		}
	}
}
