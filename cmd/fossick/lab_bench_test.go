package main

import (
	"testing"

	"fossick/crawler"
	"fossick/crawler/crawlplan"
	"fossick/datasets"
	"fossick/eval/lab"
	"fossick/internal/fulltest"
	"fossick/models"
	"fossick/relevance"
)

// BenchmarkVirtual crawls 1,000 pages of wikispeedia by each policy, after one crawl
// that the model's memory is filled by; pages/s is the figure to look at.
func BenchmarkVirtual(b *testing.B) {
	const pages = 1000
	set, err := datasets.Open(fulltest.Corpus(b, "wikispeedia"), datasets.Options{})
	if err != nil {
		b.Fatal(err)
	}
	c, err := lab.Load(b.Context(), set)
	if err != nil {
		b.Fatal(err)
	}
	topic, err := models.BuiltinTopic("science")
	if err != nil {
		b.Fatal(err)
	}
	in := crawlplan.Input{Rho: crawlplan.DefaultRho, Threshold: crawlplan.DefaultThreshold, Seed: 1}
	if in.Labeller, err = crawlplan.NewLabeller(topic); err != nil {
		b.Fatal(err)
	}
	in.Labeller.Remember()
	if in.Keywords, err = relevance.NewKeywords(topic.Keywords); err != nil {
		b.Fatal(err)
	}
	for _, p := range crawlplan.All() {
		crawl := func(b *testing.B) {
			opt := crawler.Options{Threshold: p.Threshold()}
			opt.Seeds, opt.MaxPages = []string{"http://h183.test/wiki/16_Cygni", "http://h115.test/wiki/Ireland"}, pages
			if opt.Scorer, err = p.Scorer(in); err == nil {
				opt.Ordering, err = p.Ordering(opt.Scorer)
			}
			if err != nil {
				b.Fatal(err)
			}
			if _, err := crawler.Virtual(b.Context(), opt, c.Answer); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(p.Name, func(b *testing.B) {
			crawl(b)
			b.ResetTimer()
			for b.Loop() {
				crawl(b)
			}
			b.ReportMetric(pages*float64(b.N)/b.Elapsed().Seconds(), "pages/s")
		})
	}
}
