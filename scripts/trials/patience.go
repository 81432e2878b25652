//go:build ignore

// Patience measures what waiting for better links brings and costs (docs/frontier.md): crawls
// with 32 workers and hosts that rest, against one worker without rests and against crawls
// that never wait.
//
//	... patience manners CORPUS >> RAW          only --max-pages, by rests
//	... patience both CORPUS >> RAW             both limits, rests of 2 s
//	... patience known CORPUS POLICY,... >> RAW against other policies, rests of auto
//	... patience several CORPUS >> RAW          topics by pairs in one crawl, rests of 2 s
//	... patience table RAW...                   means by row, to standard output
//	... patience best RAW...                    of known: learned against the best of the others, by draw
//
// Corpora are wikispeedia, birds (its sub-topic), webkb, debdocs, debdocs-capped, uci_ics and
// msdocs. SETS takes other than three draws of training pages, STARTS other than two start
// sets for each.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"time"

	"fossick/crawler"
	"fossick/crawler/crawlplan"
	"fossick/eval/lab"
	"fossick/eval/lab/plan"
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
	m := &lab.Manners{Workers: number("WORKERS", 32), Latency: latency, Patience: wait, MaxTime: most}
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

func patience(ctx context.Context, arg []string) error {
	kind, rest := "", []string(nil)
	if len(arg) > 1 {
		kind, rest = arg[0], arg[1:]
	}
	switch alone := (manners{name: "one worker, no rests"}); {
	case kind == "manners" && len(rest) == 1:
		all := []manners{alone}
		for _, delay := range strings.Fields(cmp.Or(os.Getenv("RESTS"), "500ms 2s auto")) {
			all = append(all, polite(delay, 1, 0), polite(delay, 0, 0))
		}
		return crawl(ctx, rest[0], []string{"learned"}, all)
	case kind == "both" && len(rest) == 1:
		all := []manners{polite("2s", 1, 0), polite("2s", 0, 0)}
		for _, most := range strings.Fields(cmp.Or(os.Getenv("TIMES"), "4s 6s 8s 9s 10s 12s 14s 18s 24s 36s")) {
			d, err := time.ParseDuration(most)
			if err != nil {
				return err
			}
			all = append(all, polite("2s", 1, d), polite("2s", 0, d))
		}
		return crawl(ctx, rest[0], []string{"learned"}, all)
	case kind == "known" && len(rest) == 2:
		return crawl(ctx, rest[0], strings.Split(rest[1], ","), []manners{polite("auto", 1, 0), polite("auto", 0, 0)})
	case kind == "several" && len(rest) == 1:
		return several(ctx, rest[0], []manners{alone, polite("2s", 1, 0), polite("2s", 0, 0)})
	case kind == "table":
		return table(rest)
	case kind == "best":
		return best(rest)
	}
	return errors.New("patience manners, both, known, several, table or best; see the comment above")
}

// options are those of a topic's draws and training.
func (c *corpus) options(topic string, policies []string) plan.Options {
	sets := number("SETS", 3)
	opt := plan.Options{
		Topic: topic, Policy: policies, TrainSets: sets, StartSets: number("STARTS", 2) * sets,
		Pages: c.pages[len(c.pages)-1], MaxPagesPerHost: c.perHost,
	}
	if c.truth {
		opt.Truth = dataOf(c.set, "labels.tsv.zst")
	}
	return opt
}

func openCorpus(ctx context.Context, name string) (c corpus, b *bench, err error) {
	if c, err = find(corpora, name); err == nil {
		b, err = open(ctx, name, c.set, c.judge)
	}
	return c, b, err
}

// crawl crawls a corpus for each topic by each policy with all manners.
func crawl(ctx context.Context, name string, policies []string, all []manners) error {
	c, b, err := openCorpus(ctx, name)
	if err != nil {
		return err
	}
	for _, topic := range some(c.topics) {
		s, err := b.prepare(ctx, c.options(topic, policies))
		if err != nil {
			return err
		}
		for _, m := range all {
			s.Manners = m.Manners
			if err := crawlAs(ctx, s, name, topic, m, policies, c.pages); err != nil {
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
	c, b, err := openCorpus(ctx, name)
	if err != nil {
		return err
	}
	for pair := range slices.Chunk(some(c.topics), 2) {
		x := &lab.Shared{}
		for _, topic := range pair {
			s, err := b.prepare(ctx, c.options(topic, []string{"learned"}))
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
			for _, sc := range shared[0] {
				for _, budget := range c.pages {
					found, n := 0, min(budget*len(pair), sc.Pages)
					for _, of := range sc.Found {
						found += of[n]
					}
					took := time.Duration(0)
					if n == sc.Pages {
						took = sc.Took
					}
					fmt.Printf("%s\t%s\tlearned\t%s\t%d\t%d\t%d\t%d\t%.2f\n", name, strings.Join(pair, ", "), m.name, budget*len(pair), sc.Set, n, found, took.Seconds())
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
				found, n := foundIn(c, budget)
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
