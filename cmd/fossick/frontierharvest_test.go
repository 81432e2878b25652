package main

import (
	"context"
	"net"
	"net/http/httptest"
	"regexp"
	"testing"

	"fossick/crawler/urlfrontier"
	"fossick/crawler/urlfrontier/api"
	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/page"
)

// TestFrontierHarvest crawls the demo web by a small client of the URLFrontier API, a tenth
// of its pages: in the order of the frontier more of them are on topic than in the order in
// which links were found. The labels are the demo set's own, not the model's.
func TestFrontierHarvest(t *testing.T) {
	t.Parallel()
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	web, err := web.New(t.Context(), web.Options{}, set)
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	labels := map[string]string{}
	for e, err := range set.Examples() {
		if err != nil {
			t.Fatal(err)
		}
		if u, err := page.Normalize(e.URL); err == nil {
			labels[u] = e.Label
		}
	}
	for _, topic := range []string{"banking", "science", "sport"} {
		t.Run(topic, func(t *testing.T) {
			seeds := set.Web().Starts[topic]
			c := &smallCrawler{t: t, web: web, labels: labels, topic: topic, budget: len(labels) / 10}
			if len(seeds) == 0 || c.budget < 50 {
				t.Fatalf("%d start pages, %d pages to fetch", len(seeds), c.budget)
			}
			told := c.byFrontier(seeds, serveFrontier(t, topic), false)
			silent := c.byFrontier(seeds, serveFrontier(t, topic), true)
			asFound := c.asFound(seeds)
			t.Logf("of %d pages (a tenth of %d) on topic: %d in the frontier's order, %d where no page's text is told, %d as they were found", c.budget, len(labels), told, silent, asFound)
			if told <= asFound || silent <= asFound {
				t.Errorf("the frontier's order is no better: %d and %d pages on topic, %d as found", told, silent, asFound)
			}
		})
	}
}

// serveFrontier serves a new frontier and returns a client of it.
func serveFrontier(t *testing.T, topic string) frontierClient {
	t.Helper()
	verb := frontierCmd{Topic: topic}
	scorer, _, err := verb.scorer(1)
	if err != nil {
		t.Fatal(err)
	}
	f, err := urlfrontier.Open(t.TempDir(), urlfrontier.Options{Scorer: scorer})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- urlfrontier.NewServer(f, l.Addr().String()).Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return newFrontierClient(t, l.Addr().String())
}

// smallCrawler fetches pages one by one, without manners: its web is in memory.
type smallCrawler struct {
	t      *testing.T
	web    *web.Web
	labels map[string]string
	topic  string
	budget int
}

var endless = regexp.MustCompile(`[?&]|/calendar/|/threads`)

// fetch returns a page with the links that lead on; nil where there is none.
func (c *smallCrawler) fetch(url string) *page.Page {
	answer := httptest.NewRecorder()
	c.web.ServeHTTP(answer, httptest.NewRequest("GET", url, nil))
	if answer.Code != 200 {
		return nil
	}
	p, err := page.Parse(answer.Body.Bytes(), page.ParseOptions{URL: url, ContentType: answer.Header().Get("Content-Type")})
	if err != nil {
		return nil
	}
	links := p.Links[:0]
	for _, l := range p.Links {
		if !endless.MatchString(l.URL) && l.Kind == page.Anchor {
			links = append(links, l)
		}
	}
	p.Links = links
	return p
}

func (c *smallCrawler) asFound(queue []string) (onTopic int) {
	seen := map[string]bool{}
	for n := 0; n < c.budget && len(queue) > 0; {
		url := queue[0]
		queue = queue[1:]
		if seen[url] {
			continue
		}
		seen[url] = true
		p := c.fetch(url)
		if p == nil {
			continue
		}
		n++
		if c.labels[url] == c.topic {
			onTopic++
		}
		for _, l := range p.Links {
			queue = append(queue, l.URL)
		}
	}
	return onTopic
}

// byFrontier crawls in the order of a frontier. With silent it tells of pages nothing but
// that they are done, as StormCrawler does by itself; else their text.
func (c *smallCrawler) byFrontier(seeds []string, f frontierClient, silent bool) (onTopic int) {
	c.t.Helper()
	f.ask("SetDelay", &api.QueueDelayParams{}, new(api.Empty))
	put := func(items []*api.URLItem) {
		if err := f.put(items, func(*api.URLItem, api.AckMessage_Status) {}); err != nil {
			c.t.Fatal(err)
		}
	}
	var items []*api.URLItem
	for _, s := range seeds {
		items = append(items, foundURL(&api.URLInfo{Url: s}))
	}
	put(items)
	for n := 0; n < c.budget; {
		next := f.take(&api.GetParams{MaxQueues: 1, MaxUrlsPerQueue: 1})
		if len(next) == 0 {
			break
		}
		info := next[0]
		if info.Metadata == nil {
			info.Metadata = map[string]*api.StringList{}
		}
		url, p := info.GetUrl(), c.fetch(info.GetUrl())
		items = []*api.URLItem{knownURL(info)}
		if p != nil {
			n++
			if c.labels[url] == c.topic {
				onTopic++
			}
			if !silent {
				info.Metadata["fossick.text"] = &api.StringList{Values: []string{p.Text}}
				info.Metadata["fossick.title"] = &api.StringList{Values: []string{p.Title}}
			}
			for _, l := range p.Links {
				meta := map[string]*api.StringList{"url.path": {Values: append(append([]string(nil), info.Metadata["url.path"].GetValues()...), url)}}
				if l.Anchor != "" {
					meta["anchor"] = &api.StringList{Values: []string{l.Anchor}}
				}
				items = append(items, foundURL(&api.URLInfo{Url: l.URL, Metadata: meta}))
			}
		}
		put(items)
	}
	return onTopic
}
