package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/eval/lab"
	"fossick/internal/testkit"
)

// harvestRun is the lab's crawls for one topic, for focus to repeat on the served corpus.
type harvestRun struct {
	*lab.Setup
	topic    string
	addr, ca string // of the server
	dir      string // holds the model
	delay    string // of focus
}

// TestFocusHarvestsAsLab crawls a served corpus with focus, whose 32 workers have no fixed order, and
// virtually with the same start pages and model. The harvests may differ only by noise.
// FOSSICK_COMPARE=1 compares more topics and start sets (docs/eval.md).
func TestFocusHarvestsAsLab(t *testing.T) {
	t.Parallel()
	topics, sets := []string{"Astronomy"}, 2
	if os.Getenv("FOSSICK_COMPARE") != "" {
		topics, sets = []string{"Astronomy", "Biology", "IT", "Religion"}, 5
	}
	harvestsAsLab(t, "0", []string{"learned", "shark"}, topics, sets)
}

// TestFocusWaitsAsLab does the same with rests and latency: patience must bring focus what it brings
// the lab.
func TestFocusWaitsAsLab(t *testing.T) {
	harvestsAsLab(t, "500ms", []string{"learned"}, []string{"Biology"}, 8)
}

// servedLatency is the mean time of an exchange when hosts rest.
const servedLatency = 100 * time.Millisecond

func harvestsAsLab(t *testing.T, delay string, policies, topics []string, sets int) {
	testkit.Only(t, "crawls a corpus")
	corpus := testkit.Corpus(t, "wikispeedia")
	for _, topic := range topics {
		r := newHarvestRun(t, corpus, topic, sets, delay, policies)
		crawls := testkit.Call(r.Run(t.Context(), nil)).Must(t)
		for p, policy := range r.Policies {
			served := make([]float64, sets)
			t.Run(topic+" "+policy.Name, func(t *testing.T) {
				for set := range sets {
					t.Run(strconv.Itoa(set), func(t *testing.T) {
						t.Parallel() // the crawls wait most of their time
						served[set] = r.served(t, policy.Name, set)
					})
				}
			})
			var virtual, crawled, squares float64
			for set, c := range crawls[p] {
				a, b := c.Harvest(), served[set]
				virtual, crawled, squares = virtual+a, crawled+b, squares+(b-a)*(b-a)
			}
			n := float64(sets)
			virtual, crawled = virtual/n, crawled/n
			t.Logf("| %s | %s | %.3f | %.3f | %+.3f | %.3f |", topic, policy.Name, virtual, crawled, crawled-virtual, math.Sqrt(squares/n))
			if math.Abs(crawled-virtual) > 0.03 {
				t.Errorf("%s by %s: focus has a harvest of %.3f, the lab %.3f", topic, policy.Name, crawled, virtual)
			}
		}
	}
}

func newHarvestRun(t *testing.T, corpus, topic string, sets int, delay string, policies []string) *harvestRun {
	a := newApp(context.Background(), &grammar{Quiet: true, LogFormat: "text", Rand: 1}, io.Discard, io.Discard)
	t.Cleanup(a.close)
	cmd := labCmd{Options: lab.Options{
		Corpus: corpus, Topic: topic, Policy: policies, Links: "all",
		Starts: 10, StartSets: sets, Pages: 229,
	}}
	served := web.Options{}
	if delay != "0" {
		cmd.Polite, cmd.Delay, served.Latency = true, delay, servedLatency
	}
	setup, err := cmd.plan(a).Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := &harvestRun{Setup: setup, topic: topic, dir: t.TempDir(), delay: delay}
	testkit.Must(t, r.Topic.Model.WriteFile(r.model()))
	set, err := datasets.Open(corpus, datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var stop func()
	if r.addr, r.ca, stop, err = serveSet(t.Context(), set, served); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return r
}

func (r *harvestRun) model() string { return filepath.Join(r.dir, "model") }

// served returns the harvest of focus from a start set, by the truth.
func (r *harvestRun) served(t *testing.T, policy string, set int) float64 {
	var seeds []string
	for _, n := range r.Draw.Starts[set] {
		seeds = append(seeds, r.Corpus.Rows[n].Page.URL)
	}
	file := filepath.Join(r.dir, fmt.Sprintf("%s-%d.seeds", policy, set))
	testkit.Must(t, os.WriteFile(file, []byte(strings.Join(seeds, "\n")+"\n"), 0o644))
	urls := focusOrder(t, []string{"focus", "--topic", r.topic, "--model", r.model(), "--score", policy, "--seeds", file,
		"--proxy", "http://" + r.addr, "--ca", r.ca, "--delay", r.delay, "--max-pages", fmt.Sprint(r.Pages), "--json", "--quiet",
		"--store", filepath.Join(r.dir, fmt.Sprintf("%s-%d", policy, set))})
	on := 0
	for _, u := range urls {
		if n := r.Corpus.Find(u); n >= 0 && r.Draw.Relevant[n] {
			on++
		}
	}
	return float64(on) / float64(len(urls))
}
