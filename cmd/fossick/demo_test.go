package main

import (
	"testing"
	"time"

	"fossick/crawler"
	"fossick/crawler/crawlplan"
	"fossick/datasets"
	"fossick/eval/lab"
	"fossick/relevance"
)

// TestDemoWaits crawls the demo's web with the manners of the demo, which are those of
// focus, in virtual time. Each theme is done in some half a minute, by waiting for better links;
// a crawl that never waits finds much less. So it is where two themes share a crawl.
func TestDemoWaits(t *testing.T) {
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	web, err := lab.Load(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	for theme, starts := range set.Web().Starts {
		waitsForBetter(t, web, theme, demoPages, func(t *testing.T) crawler.Options { return demoOptions(t, theme, starts) })
	}
	waitsForBetter(t, web, "two themes", 2*demoPages, func(t *testing.T) crawler.Options { return sharedDemo(t, set.Web().Starts, "science", "sport") })
}

// waitsForBetter crawls with and without patience.
func waitsForBetter(t *testing.T, web *lab.Corpus, name string, pages int, options func(*testing.T) crawler.Options) {
	t.Helper()
	found := map[float64]int{} // pages that the model calls on topic, by patience
	for _, patience := range []float64{0, 1} {
		opt := options(t)
		opt.MaxPages, opt.Workers, opt.Patience = uint64(pages), 32, patience
		r, err := crawler.Virtual(t.Context(), opt, func(url string) crawler.Answer {
			a := web.Answer(url)
			a.Took = 2 * time.Millisecond
			return a
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Pages {
			if p.Score.Relevant {
				found[patience]++
			}
		}
		t.Logf("%s, patience %g: %d of %d in %v", name, patience, found[patience], len(r.Pages), r.Took)
		if len(r.Pages) != pages || r.Took > 38*time.Second*time.Duration(pages/demoPages) {
			t.Errorf("%s: %d pages in %v, want %d in 38 s at most for 60", name, len(r.Pages), r.Took, pages)
		}
	}
	if found[0]*10 < found[1]*13 {
		t.Errorf("%s: %d pages on topic by waiting and %d without, want 1.3 times as many", name, found[0], found[1])
	}
}

// sharedDemo is one crawl of several themes.
func sharedDemo(t *testing.T, starts map[string][]string, themes ...string) (opt crawler.Options) {
	t.Helper()
	p, err := crawlplan.Named("learned")
	if err != nil {
		t.Fatal(err)
	}
	var topics []crawlplan.Topic
	for _, theme := range themes {
		own := demoOptions(t, theme, starts[theme])
		topics = append(topics, crawlplan.Topic{Scorer: own.Scorer, Budget: demoPages, Starts: own.Seeds})
		opt.Seeds = append(opt.Seeds, own.Seeds...)
	}
	opt.Scorer = crawlplan.NewSeveral(topics)
	opt.Ordering, err = p.SharedOrdering()
	if err != nil {
		t.Fatal(err)
	}
	return opt
}

// demoOptions are those of the demo's crawl, with the model that is built in.
func demoOptions(t *testing.T, theme string, starts []string) crawler.Options {
	t.Helper()
	p, err := crawlplan.Named("learned")
	if err != nil {
		t.Fatal(err)
	}
	words, err := relevance.NewKeywords([]string{theme})
	if err != nil {
		t.Fatal(err)
	}
	in := crawlplan.Input{Labeller: rememberingLabeller(t, theme), Keywords: words, Rho: crawlplan.DefaultRho, Explore: crawlplan.DefaultExplore, Seed: 1}
	opt := crawler.Options{Seeds: starts}
	if opt.Scorer, err = p.Scorer(in); err != nil {
		t.Fatal(err)
	}
	if opt.Ordering, err = p.Ordering(opt.Scorer); err != nil {
		t.Fatal(err)
	}
	return opt
}
