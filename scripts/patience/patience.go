//go:build ignore

// Patience measures what waiting for better links brings and costs (docs/patience.md): crawls
// of stored corpora in the lab, 32 workers and hosts that rest, against one worker without
// rests and against crawls that never wait.
//
//	go run scripts/patience/*.go manners CORPUS >> RAW          only --max-pages, by rests
//	go run scripts/patience/*.go both CORPUS >> RAW             both limits, rests of 2 s
//	go run scripts/patience/*.go known CORPUS POLICY,... >> RAW against other policies, rests of auto
//	go run scripts/patience/*.go several CORPUS >> RAW          topics by pairs in one crawl, rests of 2 s
//	go run scripts/patience/*.go table RAW...                   means by row, to standard output
//	go run scripts/patience/*.go best RAW...                    of known: learned against the best of the others, by draw
//
// Corpora are wikispeedia, webkb, debdocs, debdocs-capped, uci_ics and msdocs, found by
// FOSSICK_DATA. Each is read once for all its crawls. TOPICS (by ;) takes some of the topics,
// SETS other than three draws of training pages, STARTS other than two start sets for each.
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
	"time"

	"fossick/crawler"
	"fossick/datasets"
	"fossick/lab"
	"fossick/lab/plan"
	"fossick/policy"
	"fossick/train"
)

// corpus is what is crawled, and for how many pages: the first budgets are about 5 %, the
// last 10.
type corpus struct {
	set     string
	topics  []string
	pages   []int
	perHost uint64
	truth   bool // in a file of its own
	judge   bool // no topics of its own
}

var corpora = map[string]corpus{
	"wikispeedia":    {set: "wikispeedia", topics: []string{"Astronomy", "Biology", "IT", "Religion"}, pages: []int{229, 460}, truth: true},
	"birds":          {set: "wikispeedia", topics: []string{"Science.Biology.Birds"}, pages: []int{229, 460}},
	"webkb":          {set: "webkb", topics: []string{"student", "faculty", "course", "project"}, pages: []int{350, 700}},
	"debdocs":        {set: "debdocs", topics: []string{"programming", "science"}, pages: []int{345, 690}},
	"debdocs-capped": {set: "debdocs", topics: []string{"programming", "science"}, pages: []int{345, 690}, perHost: 60},
	"uci_ics":        {set: "uci_ics", topics: []string{"course"}, pages: []int{250, 500}, judge: true},
	"msdocs":         {set: "msdocs", topics: []string{"topic:directory services", "topic:accessibility"}, pages: []int{500, 1000}},
}

// manners are how a row's crawls treat hosts; nil is one worker without rests.
type manners struct {
	name string
	*lab.Manners
}

const latency = 100 * time.Millisecond

func polite(rest string, wait float64, most time.Duration) manners {
	m := &lab.Manners{Workers: 32, Latency: latency, Patience: wait, MaxTime: most}
	if rest != "auto" {
		d, err := time.ParseDuration(rest)
		if err != nil {
			log.Fatal(err)
		}
		m.Delay = crawler.Delay{Fixed: true, Rest: d}
	}
	name := rest + ", waits"
	if wait == 1 {
		name = rest + ", greedy"
	}
	if most > 0 {
		name += ", at most " + most.String()
	}
	return manners{name, m}
}

func main() {
	log.SetFlags(0)
	ctx := context.Background()
	arg := append(os.Args[1:], "", "", "")
	var err error
	switch alone := (manners{name: "one worker, no rests"}); arg[0] {
	case "manners":
		all := []manners{alone}
		for _, rest := range strings.Fields(cmp.Or(os.Getenv("RESTS"), "500ms 2s auto")) {
			all = append(all, polite(rest, 1, 0), polite(rest, 0, 0))
		}
		err = crawl(ctx, arg[1], []string{"learned"}, all)
	case "both":
		all := []manners{polite("2s", 1, 0), polite("2s", 0, 0)}
		for _, most := range strings.Fields(cmp.Or(os.Getenv("TIMES"), "4s 6s 8s 9s 10s 12s 14s 18s 24s 36s")) {
			d, err := time.ParseDuration(most)
			if err != nil {
				log.Fatal(err)
			}
			all = append(all, polite("2s", 1, d), polite("2s", 0, d))
		}
		err = crawl(ctx, arg[1], []string{"learned"}, all)
	case "known":
		err = crawl(ctx, arg[1], strings.Split(arg[2], ","), []manners{polite("auto", 1, 0), polite("auto", 0, 0)})
	case "several":
		err = several(ctx, arg[1], []manners{alone, polite("2s", 1, 0), polite("2s", 0, 0)})
	case "table":
		err = table(os.Args[2:])
	case "best":
		err = best(os.Args[2:])
	default:
		log.Fatal("patience manners, both, known, several, table or best; see the comment above")
	}
	if err != nil {
		log.Fatal(err)
	}
}

// bench is a corpus that is read once for all its crawls.
type bench struct {
	corpus
	name, judge, truth string
	web                *lab.Corpus
}

func open(ctx context.Context, name string) (*bench, error) {
	c, ok := corpora[name]
	if !ok {
		return nil, fmt.Errorf("no corpus %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(corpora)), ", "))
	}
	b := &bench{corpus: c, name: name}
	data := cmp.Or(os.Getenv("FOSSICK_DATA"), "../shared/data")
	if c.judge {
		b.judge = filepath.Join(os.TempDir(), "patience-judge.model")
		if err := judgeOf(ctx, filepath.Join(data, "webkb"), b.judge); err != nil {
			return nil, err
		}
	}
	if c.truth {
		b.truth = filepath.Join(data, c.set, "labels.tsv.zst")
	}
	if only := os.Getenv("TOPICS"); only != "" {
		b.topics = strings.Split(only, ";")
	}
	set, err := datasets.Open(filepath.Join(data, c.set), datasets.Options{})
	if err != nil {
		return nil, err
	}
	b.web, err = lab.Load(ctx, set)
	return b, err
}

// prepare draws and trains for a topic.
func (b *bench) prepare(ctx context.Context, topic string, policies []string) (*plan.Setup, error) {
	sets, seed := number("SETS", 3), number("RAND", 1)
	p := &plan.Plan{Options: plan.Options{
		Corpus: b.set, Topic: topic, Policy: policies, Truth: b.truth, Judge: b.judge, TrainSets: sets, StartSets: number("STARTS", 2) * sets, Starts: 10,
		Pages: b.pages[len(b.pages)-1], MaxPagesPerHost: b.perHost, Links: "all",
	}, Seed: int64(seed), Web: b.web, Say: func(string, ...any) {}, Log: slog.New(slog.DiscardHandler), Open: datasets.Open,
		Random: func(purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), purpose)) }}
	if err := p.Check(); err != nil {
		return nil, err
	}
	s, err := p.Prepare(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", b.name, topic, err)
	}
	return s, nil
}

// crawl crawls a corpus for each topic by each policy with all manners.
func crawl(ctx context.Context, name string, policies []string, all []manners) error {
	b, err := open(ctx, name)
	if err != nil {
		return err
	}
	for _, topic := range b.topics {
		s, err := b.prepare(ctx, topic, policies)
		if err != nil {
			return err
		}
		for _, m := range all {
			s.Manners = m.Manners
			if err := crawlAs(ctx, s, name, topic, m, policies, b.pages); err != nil {
				return fmt.Errorf("%s, %s: %w", name, topic, err)
			}
		}
		log.Printf("%s, %s: %d on topic", name, topic, s.Draw.Targets)
	}
	return nil
}

// several crawls a corpus for pairs of its topics at a time. Pages are those of both, and a
// page on both topics counts twice.
func several(ctx context.Context, name string, all []manners) error {
	b, err := open(ctx, name)
	if err != nil {
		return err
	}
	for pair := range slices.Chunk(b.topics, 2) {
		x := &lab.Shared{}
		for _, topic := range pair {
			s, err := b.prepare(ctx, topic, []string{"learned"})
			if err != nil {
				return err
			}
			x.Topics = append(x.Topics, &s.Experiment)
		}
		x.Share = func(_ int, own []crawler.Options) (opt crawler.Options, err error) {
			var topics []policy.Topic
			for _, o := range own {
				topics = append(topics, policy.Topic{Scorer: o.Scorer, Budget: float64(o.MaxPages), Starts: o.Seeds})
				opt.Seeds = append(opt.Seeds, o.Seeds...)
			}
			opt.Scope, opt.Scorer, opt.Ordering = own[0].Scope, policy.NewSeveral(topics), own[0].Ordering
			return opt, nil
		}
		for _, m := range all {
			for _, t := range x.Topics {
				t.Manners = m.Manners
			}
			_, shared, err := x.Run(ctx, func() {})
			if err != nil {
				return err
			}
			for _, c := range shared[0] {
				for _, budget := range b.pages {
					found, n := 0, min(budget*len(pair), c.Pages)
					for _, of := range c.Found {
						found += of[n]
					}
					took := time.Duration(0)
					if n == c.Pages {
						took = c.Took
					}
					fmt.Printf("%s\t%s\tlearned\t%s\t%d\t%d\t%d\t%d\t%.2f\n", name, strings.Join(pair, ", "), m.name, budget*len(pair), c.Set, n, found, took.Seconds())
				}
			}
		}
		log.Printf("%s, %s", name, strings.Join(pair, ", "))
	}
	return nil
}

// crawlAs prints a line for each crawl and number of pages: corpus, topic, policy, manners,
// pages, start set, pages fetched, pages on topic, seconds.
func crawlAs(ctx context.Context, s *plan.Setup, name, topic string, m manners, policies []string, pages []int) error {
	crawls, err := s.Experiment.Run(ctx, nil)
	if err != nil {
		return err
	}
	for i, of := range crawls {
		for _, c := range of {
			for _, budget := range pages {
				found, n := 0, min(budget, len(c.Relevant))
				for _, on := range c.Relevant[:n] {
					if on {
						found++
					}
				}
				took := c.Took
				if n < len(c.At) {
					took = c.At[n-1]
				}
				fmt.Printf("%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%.2f\n", name, topic, policies[i], m.name, budget, c.Set, n, found, took.Seconds())
			}
		}
	}
	return nil
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
