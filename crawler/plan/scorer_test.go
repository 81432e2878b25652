package plan

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"fossick/crawler"
	"fossick/datasets"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
	"fossick/relevance"
	"fossick/relevance/learned"
	"fossick/store"
)

var _ crawler.Marker = (*learnedScorer)(nil)

// TestTable builds each policy by keywords alone: those that need a model say so.
func TestTable(t *testing.T) {
	k := testkit.Call(relevance.NewKeywords([]string{"bee", "hive"})).Must(t)
	for _, name := range Names() {
		p, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Scorer(Input{Keywords: k, Rho: DefaultRho, Threshold: DefaultThreshold})
		if name == "learned" {
			if err == nil || !strings.Contains(err.Error(), "--model") {
				t.Errorf("%s without a model: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := p.Ordering(s); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if want := map[bool]float64{true: DefaultThreshold}[strings.HasPrefix(name, "paper")]; p.Threshold() != want {
			t.Errorf("%s drops links below %v, want %v", name, p.Threshold(), want)
		}
		if _, err := p.Scorer(Input{}); err == nil || !strings.Contains(err.Error(), "--keywords") {
			t.Errorf("%s of nothing: %v", name, err)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		rho  float64 // -1: none
		err  string
	}{
		{"shark", -1, ""},
		{"paper", -1, ""},
		{"paper:0.5", 0.5, ""},
		{"paper-mean:0", 0, ""},
		{"shark:0.5", 0, "only paper"},
		{"paper:x", 0, "only paper"},
		{"sharks", 0, "choose one of shark, hits, ache"},
	} {
		p, rho, err := Parse(c.text)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %s", c.text, err, c.err)
			}
		case err != nil || !strings.HasPrefix(c.text, p.Name) || (rho == nil) != (c.rho < 0) || rho != nil && *rho != c.rho:
			t.Errorf("%s: %s, %v, %v", c.text, p.Name, rho, err)
		}
	}
}

// TestOneCut crawls the pages of the demo set in two ways: with each page cut
// into words once, and with model and scorer that cut for themselves. All that
// they say of text and links must be the same to the last bit.
func TestOneCut(t *testing.T) {
	topic := testkit.Call(models.BuiltinTopic("science")).Must(t)
	l := testkit.Call(NewLabeller(topic)).Must(t)
	p := testkit.Call(Named("learned")).Must(t)
	in := Input{Labeller: l, Seed: 1, Rho: DefaultRho}
	once := testkit.Call(p.Scorer(in)).Must(t)
	alone := learned.New(l.judge, learned.Options{Cut: l.cut, Explore: 0.02, Seed: 1, Keywords: in.topicWords(), Rho: in.Rho, Background: l.background(), WarmStart: l.warmStart(), Share: l.share(), Seen: l.seen()})
	own := &learnedScorer{rescoringScorer: rescoringScorer{policyScorer{labeller: l, policy: alone}, alone}, learned: alone}
	if once.(*learnedScorer).words == nil || own.words != nil {
		t.Fatal("both are cut in the same way")
	}
	once.(crawler.Learner).Share(everything) // what others are told of is the same too
	own.Share(everything)
	links := 0
	for _, p := range parsedDemo(t) {
		got, want := once.ScorePage(p, 1), own.ScorePage(p, 1)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: score %+v, want %+v", p.URL, got, want)
		}
		gotLinks, wantLinks := once.ScoreLinks(nil, p, got), own.ScoreLinks(nil, p, want)
		if !reflect.DeepEqual(gotLinks, wantLinks) {
			t.Fatalf("%s: links score %v, want %v", p.URL, gotLinks, wantLinks)
		}
		links += len(gotLinks)
	}
	if links < 1000 {
		t.Errorf("%d links, want many", links)
	}
}

func parsedDemo(t *testing.T) (pages []*page.Page) {
	set := testkit.Call(datasets.Open("demo", datasets.Options{})).Must(t)
	for e := range testkit.All(t, set.Examples()) {
		if e.HTML == "" {
			continue
		}
		p := testkit.Call(page.Parse([]byte(e.HTML), page.ParseOptions{URL: e.URL})).Must(t)
		pages = append(pages, p)
	}
	return pages
}

// glancing is a topic that notes which pages it learns from, and which it only judges.
type glancing struct {
	fixed
	learned, judged, links *[]string
}

func (g glancing) ScorePage(p *page.Page, parent float64) crawler.Score {
	*g.learned = append(*g.learned, p.URL)
	return g.fixed.ScorePage(p, parent)
}

func (g glancing) ScoreLinks(dst []float64, p *page.Page, s crawler.Score) []float64 {
	*g.links = append(*g.links, p.URL)
	return g.fixed.ScoreLinks(dst, p, s)
}

func (g glancing) glance(p *page.Page) crawler.Score {
	*g.judged = append(*g.judged, p.URL)
	return crawler.Score{Relevant: true, Value: 0.75}
}

// TestLearnsFromItsOwn: a topic learns from the pages that it expected something of, its
// start pages, and those of which nobody knew. All others it judges, and of their links it
// says what it knows.
func TestLearnsFromItsOwn(t *testing.T) {
	key := page.Key
	notes := func() *[]string { return new([]string) }
	a := glancing{fixed{map[uint64]float64{key("http://a.test/1"): 0.9, key("http://both.test/"): 0.5, key("http://b.test/1"): 0.01}, new([]float64)}, notes(), notes(), notes()}
	b := glancing{fixed{map[uint64]float64{key("http://b.test/1"): 0.9, key("http://both.test/"): 0.05}, new([]float64)}, notes(), notes(), notes()}
	s := newSeveral([]topic{
		{Scorer: a, Budget: 10, Starts: []string{"http://a.test/"}},
		{Scorer: b, Budget: 10, Starts: []string{"http://b.test/"}},
	})
	s.Paid([]store.TopicCounts{{Paid: 5}, {}}) // who wants more just now does not matter
	for url, start := range map[string]bool{"http://a.test/": true, "http://a.test/1": false, "http://b.test/1": false, "http://both.test/": false, "http://nobody.test/": false} {
		p := &page.Page{URL: url, Links: []page.Link{{URL: "http://both.test/"}, {URL: "http://new.test/"}}}
		parent := 0.5
		if start {
			parent = ofStart
		}
		score := s.ScorePage(p, parent)
		if url == "http://b.test/1" && (!score.Topics[0].Relevant || score.Topics[0].Score != 0.75) {
			t.Errorf("what a topic says of a page that it did not ask for: %+v", score.Topics[0])
		}
		if links := s.ScoreLinks(nil, p, score); len(links) != 2 || links[0] <= 0 || links[1] != 0 {
			t.Errorf("%s: links are worth %v", url, links)
		}
	}
	for _, c := range []struct {
		what string
		got  []string
		want []string
	}{
		{"the first learns from", *a.learned, []string{"http://a.test/", "http://a.test/1", "http://both.test/", "http://nobody.test/"}},
		{"the first judges", *a.judged, []string{"http://b.test/1"}},
		{"the first reads links of", *a.links, []string{"http://a.test/", "http://a.test/1", "http://both.test/", "http://nobody.test/"}},
		{"the second learns from", *b.learned, []string{"http://b.test/1", "http://both.test/", "http://nobody.test/"}},
		{"the second judges", *b.judged, []string{"http://a.test/", "http://a.test/1"}},
	} {
		if slices.Sort(c.got); !slices.Equal(c.got, c.want) {
			t.Errorf("%s %v, want %v", c.what, c.got, c.want)
		}
	}
}

// TestBackgroundOfModel: the shares of pages that a model has give a background; in a
// model of an earlier format document frequencies do, and log-odds in their place do
// not. Terms that are no words of a page give none. What it has is the share of the
// training pages: a crawl that is like them finds nothing out of the ordinary.
func TestBackgroundOfModel(t *testing.T) {
	for _, test := range []struct {
		name    string
		terms   []string
		weights string
		shares  []float32
		want    bool
	}{
		{"idf", []string{"fern", "title:fern"}, "", nil, true},
		{"log-odds", []string{"fern", "title:fern"}, "log odds", nil, false},
		{"shares", []string{"fern", "title:fern"}, "log odds", []float32{0.5, 0.5}, true},
		{"no words", []string{"title:fern", "lead:fern"}, "", []float32{0.5, 0.5}, false},
	} {
		l, err := NewLabeller(&models.Topic{Name: "plants", Model: &models.Model{
			Classifier: models.LinearSVM, Classes: []string{"other", "plants"}, Terms: test.terms,
			Weighting:   features.Weighting{IDF: features.IDF([]int32{3, 2}, 100)},
			Frequency:   test.shares,
			Linear:      &models.Linear{Weights: make([]float32, 4), Bias: make([]float32, 2)},
			Calibration: models.Calibration{Scale: 1},
			Thresholds:  []float64{0.5, 0.5},
			Card:        models.Card{Settings: map[string]string{"term_weights": test.weights}},
		}})
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		var b *learned.Background = l.background()
		if (b != nil) != test.want || b != l.background() {
			t.Errorf("%s: background %v, want one: %v, and the same twice", test.name, b, test.want)
		}
	}
}

// TestTrainedStart: a start page that the model was trained on is told from others, by its
// text.
func TestTrainedStart(t *testing.T) {
	text := func(url, text string) *page.Page {
		p := testkit.Call(page.Parse([]byte("<title>ferns</title><p>"+text), page.ParseOptions{URL: url})).Must(t)
		return p
	}
	was, copied, other := text("http://a.test/", "green"), text("http://b.test/", "green"), text("http://a.test/", "red")
	l := testkit.Call(NewLabeller(&models.Topic{Name: "plants", Model: &models.Model{
		Classifier: models.LinearSVM, Classes: []string{"other", "plants"}, Terms: []string{"fern"},
		Weighting:   features.Weighting{IDF: features.IDF([]int32{3}, 100)},
		Linear:      &models.Linear{Weights: make([]float32, 2), Bias: make([]float32, 2)},
		Calibration: models.Calibration{Scale: 1},
		Thresholds:  []float64{0.5, 0.5},
		Card:        models.Card{Marks: models.KeepMarks([]uint64{models.Mark(features.Doc(was.Fields()))})},
	}})).Must(t)
	for _, c := range []struct {
		name string
		page *page.Page
		want bool
	}{{"the page", was, true}, {"a copy", copied, true}, {"another text", other, false}} {
		if got := l.trainedOn(c.page); got != c.want {
			t.Errorf("%s: trained on it: %v, want %v", c.name, got, c.want)
		}
	}
}
