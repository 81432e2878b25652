//go:build ignore

// Trials crawl stored corpora in the lab. Each prints a line a crawl, to be kept, and makes
// tables of these lines.
//
//	go run scripts/trials/*.go everywhere ...    policies on every corpus and topic at hand
//	go run scripts/trials/*.go patience ...      what waiting for better links brings and costs
//
// Corpora are found by FOSSICK_DATA, and each is read once for all its crawls. TOPICS (by ;)
// takes some of the topics, SETS another number of draws of training pages.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fossick/datasets"
	"fossick/eval/lab"
	"fossick/eval/lab/plan"
	"fossick/internal/printable"
	"fossick/train"
)

func main() {
	log.SetFlags(0)
	err := fmt.Errorf("trials everywhere ... or patience ...; see the comments of each")
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "everywhere":
			err = everywhere(context.Background(), os.Args[2:])
		case "patience":
			err = patience(context.Background(), os.Args[2:])
		}
	}
	if err != nil {
		log.Fatal(err)
	}
}

// bench is a corpus that is read for many crawls.
type bench struct {
	name, set string
	judge     string // model of a corpus without topics of its own
	web       *lab.Corpus
}

// find returns the corpus of a name.
func find[C any](all map[string]C, name string) (C, error) {
	c, ok := all[name]
	if !ok {
		return c, fmt.Errorf("no corpus %q; there are %s", name, printable.SomeNames(name, printable.SortedKeys(all)))
	}
	return c, nil
}

// open reads a corpus; judged says that it has no topics of its own.
func open(ctx context.Context, name, set string, judged bool) (*bench, error) {
	b := &bench{name: name, set: set}
	if judged {
		b.judge = filepath.Join(os.TempDir(), "trials-judge.model")
		if err := judgeOf(ctx, dataOf("webkb"), b.judge); err != nil {
			return nil, err
		}
	}
	from, err := datasets.Open(dataOf(set), datasets.Options{})
	if err != nil {
		return nil, err
	}
	b.web, err = lab.Load(ctx, from)
	return b, err
}

func dataOf(path ...string) string {
	return filepath.Join(cmp.Or(os.Getenv("FOSSICK_DATA"), "../shared/data"), filepath.Join(path...))
}

// some returns those of the topics that are wanted.
func some(topics []string) []string {
	if only := os.Getenv("TOPICS"); only != "" {
		return strings.Split(only, ";")
	}
	return topics
}

// prepare draws and trains for a topic.
func (b *bench) prepare(ctx context.Context, opt plan.Options) (*plan.Setup, error) {
	seed := number("RAND", 1)
	opt.Corpus, opt.Judge, opt.Starts, opt.Links = b.set, b.judge, 10, "all"
	p := &plan.Plan{Options: opt, Seed: int64(seed), Web: b.web, Say: func(string, ...any) {}, Log: slog.New(slog.DiscardHandler), Open: datasets.Open,
		Random: func(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), purpose)) }}
	if err := p.Check(); err != nil {
		return nil, err
	}
	s, err := p.Prepare(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", b.name, opt.Topic, err)
	}
	return s, nil
}

// foundIn is how many of a crawl's first pages are on topic, and how many there are at most.
func foundIn(c *lab.Crawl, budget int) (found, pages int) {
	pages = min(budget, len(c.Relevant))
	for _, on := range c.Relevant[:pages] {
		if on {
			found++
		}
	}
	return found, pages
}

func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// judgeOf trains the judge of a corpus without topics: kinds of pages, of other
// universities and twenty years before.
func judgeOf(ctx context.Context, set, path string) error {
	from, err := datasets.Open(set, datasets.Options{})
	if err != nil {
		return err
	}
	m, _, err := train.Train(ctx, from.Examples(), train.Options{
		Target: train.Target{Labels: []string{"student", "faculty", "course", "project", "department", "staff", "other"}},
		Method: train.Method{Classifier: "linear"}, Seed: 1, Log: slog.New(slog.DiscardHandler), Step: func(string) {},
	})
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return m.Write(f)
}
