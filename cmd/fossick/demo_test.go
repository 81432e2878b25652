package main

import (
	"testing"
	"time"

	"fossick/crawler"
	"fossick/datasets"
	"fossick/lab"
	"fossick/policy"
	"fossick/relevance"
)

// TestDemoWaits crawls the demo's web with the manners of the demo, which are those of
// focus, in virtual time. Each theme is done in half a minute, by waiting for better links;
// a crawl that never waits finds much less.
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
		found := map[float64]int{} // pages that the model calls on topic, by patience
		for _, patience := range []float64{0, 1} {
			r, err := crawler.Virtual(t.Context(), demoOptions(t, theme, starts, patience), func(url string) crawler.Answer {
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
			t.Logf("%s, patience %g: %d of %d in %v", theme, patience, found[patience], len(r.Pages), r.Took)
			if len(r.Pages) != demoPages || r.Took > 32*time.Second {
				t.Errorf("%s: %d pages in %v, want %d in half a minute", theme, len(r.Pages), r.Took, demoPages)
			}
		}
		if found[0]*10 < found[1]*13 {
			t.Errorf("%s: %d pages on topic by waiting and %d without, want 1.3 times as many", theme, found[0], found[1])
		}
	}
}

// demoOptions are those of the demo's crawl, with the model that is built in.
func demoOptions(t *testing.T, theme string, starts []string, patience float64) crawler.Options {
	t.Helper()
	p, err := policy.Named("learned")
	if err != nil {
		t.Fatal(err)
	}
	words, err := relevance.NewKeywords([]string{theme})
	if err != nil {
		t.Fatal(err)
	}
	in := policy.Input{Labeller: rememberingLabeller(t, theme), Keywords: words, Rho: policy.DefaultRho, Explore: policy.DefaultExplore, Seed: 1}
	opt := crawler.Options{Seeds: starts, MaxPages: demoPages, Workers: 32, Patience: patience}
	if opt.Scorer, err = p.Scorer(in); err != nil {
		t.Fatal(err)
	}
	if opt.Ordering, err = p.Ordering(opt.Scorer); err != nil {
		t.Fatal(err)
	}
	return opt
}
