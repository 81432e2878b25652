package main

import (
	"context"
	"strings"
	"testing"

	"fossick/crawler"
	"fossick/crawler/crawlplan"
	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/page"
	"fossick/models"
)

// TestPlantedDatabases crawls a small web with databases of a million URLs. With three
// requests for each page on topic learned finds most of them, and more than a policy that
// focuses by host; scripts/planted.go compares them on a larger one.
func TestPlantedDatabases(t *testing.T) {
	t.Parallel()
	const requests = 120
	topic, err := models.BuiltinTopic("science")
	if err != nil {
		t.Fatal(err)
	}
	labeller, err := crawlplan.NewLabeller(topic)
	if err != nil {
		t.Fatal(err)
	}
	pages := plantablePages(t, topic.Name)
	for seed := range uint64(3) {
		web := web.NewPlanted(pages, seed)
		learned, asked := crawlPlanted(t, web, labeller, "learned", seed, requests)
		byHost, _ := crawlPlanted(t, web, labeller, "anthelion", seed, requests)
		t.Logf("seed %d: learned %d, anthelion %d of %d on topic; requests by database %v", seed, learned, byHost, web.OnTopic(), asked)
		if learned <= byHost || 5*learned < 3*web.OnTopic() {
			t.Errorf("seed %d: of %d pages on topic learned has %d, by host %d", seed, web.OnTopic(), learned, byHost)
		}
	}
}

// plantablePages are the demo set's, as those that databases are planted in.
func plantablePages(t *testing.T, topic string) (pages []web.PlantedPage) {
	t.Helper()
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range set.Examples() {
		if err != nil {
			t.Fatal(err)
		}
		p, err := page.Parse([]byte(e.HTML), page.ParseOptions{URL: e.URL, ContentType: "text/html; charset=utf-8"})
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, web.PlantedPage{URL: e.URL, HTML: e.HTML, Title: p.Title, Text: p.Text, OnTopic: e.Label == topic})
	}
	return pages
}

// crawlPlanted returns the pages on topic and new after so many requests, and the requests
// by kind of database.
func crawlPlanted(t *testing.T, web *web.Planted, labeller *crawlplan.Labeller, name string, seed uint64, requests int) (onTopic int, asked map[string]int) {
	t.Helper()
	p, err := crawlplan.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	scorer, err := p.Scorer(crawlplan.Input{Labeller: labeller, Explore: crawlplan.DefaultExplore, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	order, err := p.Ordering(scorer)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n, found := 0, map[string]bool{}
	asked = map[string]int{}
	_, err = crawler.Virtual(ctx, crawler.Options{Scorer: scorer, Ordering: order, Seeds: web.Starts()}, func(url string) crawler.Answer {
		a, ok := web.Answer(url)
		if n++; n >= requests {
			cancel()
		}
		if n > requests || !ok {
			return crawler.Answer{}
		}
		asked[strings.TrimSuffix(a.Kind, " list")]++
		found[a.Name] = found[a.Name] || a.OnTopic
		p, err := page.Parse([]byte(a.HTML), page.ParseOptions{URL: url, ContentType: "text/html; charset=utf-8"})
		if err != nil {
			return crawler.Answer{}
		}
		return crawler.Answer{Page: p}
	})
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	for _, on := range found {
		if on {
			onTopic++
		}
	}
	return onTopic, asked
}
