package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fossick/crawler/control"
	"fossick/datasets"
	"fossick/datasets/corpusweb"
	"fossick/eval/monitor"
	"fossick/internal/fulltest"
	"fossick/internal/process"
	"fossick/store"
)

// live is a crawl that runs inside the test.
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

// startVerb is startCrawl by another verb.
func startVerb(t *testing.T, verb, dir string, args ...string) *live {
	ctx, cancel := context.WithCancel(t.Context())
	l := &live{dir: dir, cancel: cancel, ended: make(chan int, 1)}
	args = append([]string{verb, "--store", dir, "--quiet", "--json"}, args...)
	go func() { l.ended <- run(ctx, args, &l.said, &l.errors) }()
	return l
}

// stop interrupts the crawl and waits for its end.
func (l *live) stop(t *testing.T) {
	t.Helper()
	l.cancel()
	if code := <-l.ended; code != exitInterrupted && code != exitDone {
		t.Errorf("exit code %d: %s", code, l.errors.String())
	}
}

// await waits until the crawl's status is as wanted.
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

// label runs fossick label.
func (l *live) label(t *testing.T, args ...string) labelResult {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), append([]string{"label", "--store", l.dir, "--json"}, args...), &stdout, &stderr); code != 0 {
		t.Fatalf("label %v: %d: %s", args, code, stderr.String())
	}
	var r labelResult
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// hubWeb is a web of hubs on eight hosts; each has links to pages that nothing else
// names and the server does not have.
func hubWeb(hubs, links int) *datasets.Set {
	return datasets.FromSeq("hubs", func(yield func(*datasets.Example, error) bool) {
		for h := range hubs {
			var b strings.Builder
			fmt.Fprintf(&b, "<title>Bank %d</title><p>Bank loans and mortgages of branch b%dx, and savings of %d customers.", h, h, h*h)
			fmt.Fprintf(&b, "<a href=http://h%d.test/hub%d>bank</a>", (h+1)%8, h+1)
			for i := range links {
				fmt.Fprintf(&b, "<a href=http://h%d.test/t%dx%d>loan %d</a>\n", i%8, h, i, i)
			}
			if !yield(&datasets.Example{URL: fmt.Sprintf("http://h%d.test/hub%d", h%8, h), HTML: b.String()}, nil) {
				return
			}
		}
	}, datasets.Options{})
}

// TestLabelInALongQueue: a label is in force after five seconds of two processors at
// most when 100,000 URLs wait, the crawl's own work included.
func TestLabelInALongQueue(t *testing.T) {
	t.Parallel()
	hubs := fulltest.Rounds(8, 80)
	addr, _, stop, err := serveSet(t.Context(), hubWeb(hubs, 2000), corpusweb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	args := []string{"--topic", "banking", "--proxy", "http://" + addr, "--delay", "0", "--workers", "2",
		"--also", "traps,near-duplicates", "--max-pages", "100000"}
	for h := range hubs { // they come before all else, whatever the links look like
		args = append(args, "--seed", fmt.Sprintf("http://h%d.test/hub%d", h%8, h))
	}
	l := startCrawl(t, filepath.Join(t.TempDir(), "crawl"), args...)
	defer l.stop(t)
	s := l.await(t, func(s monitor.Status) bool { return s.Queue >= hubs*1250 })
	for _, label := range []string{"no", "yes"} {
		before := process.Worked()
		r := l.label(t, "http://h0.test/hub0", label)
		t.Logf("%d URLs wait: label %s is in force after %.2f s", s.Queue, label, r.Applied)
		if !r.Learned {
			t.Errorf("%+v, want it learned", r)
		}
		if before != nil && *process.Worked()-*before > 10*time.Second {
			t.Errorf("label %s took %s of processor time", label, *process.Worked()-*before)
		}
	}
}

// TestKillLabel kills a crawl that is being labelled: no label that was acknowledged
// is lost, and the store is sound.
func TestKillLabel(t *testing.T) {
	t.Parallel()
	addr, _, stop, err := serveSet(t.Context(), linkedWeb(8, 40), corpusweb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	k := &killer{at: map[string]int{}}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 5))
	acknowledged := 0
	for range fromEnv("FOSSICK_KILLS", fulltest.Rounds(2, 5)) {
		dir := filepath.Join(t.TempDir(), fmt.Sprint("crawl", acknowledged))
		said := map[string]bool{} // by URL, what was acknowledged last
		deadline := time.Now().Add(time.Minute)
		for i, most := 0, 1+rng.IntN(20); most > 0; most-- {
			runAndKillWhen(t, append(killPlan{args: []string{"--seed", "http://h0.test/0"}}.command(addr, dir), resumeIf(sound(t, dir, k))...), time.Minute, func() bool {
				url := fmt.Sprintf("http://h%d.test/0", i%8)
				i++
				var stdout, stderr bytes.Buffer
				label := []string{"yes", "no"}[rng.IntN(2)]
				delete(said, url) // what is not acknowledged may be there or not
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

// checkMarks wants what was acknowledged to be there.
func checkMarks(t *testing.T, dir string, said map[string]bool) {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for url, onTopic := range said {
		l, err := s.URLs().Life(url)
		if err != nil {
			t.Fatal(err)
		}
		if l.Mark == nil || l.Mark.OnTopic != onTopic {
			t.Errorf("%s was labelled, on topic %v, and the store has %+v", url, onTopic, l.Mark)
		}
	}
}
