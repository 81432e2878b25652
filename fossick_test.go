package fossick_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick"
)

// wrong returns at most this many scores of links, each NaN.
type wrong int

func (wrong) ScorePage(*fossick.Page, float64) fossick.Score { return fossick.Score{Value: math.NaN()} }

func (n wrong) ScoreLinks(p *fossick.Page, _ fossick.Score) (scores []float64) {
	for range min(int(n), len(p.Links)) {
		scores = append(scores, math.NaN())
	}
	return scores
}

// TestWrongScorer: too few scores end a crawl with an error; NaN counts as 0.
func TestWrongScorer(t *testing.T) {
	site := web()
	defer site.Close()
	for n, want := range map[wrong]string{0: "ScoreLinks returned 0 scores for the 1 links of " + site.URL + "/hive", 1: ""} {
		r, err := fossick.Crawl(t.Context(), options(t, n, site.URL+"/hive"))
		if want == "" && (err != nil || r.Pages != 2) {
			t.Errorf("not numbers: %+v, %v; want 2 pages", r, err)
		} else if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d scores: %v; want %s", n, err, want)
		}
	}
}

// TestCrawlGoesOn: a second call continues with the existing store.
func TestCrawlGoesOn(t *testing.T) {
	site := web()
	defer site.Close()
	opt := options(t, bees{}, site.URL+"/")
	for _, pages := range []uint64{2, 4} {
		opt.MaxPages = pages
		if r, err := fossick.Crawl(t.Context(), opt); err != nil || r.Pages != pages || r.Stopped != "max_pages" {
			t.Errorf("to %d pages: %+v, %v", pages, r, err)
		}
	}
}

func options(t *testing.T, s fossick.Scorer, start string) fossick.Options {
	return fossick.Options{
		Scorer: s, Seeds: []string{start}, Store: filepath.Join(t.TempDir(), "crawl"), Workers: 1, Delay: -1,
		AllowNet: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Contact: "you@example.org",
	}
}

func web() *httptest.Server {
	pages := map[string]string{
		"/":       `<title>Start</title><p>Where to go. <a href="/rocks">all about rocks</a> <a href="/hive">life in the hive</a>`,
		"/rocks":  `<title>Rocks</title><p>Basalt is a rock of cooled lava. <a href="/basalt">basalt</a>`,
		"/basalt": `<title>Basalt</title><p>It is dark.`,
		"/hive":   `<title>The hive</title><p>Bees make honey of nectar. <a href="/honey">what honey is</a>`,
		"/honey":  `<title>Honey</title><p>Honey is nectar that bees have dried.`,
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(text))
	}))
}

// bees scores pages by their text, and links by the words around them.
type bees struct{}

func (bees) ScorePage(p *fossick.Page, parent float64) fossick.Score {
	if strings.Contains(strings.ToLower(p.Text), "honey") {
		return fossick.Score{Value: 1, Relevant: true}
	}
	return fossick.Score{Value: parent / 2}
}

func (bees) ScoreLinks(p *fossick.Page, s fossick.Score) (scores []float64) {
	for _, l := range p.Links {
		score := s.Value / 2
		if strings.Contains(l.Anchor, "hive") || strings.Contains(l.Anchor, "honey") {
			score = 1
		}
		scores = append(scores, score)
	}
	return scores
}

// ExampleCrawl crawls in the order of a user's own scorer and reads the pages.
func ExampleCrawl() {
	site := web()
	defer site.Close()
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)

	r, err := fossick.Crawl(context.Background(), fossick.Options{
		Scorer: bees{}, Seeds: []string{site.URL + "/"}, Store: filepath.Join(dir, "bees"), MaxPages: 4,
		Workers: 1, Delay: -1, AllowNet: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Contact: "you@example.org",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Pages, "pages,", r.Relevant, "on topic,", r.Stopped)
	s, err := fossick.Open(r.Store)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for p, err := range s.Pages() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(p.Title, p.Score.Relevant)
	}
	// Output:
	// 4 pages, 2 on topic, max_pages
	// Start false
	// The hive true
	// Honey true
	// Rocks false
}

// ExampleCrawl_keywords crawls for a topic's words, without a model.
func ExampleCrawl_keywords() {
	site := web()
	defer site.Close()
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)

	r, err := fossick.Crawl(context.Background(), fossick.Options{
		Keywords: []string{"honey", "bee", "hive"}, Seeds: []string{site.URL + "/hive"}, Store: filepath.Join(dir, "bees"),
		Delay: -1, AllowNet: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Contact: "you@example.org",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Pages, r.Stopped)
	// Output: 2 frontier_empty
}

// ExampleTrain trains a model on labelled texts, stores it in a file, and labels a new text.
func ExampleTrain() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "bees.model")

	m, err := fossick.Train(context.Background(), []fossick.Example{
		{Label: "bees", Text: "The queen of the hive lays eggs."},
		{Label: "bees", Text: "Workers carry nectar to the hive."},
		{Label: "bees", Text: "Honey is nectar that a hive has dried."},
		{Label: "bees", Text: "A hive has one queen and many workers."},
		{Label: "bees", Text: "In winter the workers of a hive eat honey."},
		{Label: "rocks", Text: "Basalt is a rock of cooled lava."},
		{Label: "rocks", Text: "Lava that cools slowly is granite."},
		{Label: "rocks", Text: "Granite and basalt are rock."},
		{Label: "rocks", Text: "A rock of old lava is worn by rain."},
		{Label: "rocks", Text: "Under granite the rock is hot."},
	})
	if err == nil {
		err = m.WriteFile(file)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err = fossick.ReadModel(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Label("", "What nectar becomes in the hive").Name)
	// Output: bees
}
