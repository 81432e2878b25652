package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/crawler"
	"fossick/crawler/plan"
	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/eval/lab"
	"fossick/internal/testkit"
	"fossick/models"
	"fossick/relevance"
)

// TestLabIsFocus crawls a corpus by every policy, served with focus and virtually in the lab, with one
// worker and no delay: both must fetch the same pages in the same order. By default it crawls demo;
// uci_ics adds both schemes, redirects by a final slash, duplicates, dead links and hosts, and traps.
func TestLabIsFocus(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		corpus, topic string
		pages         int
		folders       int // only pages in at most so many folders are served
		seeds         []string
		// queues is the number of pages after which a policy may differ: focus still queues URLs of
		// failing hosts that the lab has dropped (docs/eval.md).
		queues map[string]int
	}{
		{"demo", "science", 80, 9, []string{"http://openlab.test/", "http://moneyroom.test/"}, nil},
		{"wikispeedia", "science", 150, 9, []string{"http://h183.test/wiki/16_Cygni", "http://h115.test/wiki/Ireland"}, nil},
		{"uci_ics", "programming", 120, 1, []string{"http://www.ics.uci.edu/", "http://www.informatics.uci.edu/"}, map[string]int{"infospiders": 100, "anthelion": 100}},
	} {
		t.Run(test.corpus, func(t *testing.T) {
			t.Parallel()
			corpus := test.corpus
			if corpus != "demo" {
				testkit.Only(t, "crawls a corpus by every policy")
				corpus = testkit.Corpus(t, corpus)
			}
			set := upperFolders(t, corpus, test.folders)
			addr, ca := served(t, set, web.Options{})
			c := testkit.Call(lab.Load(t.Context(), set)).Must(t)
			labeller := rememberingLabeller(t, test.topic) // one for all policies, as in the lab
			for _, name := range plan.Names() {
				t.Run(name, func(t *testing.T) {
					args := []string{"focus", "--topic", test.topic, "--score", name, "--json", "--quiet",
						"--proxy", "http://" + addr, "--ca", ca, "--delay", "0", "--workers", "1",
						"--max-pages", fmt.Sprint(test.pages), "--store", filepath.Join(t.TempDir(), "crawl")}
					for _, s := range test.seeds {
						args = append(args, "--seed", s)
					}
					want := focusOrder(t, args)
					got := virtualOrder(t, c, labeller, test.topic, name, test.seeds, test.pages)
					if i := firstDifference(got, want); i >= 0 && (i < test.queues[name] || test.queues[name] == 0) {
						t.Errorf("page %d of %d is %s in the lab and %s by focus", i+1, len(want), urlAt(got, i), urlAt(want, i))
					}
				})
			}
		})
	}
}

// upperFolders reads a corpus without the pages that lie in more folders.
func upperFolders(t *testing.T, corpus string, folders int) *datasets.Set {
	t.Helper()
	set := testkit.Call(datasets.Open(corpus, datasets.Options{})).Must(t)
	var kept []*datasets.Example
	for e := range testkit.All(t, set.Examples()) {
		if _, path, _ := strings.Cut(e.URL, "://"); strings.Count(path, "/") <= folders+1 {
			kept = append(kept, e)
		}
	}
	return datasets.FromSeq(corpus, testkit.Each(kept), datasets.Options{})
}

// focusOrder runs a crawl and returns the URLs of its pages in order.
func focusOrder(t *testing.T, args []string) (urls []string) {
	t.Helper()
	fossick(t, args...)
	return storedOrder(t, args[slices.Index(args, "--store")+1])
}

func rememberingLabeller(t *testing.T, topicName string) *plan.Labeller {
	t.Helper()
	topic := testkit.Call(models.BuiltinTopic(topicName)).Must(t)
	l := testkit.Call(plan.NewLabeller(topic)).Must(t)
	l.Remember()
	return l
}

func virtualOrder(t *testing.T, c *lab.Corpus, labeller *plan.Labeller, topicName, policyName string, seeds []string, pages int) (urls []string) {
	t.Helper()
	topic, err := models.BuiltinTopic(topicName)
	if err != nil {
		t.Fatal(err)
	}
	in := plan.Input{Labeller: labeller, Rho: plan.DefaultRho, Threshold: plan.DefaultThreshold, Seed: 1}
	if in.Keywords, err = relevance.NewKeywords(topic.Keywords); err != nil {
		t.Fatal(err)
	}
	p, err := plan.Named(policyName)
	if err != nil {
		t.Fatal(err)
	}
	opt := crawler.Options{Threshold: p.Threshold()}
	if opt.Scorer, err = p.Scorer(in); err != nil {
		t.Fatal(err)
	}
	if opt.Ordering, err = p.Ordering(opt.Scorer); err != nil {
		t.Fatal(err)
	}
	opt.Seeds, opt.MaxPages = seeds, uint64(pages)
	r, err := crawler.Virtual(context.Background(), opt, c.Answer)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Pages {
		urls = append(urls, v.Page.URL)
	}
	return urls
}

// firstDifference returns the first index at which two orders differ, -1 for none.
func firstDifference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if urlAt(a, i) != urlAt(b, i) {
			return i
		}
	}
	return -1
}

func urlAt(urls []string, i int) string {
	if i >= len(urls) {
		return "nothing"
	}
	return urls[i]
}
