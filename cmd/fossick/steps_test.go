package main

import (
	"path/filepath"
	"syscall"
	"testing"

	"fossick/crawler"
	"fossick/crawler/crawlplan"
	"fossick/datasets"
	"fossick/internal/fulltest"
	"fossick/internal/page"
	"fossick/models"
	"fossick/store"
)

// BenchmarkSteps measures what a crawl does with each page, step by step, with
// the built-in topic science and the learned scorer. Its pages are those of
// wikispeedia (the corpus found by FOSSICK_DATA) in the order of the file.
// cpu-ns/op is the processor time of a page, which other programs on the
// machine change less than ns/op. What goes on at the disk and on the wire is
// not in it: scripts/speed.sh measures the whole.
func BenchmarkSteps(b *testing.B) {
	bodies, urls := wikispeedia(b)
	topic, err := models.BuiltinTopic("science")
	if err != nil {
		b.Fatal(err)
	}
	l, err := crawlplan.NewLabeller(topic)
	if err != nil {
		b.Fatal(err)
	}
	p, err := crawlplan.Named("learned")
	if err != nil {
		b.Fatal(err)
	}
	scorer, err := p.Scorer(crawlplan.Input{Labeller: l})
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Create(filepath.Join(b.TempDir(), "store"), store.Info{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	pages := make([]*page.Page, len(bodies))
	scores := make([]crawler.Score, len(bodies))
	parse := func(i int) {
		if pages[i], err = page.Parse(bodies[i], page.ParseOptions{URL: urls[i]}); err != nil {
			b.Fatal(err)
		}
	}
	for i := range bodies {
		parse(i)
	}
	var links []float64
	for _, step := range []struct {
		name string
		do   func(i int)
	}{
		{"parse", parse},
		{"label", func(i int) { scores[i] = scorer.ScorePage(pages[i], 1) }},
		{"links", func(i int) { links = scorer.ScoreLinks(links[:0], pages[i], scores[i]) }},
		{"compress", func(i int) { s.Compress(bodies[i]) }},
	} {
		b.Run(step.name, func(b *testing.B) {
			b.ReportAllocs()
			before := processorTime()
			for i := 0; b.Loop(); i++ {
				step.do(i % len(bodies))
			}
			b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// wikispeedia returns the bodies and URLs of the corpus's first pages.
func wikispeedia(b *testing.B) (bodies [][]byte, urls []string) {
	set, err := datasets.Open(fulltest.Corpus(b, "wikispeedia"), datasets.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for e, err := range set.Examples() {
		if err != nil {
			b.Fatal(err)
		}
		if len(bodies) == 2000 {
			break
		}
		bodies, urls = append(bodies, []byte(e.HTML)), append(urls, e.URL)
	}
	return bodies, urls
}

// processorTime is what the process has used, user and system, in nanoseconds.
func processorTime() int64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return use.Utime.Nano() + use.Stime.Nano()
}
