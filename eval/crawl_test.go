package eval

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/store"
)

type fakePage struct {
	url, title, body string
	score            float64
	relevant         bool
	label            string
}

func fill(t testing.TB, dir, topic string, all []fakePage) *store.Store {
	t.Helper()
	s := testkit.Call(store.Create(dir, store.Info{Version: "test", Topic: topic})).Must(t)
	counts := store.Counts{States: map[string]uint64{"redirect": 7, "code": 12, "robots_denied": 3}, Codes: map[int]uint64{404: 11, 500: 1}}
	b := s.Batch()
	for i, f := range all {
		id := store.ID(i + 1)
		sum := sha256.Sum256([]byte(f.url))
		p := &store.Page{
			Number: uint64(i + 1), ID: id, URL: f.url, ContentType: "text/html; charset=utf-8", Checksum: sum[:16],
			Title: f.title, Score: f.score, Relevant: f.relevant, Label: f.label, Probability: f.score, Bytes: int64(len(f.body)),
		}
		for _, err := range []error{
			b.PutSeen(store.HashURL(f.url), id, false),
			b.PutDiscovery(id, store.Discovery{URL: f.url, Via: store.ViaSeed, At: 1}),
			b.PutPage(p, s.Compress([]byte(f.body))),
			b.PutOutcome(id, store.Outcome{State: "ok", Page: p.Number, At: 2}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		counts.States["ok"]++
		counts.Pages++
	}
	counts.URLs, counts.Requests = counts.Pages+22, counts.Pages+40
	testkit.Must(t, b.PutCounts(&counts))
	testkit.Must(t, b.Commit())
	return s
}

func closed(t testing.TB, s *store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// synthetic returns n pages on about 20 hosts, two thirds about money, one label in ten wrong.
func synthetic(r *rand.Rand, n int) []fakePage {
	var all []fakePage
	for i := range n {
		topic, words := "banking", "loan rate deposit account branch mortgage"
		if r.Float64() < 0.35 {
			topic, words = []string{"sport", "science", "travel"}[r.IntN(3)], "goal comet beach season orbit ticket"
		}
		f := fakePage{
			url:   fmt.Sprintf("http://host%02d.example/%s/%d", r.IntN(20)*r.IntN(20)/19, topic, i),
			title: fmt.Sprintf("Page %d about %s", i, topic), score: r.Float64(), label: topic,
			body: "<title>x</title><p>" + strings.Repeat(words+" ", 5),
		}
		f.relevant = (topic == "banking") == (r.Float64() < 0.9)
		all = append(all, f)
	}
	return all
}

// truthOf returns a truth that reads a synthetic page's topic from its URL.
func truthOf(target string, targets int) (labelSource, func(url string) judgement) {
	return labelSource{Kind: byLabels, Name: "truth.tsv", Target: target, Targets: targets, Known: 10 * targets}, func(url string) judgement {
		if strings.Contains(url, "unknown") {
			return judgement{}
		}
		class := strings.Split(url, "/")[3]
		return judgement{class == target, true, class}
	}
}

func load(t testing.TB, s *store.Store) *judgedCrawl {
	t.Helper()
	c := testkit.Call(loadCrawl(context.Background(), s)).Must(t)
	return c
}

func TestMeasure(t *testing.T) {
	s := fill(t, filepath.Join(t.TempDir(), "s"), "banking", []fakePage{
		{url: "http://a.example/banking/1", relevant: true},
		{url: "http://a.example/sport/1", relevant: true},
		{url: "http://b.example/banking/2"},
		{url: "http://b.example/unknown/1"},
	})
	defer closed(t, s)
	c := load(t, s)

	own := measureAll([]*judgedCrawl{c}, 2)
	checkNear(t, "harvest by the crawl's labels", *own.Harvest, 0.5)
	if own.Relevance != byOwnLabels || own.Recall != nil || own.Unknown != nil || own.Kept != nil || own.SearchLength != nil {
		t.Errorf("without a truth: got %+v; want no recall, unknown, kept or search length", own.Figures)
	}

	c.judgeByTruth(truthOf("banking", 4))
	r := measureAll([]*judgedCrawl{c}, 2)
	checkNear(t, "harvest", *r.Harvest, 0.5)
	checkNear(t, "recall", *r.Recall, 0.5)
	if *r.Unknown != 1 || r.Relevant != 2 || r.Overlap != nil || r.Stores != nil || r.RecallEstimate != nil {
		t.Errorf("got %+v", r)
	}
	if r.SearchLength != nil || r.SearchLength50 == nil || *r.SearchLength50 != 3 {
		t.Errorf("search length: got %v and half %v, want none and 3", r.SearchLength, r.SearchLength50)
	}
	samePoints(t, "curve", r.Curve, []Point{{2, 0.5}, {4, 0.5}})
}

func TestMeasureEmptyStore(t *testing.T) {
	s := fill(t, filepath.Join(t.TempDir(), "s"), "banking", nil)
	defer closed(t, s)
	r := measureAll([]*judgedCrawl{load(t, s)}, 0)
	if r.Harvest != nil || r.HarvestCI != nil || r.Kept != nil || r.Fetched != 0 {
		t.Errorf("no pages: got %+v, want no harvest", r.Figures)
	}
}

func TestMeasureTwoStores(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	all := synthetic(r, 60)
	var crawls []*judgedCrawl
	for i, part := range [][]fakePage{all[:40], all[20:]} {
		s := fill(t, filepath.Join(t.TempDir(), fmt.Sprint(i)), "banking", part)
		c := load(t, s)
		closed(t, s)
		c.judgeByTruth(truthOf("banking", 60))
		crawls = append(crawls, c)
	}
	m := measureAll(crawls, 10)
	if len(m.Stores) != 2 || m.Stores[0].Fetched != 40 || m.RecallEstimate == nil {
		t.Fatalf("got %+v", m)
	}
	if last := m.Overlap[len(m.Overlap)-1]; last != (Point{40, 0.5}) {
		t.Errorf("overlap ends at %v, want {40 0.5}", last)
	}
	n1, n2, both := 0, 0, 0
	for i, f := range all {
		if strings.Contains(f.url, "/banking/") {
			if i < 40 {
				n1++
			}
			if i >= 20 {
				n2++
			}
			if i >= 20 && i < 40 {
				both++
			}
		}
	}
	checkNear(t, "recall estimate", m.RecallEstimate.Value, float64(n1)/lincolnPetersen(n1, n2, both).Size)
	if m.RecallEstimate.Caution == "" || m.RecallEstimate.Method == "" {
		t.Error("the estimate does not say what it is")
	}
}

func moneyWords(p *page.Page) Classified {
	if strings.Contains(p.Text, "mortgage") {
		return Classified{Score: 0.9, Rest: "sport"}
	}
	return Classified{Score: 0.1, Rest: "sport"}
}

func mortgages(p *page.Page, label string) string {
	return fmt.Sprintf("mortgage %d times → %s", strings.Count(p.Text, "mortgage"), label)
}

// TestRefineUnknown: refine drops a page that the model cannot classify, whatever the threshold.
func TestRefineUnknown(t *testing.T) {
	s := fill(t, filepath.Join(t.TempDir(), "s"), "banking", synthetic(rand.New(rand.NewPCG(1, 5)), 20))
	defer closed(t, s)
	opt := RefineOptions{Topic: "banking", Classify: func(*page.Page) Classified { return Classified{0.9, "sport", true} }, Explain: func(*page.Page, string) string { return "no word → sport" }}
	if r, err := Refine(context.Background(), s, opt); err != nil || r.Kept != 0 || r.PerClass["sport"] != 20 {
		t.Errorf("%+v, %v", r, err)
	}
	for l, err := range s.Labels() {
		if err != nil || l.Rule != "no word → sport; banking not known" {
			t.Fatalf("%+v, %v", l, err)
		}
	}
}

func TestRefine(t *testing.T) {
	s := fill(t, filepath.Join(t.TempDir(), "s"), "banking", synthetic(rand.New(rand.NewPCG(1, 5)), 300))
	defer closed(t, s)
	if k := load(t, s).kept(); k != nil {
		t.Fatalf("kept before refine: %v", k)
	}
	opt := RefineOptions{Topic: "banking", Model: "m1", Threshold: 0.5, Workers: 3, Classify: moneyWords, Explain: mortgages}
	first, err := Refine(context.Background(), s, opt)
	if err != nil {
		t.Fatal(err)
	}
	if first.Pages != 300 || first.Kept+first.Dropped != 300 || first.PerClass["banking"] != first.Kept || first.Kept == 0 {
		t.Errorf("got %+v", first)
	}
	c := load(t, s)
	c.judgeByTruth(truthOf("banking", 400))
	m := measureAll([]*judgedCrawl{c}, 0)
	if *m.Kept.Precision != 1 || *m.Kept.Recall != 1 || *m.HarvestAfter != 1 {
		t.Errorf("cluster of a perfect classifier: %+v", m.Kept)
	}
	for _, p := range c.Pages {
		want := store.Label{Label: "sport", Score: 0.1, Rule: "mortgage 0 times → sport; banking 0.1 < 0.5", Model: "m1"}
		if p.Relevant {
			want = store.Label{Label: "banking", Score: 0.9, Kept: true, Model: "m1"}
			want.Rule = p.Refined.Rule
			if !strings.HasPrefix(want.Rule, "mortgage ") || !strings.HasSuffix(want.Rule, " times → banking; banking 0.9 ≥ 0.5") {
				t.Fatalf("%s: rule %q", p.URL, want.Rule)
			}
		}
		if *p.Refined != want {
			t.Fatalf("%s: got %+v, want %+v", p.URL, *p.Refined, want)
		}
	}

	// A page is kept although its most probable class is another; its rule explains its label.
	opt.Threshold = 0.05
	testkit.Call(Refine(context.Background(), s, opt)).Must(t)
	for _, p := range load(t, s).Pages {
		if !p.Refined.Kept || !strings.Contains(p.Refined.Rule, "→ banking; banking 0.") {
			t.Fatalf("%s: kept %v by %q, want the reason for banking", p.URL, p.Refined.Kept, p.Refined.Rule)
		}
	}

	opt.Model, opt.Threshold, opt.Explain = "m2", 0.95, nil
	again, err := Refine(context.Background(), s, opt)
	if err != nil || again.Kept != 0 {
		t.Errorf("second run: %+v, %v; want nothing kept", again, err)
	}
	for _, p := range load(t, s).Pages {
		if p.Refined.Model != "m2" {
			t.Fatalf("page %d still has the label of %s", p.Number, p.Refined.Model)
		}
		if !strings.HasPrefix(p.Refined.Rule, "banking 0.") {
			t.Fatalf("page %d: rule %q without an explanation", p.Number, p.Refined.Rule)
		}
	}
}

// The result must not depend on the number of goroutines.
func TestEachParsedInOrder(t *testing.T) {
	s := fill(t, filepath.Join(t.TempDir(), "s"), "x", synthetic(rand.New(rand.NewPCG(1, 6)), 100))
	defer closed(t, s)
	for _, workers := range []int{0, 1, 7} {
		next := uint64(1)
		err := eachParsed(context.Background(), s, workers, func(p *store.Page, _ *page.Page) uint64 {
			time.Sleep(time.Duration(p.Number%3) * 10 * time.Microsecond) // vary the order in which workers finish
			return p.Number
		}, func(_ *store.Page, n uint64) error {
			if n != next {
				return fmt.Errorf("got page %d, want %d", n, next)
			}
			next++
			return nil
		})
		if err != nil || next != 101 {
			t.Errorf("%d workers: %v, %d pages", workers, err, next-1)
		}
	}
}

// An interrupted refinement returns, and keeps the labels written so far.
func TestRefineInterrupted(t *testing.T) {
	s := fill(t, filepath.Join(t.TempDir(), "s"), "x", synthetic(rand.New(rand.NewPCG(1, 7)), 200))
	defer closed(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := Refine(ctx, s, RefineOptions{Topic: "banking", Workers: 2, Threshold: 0.5, Classify: moneyWords, Progress: func(done int) {
		if done == 50 {
			cancel()
		}
	}})
	if err == nil || r.Pages < 50 || r.Pages == 200 {
		t.Fatalf("got %d pages, %v; want some 50 and the context's error", r.Pages, err)
	}
	labels := 0
	for range testkit.All(t, s.Labels()) {
		labels++
	}
	if labels != r.Pages {
		t.Errorf("%d labels in the store, %d counted", labels, r.Pages)
	}
	if load(t, s).kept() != nil {
		t.Error("half a cluster was measured")
	}
}

func TestJudgeByModel(t *testing.T) {
	s := fill(t, filepath.Join(t.TempDir(), "s"), "banking", synthetic(rand.New(rand.NewPCG(1, 8)), 80))
	defer closed(t, s)
	c := load(t, s)
	testkit.Must(t, c.judgeByModel(context.Background(), s, labelSource{Kind: byModel, Name: "j", Target: "banking"}, func(p *page.Page) judgement {
		got := moneyWords(p)
		return judgement{got.Score > 0.5, true, got.Rest}
	}, 2))
	for _, p := range c.Pages {
		if p.Relevant != strings.Contains(p.URL, "/banking/") {
			t.Fatalf("%s: relevant %v", p.URL, p.Relevant)
		}
	}
	if m := measureAll([]*judgedCrawl{c}, 0); m.Recall != nil || *m.Unknown != 0 || m.Relevance != byModel {
		t.Errorf("a judge names no targets: %+v", m.Figures)
	}
}

// crawled makes a store of n pages whose first half the crawl labelled relevant.
func crawled(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "crawl")
	var pages []fakePage
	for i := range n {
		pages = append(pages, fakePage{url: fmt.Sprintf("http://h.example/%d", i), body: "<p>A loan of a bank", relevant: i < n/2})
	}
	closed(t, fill(t, dir, "money", pages))
	return dir
}

func sources(stores ...string) Sources {
	return Sources{Stores: stores, Step: func(string) func() { return func() {} }, Open: func(dir string) (*store.Store, func() error, error) {
		s, err := store.OpenToRead(dir)
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	}}
}

// TestWhoseWordCounts: a truth overrides the own labels; the default target is the crawl's topic.
func TestWhoseWordCounts(t *testing.T) {
	dir := crawled(t, 8)
	truth := filepath.Join(t.TempDir(), "labels.tsv")
	testkit.Must(t, os.WriteFile(truth, []byte("http://h.example/0\tmoney\tmoney\nhttp://h.example/1\tstars\tstars\n"), 0o600))
	own, byTruth, ofStars := sources(dir), sources(dir), sources(dir)
	byTruth.Truth, ofStars.Truth, ofStars.Target = truth, truth, "stars"
	for name, c := range map[string]struct {
		from    Sources
		harvest float64
		unknown int
		made    string
	}{
		"own labels": {own, 0.5, 0, ""}, "truth": {byTruth, 0.125, 6, "labels.tsv, 2 pages"}, "truth of another": {ofStars, 0.125, 6, "labels.tsv, 2 pages"},
	} {
		crawls := testkit.Call(ReadCrawls(t.Context(), c.from)).Must(t)
		r := crawls.Measure(0)
		if r.Harvest == nil || *r.Harvest != c.harvest || r.Unknown != nil && *r.Unknown != c.unknown || r.Settings["workers"] != "32" || r.Next != nil {
			t.Errorf("%s: %+v", name, r.Figures)
		}
		var report strings.Builder
		if err := crawls.WriteReport(&report, r); err != nil || !strings.Contains(report.String(), c.made) {
			t.Errorf("%s: %v, want %q in the report", name, err, c.made)
		}
	}
}

// TestMistakes: ReadCrawls reports wrong usage before it opens a store.
func TestMistakes(t *testing.T) {
	twice, caps := sources("a", "./a"), sources("a")
	caps.Caps = []int{10, 0}
	for want, from := range map[string]Sources{"is given twice": twice, "want a number of pages, at least 1": caps} {
		var mistake cli.UsageError
		if _, err := ReadCrawls(t.Context(), from); err == nil || !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want a mistake with %q", err, want)
		}
	}
}

// markedStore has two pages per class; a mark contradicts the label of the first of each.
func markedStore(t *testing.T) *store.Store {
	t.Helper()
	bank, goal := "<p>loan loan deposit branch", "<p>goal ball beach"
	s := fill(t, filepath.Join(t.TempDir(), "s"), "banking", []fakePage{
		{url: "http://a.example/banking/1", body: bank, relevant: true, label: "banking"}, {url: "http://a.example/banking/2", body: bank + " x", relevant: true, label: "banking"},
		{url: "http://a.example/sport/1", body: goal, label: "sport"}, {url: "http://a.example/sport/2", body: goal + " x", label: "sport"},
	})
	t.Cleanup(func() { closed(t, s) })
	counts := testkit.Call(s.Counts()).Must(t)
	b := s.Batch()
	for id, onTopic := range map[store.ID]bool{1: false, 3: true} {
		testkit.Must(t, b.Mark(id, store.Mark{OnTopic: onTopic, At: 7}, &counts))
	}
	testkit.Must(t, b.Commit())
	return s
}

func verdicts(c *judgedCrawl) (s string) {
	for _, r := range c.relevant() {
		s += map[bool]string{true: "y", false: "n"}[r]
	}
	return s
}

// TestMarksOverruleModels: a mark overrules crawl, judge and refine, but no truth.
func TestMarksOverruleModels(t *testing.T) {
	s := markedStore(t)
	c := load(t, s)
	if got := verdicts(c); got != "nyyn" {
		t.Errorf("by the crawl: %s, want nyyn", got)
	}
	judge := func(p *page.Page) judgement {
		return judgement{Relevant: strings.Contains(p.Text, "loan"), Known: true}
	}
	testkit.Must(t, c.judgeByModel(t.Context(), s, labelSource{Kind: byModel, Name: "j", Target: "banking"}, judge, 2))
	if got := verdicts(c); got != "nyyn" {
		t.Errorf("by a judge: %s, want nyyn", got)
	}
	c.judgeByTruth(truthOf("banking", 2))
	if got := verdicts(c); got != "yynn" {
		t.Errorf("by a truth: %s, want yynn", got)
	}
	r, err := Refine(t.Context(), s, RefineOptions{Topic: "banking", Model: "m", Threshold: 0.5, Workers: 2,
		Classify: func(p *page.Page) Classified {
			if strings.Contains(p.Text, "loan") {
				return Classified{Score: 0.9, Rest: "sport"}
			}
			return Classified{Score: 0.1, Rest: "sport"}
		}})
	if err != nil || r.Kept != 2 || r.PerClass["banking"] != 2 || r.PerClass["sport"] != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	for n, want := range map[uint64]store.Label{
		1: {Label: "sport", Score: 0, Kept: false, Model: "m", Rule: "marked no by a person; the model: banking 0.9 ≥ 0.5",
			Was: &store.Label{Label: "banking", Score: 0.9, Kept: true, Model: "m", Rule: "banking 0.9 ≥ 0.5"}},
		3: {Label: "banking", Score: 1, Kept: true, Model: "m", Rule: "marked yes by a person; the model: banking 0.1 < 0.5",
			Was: &store.Label{Label: "sport", Score: 0.1, Kept: false, Model: "m", Rule: "banking 0.1 < 0.5"}},
		4: {Label: "sport", Score: 0.1, Kept: false, Model: "m", Rule: "banking 0.1 < 0.5"},
	} {
		if got, err := s.Label(n); err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("page %d: %+v, %v; want %+v", n, got, err, want)
		}
	}
}
