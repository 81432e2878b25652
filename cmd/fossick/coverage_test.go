package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fossick/crawler"
	"fossick/eval"
	"fossick/eval/lab"
	"fossick/internal/fulltest"
	"fossick/internal/stats"
)

// TestCrawlCoverage: how often what is told of a crawl holds what crawls from other start
// pages came to: docs/data/coverage.tsv. One page classifier a topic; all topics of a
// corpus count together.
//
//	FOSSICK_FULL=1 FOSSICK_SETS=50 go test ./cmd/fossick -run TestCrawlCoverage -v -timeout 2h
func TestCrawlCoverage(t *testing.T) {
	fulltest.Only(t, "crawls corpora")
	t.Parallel()
	sets := 6
	fmt.Sscan(os.Getenv("FOSSICK_SETS"), &sets)
	all := map[string][2]int{} // held and told, by corpus and figure
	for _, of := range [][2]string{
		{"webkb", "student"}, {"webkb", "faculty"}, {"webkb", "project"},
		{"wikispeedia", "IT"}, {"wikispeedia", "Religion"}, {"wikispeedia", "Biology"}, {"debdocs", "finance"},
	} {
		crawls := coverageCrawls(t, of[0], of[1], sets)
		note := func(figure string, held, n int) {
			t.Logf("%s %s: %s in %d of %d", of[0], of[1], figure, held, n)
			corpus := of[0] + ": " + figure
			sum := all[corpus]
			all[corpus] = [2]int{sum[0] + held, sum[1] + n}
		}
		for _, pages := range []int{100, 200, 400} {
			held, n := harvestHeld(crawls, pages)
			note(fmt.Sprintf("harvest_ci at %d pages holds the mean of the crawls", pages), held, n)
		}
		for _, pages := range []int{200, 300} {
			held, n := nextHeld(crawls, pages)
			note(fmt.Sprintf("next after %d pages bounds the next 100's mean", pages), held, n)
		}
		for _, k := range []int{5, 10} {
			if held, n := labHeld(crawls, k); n > 0 { // webkb has fewer than five different start sets
				note(fmt.Sprintf("lab's interval of %d start sets holds the mean of all", k), held, n)
			}
		}
	}
	for _, figure := range slices.Sorted(maps.Keys(all)) {
		fulltest.Coverage(t, figure, all[figure][0], all[figure][1])
	}
}

// coverageCrawls makes crawls of 400 pages from so many start sets.
func coverageCrawls(t *testing.T, corpus, topic string, sets int) []*lab.Crawl {
	a := newApp(context.Background(), &grammar{Quiet: true, LogFormat: "text", Rand: 7}, io.Discard, io.Discard)
	t.Cleanup(a.close)
	cmd := labCmd{labFlags: labFlags{
		Corpus: fulltest.Corpus(t, corpus), Topic: topic, Policy: []string{"learned"},
		Starts: 5, StartSets: sets, Pages: 400,
	}}
	if truth := filepath.Join(cmd.Corpus, "labels.tsv.zst"); fileExists(truth) {
		cmd.Truth = truth
	}
	setup, err := cmd.plan(a).Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	crawls, err := setup.Experiment.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return crawls[0]
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// between returns the harvest of some pages of each crawl that has them, and its mean.
func between(crawls []*lab.Crawl, from, to int) (all []float64, mean float64) {
	for _, c := range crawls {
		if len(c.Relevant) >= to {
			all = append(all, float64(eval.Harvest(c.Relevant[from:to]))/float64(to-from))
		}
	}
	return all, stats.MeanOf(all).Value
}

func harvestHeld(crawls []*lab.Crawl, pages int) (held, n int) {
	_, mean := between(crawls, 0, pages)
	for _, c := range crawls {
		if len(c.Relevant) < pages {
			continue
		}
		e := &eval.Crawl{}
		for i, on := range c.Relevant[:pages] {
			e.Pages = append(e.Pages, eval.Page{URL: c.URLs[i], Verdict: eval.Verdict{Relevant: on, Known: true}})
		}
		ci := eval.Measure([]*eval.Crawl{e}, pages).HarvestCI
		if n++; ci[0] <= mean && mean <= ci[1] {
			held++
		}
	}
	return held, n
}

func nextHeld(crawls []*lab.Crawl, pages int) (held, n int) {
	_, mean := between(crawls, pages, pages+100)
	for _, c := range crawls {
		if len(c.Relevant) < pages+100 {
			continue
		}
		if n++; mean <= crawler.Of(c.Relevant[:pages]).Upper {
			held++
		}
	}
	return held, n
}

// labHeld draws start sets again and again.
func labHeld(crawls []*lab.Crawl, k int) (held, n int) {
	all, mean := between(crawls, 0, 200)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		var drawn []float64
		for _, i := range rng.Perm(len(all))[:min(k, len(all))] {
			drawn = append(drawn, all[i])
		}
		if ci := stats.MeanOf(drawn).CI; ci != nil {
			if n++; ci[0] <= mean && mean <= ci[1] {
				held++
			}
		}
	}
	return held, n
}
