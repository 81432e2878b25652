package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/train"
)

// small is a plan of few short crawls; its messages are appended to said.
func small(said *[]string, policies ...string) *Plan {
	return &Plan{
		Options: Options{
			Corpus: "demo", Topic: "banking", Policy: policies, TrainPages: 80, Links: "all",
			Starts: 2, StartSets: 2, Pages: 20,
		},
		Seed: 1, Random: func(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(1, purpose)) },
		Open: datasets.Open, Log: slog.New(slog.DiscardHandler),
		Say: func(format string, args ...any) {
			if said != nil {
				*said = append(*said, fmt.Sprintf(format, args...))
			}
		},
	}
}

// TestCheck: Check rejects invalid plans, naming the flags.
func TestCheck(t *testing.T) {
	for want, change := range map[string]func(*Plan){
		"--starts 0,":              func(p *Plan) { p.Starts = 0 },
		"--start-sets 65,":         func(p *Plan) { p.StartSets = 65 },
		"includes the start pages": func(p *Plan) { p.Pages = 1 },
		"give the policies":        func(p *Plan) { p.Policy = nil },
		`no policy "best"`:         func(p *Plan) { p.Policy = []string{"best"} },
		"only paper and":           func(p *Plan) { p.Policy = []string{"bfs:0.5"} },
		"only with --polite":       func(p *Plan) { p.Workers = 8 },
		"want at least 1 worker":   func(p *Plan) { p.Polite, p.Workers = true, -1 },
		`"soon": want auto`:        func(p *Plan) { p.Polite, p.Delay = true, "soon" },
	} {
		p := small(nil, "bfs", "parent-oracle")
		p.Open = nil
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		change(p)
		var mistake cli.UsageError
		if err := p.Check(); !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	p := small(nil)
	if err := errors.Join(p.RhoSweep.UnmarshalText([]byte("0:0.4:0.2")), p.Check()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"paper:0", "paper:0.2", "paper:0.4"}; !slices.Equal(p.Policy, want) {
		t.Errorf("a sweep is %v, want %v", p.Policy, want)
	}
}

// TestDrawnApart: no crawl starts at a training page.
func TestDrawnApart(t *testing.T) {
	p := small(nil, "bfs", "paper", "target-oracle")
	s, err := p.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.keywords) != 2 || len(s.Policies) != 3 {
		t.Errorf("%d sets of keywords, %d policies", len(s.keywords), len(s.Policies))
	}
	for set, starts := range s.Draw.Starts {
		for _, n := range starts {
			if s.Draw.Training[n] || !s.Draw.Relevant[n] {
				t.Errorf("set %d begins at row %d, trained on or off topic", set, n)
			}
		}
		if words := s.keywords[set].Words(); len(words) == 0 {
			t.Errorf("set %d has no keywords", set)
		}
	}
	for n := range s.examples(s.Draw.Starts[0][:1]) {
		if n.Label != "banking" && n.Label != train.Other {
			t.Errorf("%s is labelled %s", n.URL, n.Label)
		}
	}
}

// TestModelSaysItKnowsThePages: a run warns when a given model was trained on the corpus.
func TestModelSaysItKnowsThePages(t *testing.T) {
	var said []string
	p := small(&said, "learned")
	s, r, err := p.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(said, flatters) {
		t.Errorf("its own model: %q", said)
	}
	if q := r.Classifier; q.Precision == nil || q.Recall == nil || !(*q.Precision > 0.5) || *q.Recall > 1 {
		t.Errorf("quality %+v", q)
	}
	p = small(&said, "learned")
	p.Model = filepath.Join(t.TempDir(), "own.model")
	if err := s.Topic.Model.WriteFile(p.Model); err != nil {
		t.Fatal(err)
	}
	said = nil
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	say := p.Say
	p.Say = func(format string, args ...any) {
		if say(format, args...); flatters(said[len(said)-1]) {
			cancel() // no effect once the crawls are made
		}
	}
	if _, _, err := p.Run(ctx); !errors.Is(err, context.Canceled) || !slices.ContainsFunc(said, flatters) {
		t.Errorf("a model of this corpus, to be told before the first crawl: %v, %q", err, said)
	}
}

func flatters(line string) bool { return strings.Contains(line, "the figures are too good") }

// TestJudged: a judge's labels replace the corpus's.
func TestJudged(t *testing.T) {
	p := small(nil, "bfs")
	p.Judge = "science"
	p.Topic = "science"
	s, err := p.Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range s.Corpus.Rows {
		if l := row.Labels.Label; row.Page != nil && l != "science" && l != train.Other || row.Labels.All != nil {
			t.Fatalf("%s is labelled %+v", row.URL, row.Labels)
		}
	}
	if s.judgeTrained == nil {
		t.Error("the built-in model tells nothing of its training pages")
	}
}
