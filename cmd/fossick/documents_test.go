package main

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/document"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestWebOfDocuments: where a third of the pages are documents of the same text, a crawl finds as
// many pages on topic as in the HTML, and nearly the same pages.
func TestWebOfDocuments(t *testing.T) {
	for _, test := range []struct {
		corpus, seed string
		pages        int
	}{
		{"demo", "http://nightsky-almanac.test/links/science.html", 80},
		{"wikispeedia", "http://h183.test/wiki/16_Cygni", 460},
	} {
		t.Run(test.corpus, func(t *testing.T) {
			t.Parallel()
			corpus := test.corpus
			if corpus != "demo" {
				testkit.Only(t, "crawls a corpus")
				corpus = testkit.Corpus(t, corpus)
			}
			html := crawledAs(t, corpus, test.seed, test.pages, 0)
			docs := crawledAs(t, corpus, test.seed, test.pages, 1./3)
			both, on, onDocs := 0., 0., 0.
			for url, relevant := range html.pages {
				_, found := docs.pages[url]
				both, on = both+one(found), on+one(relevant)
			}
			for _, relevant := range docs.pages {
				onDocs += one(relevant)
			}
			n := float64(test.pages)
			t.Logf("%d pages: harvest %.3f, with %d documents %.3f; overlap %.3f", test.pages, on/n, docs.documents, onDocs/n, both/n)
			if len(html.pages) != test.pages || len(docs.pages) != test.pages || docs.documents < test.pages/5 || math.Abs(on-onDocs)/n > .03 || both/n < .85 {
				t.Errorf("%d and %d pages of %d: the crawl differs too much", len(html.pages), len(docs.pages), test.pages)
			}
		})
	}
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

type crawledWeb struct {
	pages     map[string]bool // on topic, by URL
	documents int
}

// crawledAs crawls a corpus, a share of which is served as documents.
func crawledAs(t *testing.T, corpus, seed string, pages int, share float64) crawledWeb {
	t.Helper()
	set := testkit.Call(datasets.Open(corpus, datasets.Options{})).Must(t)
	addr, _ := served(t, set, web.Options{Documents: share})
	dir := filepath.Join(t.TempDir(), "crawl")
	fossick(t, "focus", "--topic", "science", "--seed", seed, "--proxy", "http://"+addr, "--delay", "0", "--workers", "1",
		"--max-pages", fmt.Sprint(pages), "--store", dir, "--quiet", "--json")
	s := testkit.Call(store.OpenToRead(dir)).Must(t)
	defer func() { _ = s.Close() }() // only read from
	crawled := crawledWeb{pages: map[string]bool{}}
	for p := range testkit.All(t, s.Pages()) {
		if crawled.pages[p.URL] = p.Relevant; document.TypeOf(p.ContentType) != "html" {
			crawled.documents++
		}
	}
	return crawled
}
