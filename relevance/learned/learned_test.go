package learned

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/internal/page"
	"fossick/models/features"
)

// goldJudge is sure of texts with "gold" in them and doubts all others.
func goldJudge(d features.Doc) float64 {
	if strings.Contains(d.Title+d.Text, "gold") {
		return 0.95
	}
	return 0.05
}

// linked returns a page with one link.
func linked(from, to, anchor string) *page.Page {
	return &page.Page{URL: from, Links: []page.Link{{URL: to, Anchor: anchor}}}
}

func TestLearnedPrefers(t *testing.T) {
	type seen struct {
		anchor      string
		probability float64
	}
	score := func(parents ...seen) float64 {
		l := New(goldJudge, Options{Cut: 0.5})
		var s []float64
		for i, p := range parents {
			s = l.ScoreLinks(nil, linked(fmt.Sprintf("http://p%d.test/", i), "http://t.test/", p.anchor), p.probability)
		}
		return s[0]
	}
	for _, test := range []struct {
		name         string
		better, than float64
	}{
		{"a parent on topic", score(seen{"x", 0.9}), score(seen{"x", 0.1})},
		{"an anchor on topic", score(seen{"gold", 0.5}), score(seen{"x", 0.5})},
		{"text to navigation", score(seen{"x", 0.5}), navigated()},
		{"two parents on topic to one", score(seen{"x", 0.9}, seen{"x", 0.9}), score(seen{"x", 0.9})},
		{"one parent to that and a poor one", score(seen{"x", 0.9}), score(seen{"x", 0.9}, seen{"x", 0})},
	} {
		if test.better <= test.than {
			t.Errorf("%s: %v is not above %v", test.name, test.better, test.than)
		}
		if test.better > 1 || test.than < 0 {
			t.Errorf("%s: %v and %v are not both in [0,1]", test.name, test.better, test.than)
		}
	}
}

// navigated is the score of a target that one page names, in its navigation.
func navigated() float64 {
	p := linked("http://p0.test/", "http://t.test/", "x")
	p.Links[0].Nav = true
	return New(goldJudge, Options{Cut: 0.5}).ScoreLinks(nil, p, 0.5)[0]
}

// TestLearnedReadsWords: a word that pages on topic had makes a target better whose link has it, though
// the judge never heard of it.
func TestLearnedReadsWords(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	for i := range 20 {
		p := &page.Page{URL: fmt.Sprintf("http://p%d.test/", i), Text: "quartz and more"}
		if i%2 == 0 {
			p.Text = "football and more"
		}
		l.ScorePage(p, float64(i%2))
	}
	p := &page.Page{URL: "http://p.test/", Links: []page.Link{
		{URL: "http://t.test/1", Anchor: "football"},
		{URL: "http://t.test/2", Anchor: "hockey"}, {URL: "http://t.test/3", Anchor: "quartz"}}}
	s := l.ScoreLinks(nil, p, 0.5)
	if !(s[0] < s[1] && s[1] < s[2]) {
		t.Errorf("scores %v of a word off topic, a new one and one on topic, want them to rise", s)
	}
}

// TestLearnedLearns crawls worlds in which one sign is right: the weights must move so that what the
// sign marks scores better than in the beginning.
func TestLearnedLearns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	l := New(goldJudge, Options{Cut: 0.5})
	before := l.model.weights
	for i := range 400 {
		to := fmt.Sprintf("http://t%d.test/", i)
		good := rng.IntN(2) == 0
		from := linked(fmt.Sprintf("http://p%d.test/", i), to, "x")
		from.Links[0].Nav = good // here, navigation leads to what is wanted
		l.ScoreLinks(nil, from, 0.5)
		y := 0.0
		if good {
			y = 1
		}
		l.ScorePage(&page.Page{URL: to}, y)
	}
	if now, was := l.model.weights.weight[featNav], before.weight[featNav]; now <= was+0.2 {
		t.Errorf("weight of navigation went from %v to %v, want it to rise well", was, now)
	}
}

func TestLearnedForgetsWhatWasFetched(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	target := "http://t.test/"
	l.ScoreLinks(nil, linked("http://p.test/", target, "gold"), 0.9)
	key := page.Key(target)
	if s, known := l.Rescore(key); !known || s <= 0 {
		t.Fatalf("Rescore = %v, %v before the fetch", s, known)
	}
	score := l.ScorePage(&page.Page{URL: target}, 0.8)
	if score.Value != 0.8 || len(spelled(t, score)) < numFeatures {
		t.Errorf("score %+v, want the probability and all terms", score)
	}
	if _, known := l.Rescore(key); known {
		t.Error("evidence is kept after the fetch")
	}
	if s := l.ScoreLinks(nil, linked("http://q.test/", target, "gold"), 0.9); s[0] != 0 || count(&l.links.waiting) != 0 {
		t.Errorf("a link to a fetched page scores %v and leaves %d evidence", s, count(&l.links.waiting))
	}
}

// TestHostRecord: a host whose pages were good makes its waiting pages better, with nothing new about
// themselves.
func TestHostRecord(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	l.ScoreLinks(nil, linked("http://p.test/", "http://h.test/waits", "x"), 0.5)
	before, _ := l.Rescore(page.Key("http://h.test/waits"))
	l.ScorePage(&page.Page{URL: "http://h.test/good"}, 1)
	after, _ := l.Rescore(page.Key("http://h.test/waits"))
	if after <= before {
		t.Errorf("score went from %v to %v after a good page of the host", before, after)
	}
}

// TestTermsAddUp: what why prints is the score, part by part.
func TestTermsAddUp(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	l.ScorePage(&page.Page{URL: "http://h.test/a", Text: "shiny gold"}, 0.9)
	for i := range 6 {
		l.ScoreLinks(nil, linked(fmt.Sprintf("http://p%d.test/", i), "http://h.test/b", "gold ore"), 0.3)
	}
	terms := spelled(t, l.ScorePage(&page.Page{URL: "http://h.test/b"}, 1))
	sum := 0.0
	for _, term := range terms[3:] {
		sum += term.Value
		if term.Name == "" || term.Note == "" {
			t.Errorf("term %+v says nothing", term)
		}
	}
	told := fmt.Sprint(terms)
	for _, fact := range []string{
		"6, mean probability 0.30", "1.8 of them on topic", "in running text", "by its 1 fetched pages", "1 links since a page on topic",
	} {
		if !strings.Contains(told, fact) {
			t.Errorf("terms %v do not tell %q", terms, fact)
		}
	}
	if expected := terms[2].Value; len(terms) != numFeatures+3 || math.Abs(sum-logit(expected)) > 1e-9 {
		t.Errorf("%d terms add up to %v, want %d and %v", len(terms), sum, numFeatures+3, logit(expected))
	}
}

// TestReplayIsTheSame: a scorer that is shown the pages of a crawl again, in their order, scores what
// waits as the one that made it.
func TestReplayIsTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var crawl []*page.Page
	for i := range 300 {
		p := &page.Page{URL: fmt.Sprintf("http://h%d.test/%d", i%7, i), Text: fmt.Sprint("gold ", i%11, " word", i%5)}
		for range 10 {
			k := rng.IntN(900)
			p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://h%d.test/%d", k%7, k), Anchor: fmt.Sprint("word", k%9), Nav: k%3 == 0})
		}
		crawl = append(crawl, p)
	}
	var scorers [2]*Scorer
	for i := range scorers {
		scorers[i] = New(goldJudge, Options{Cut: 0.5, Explore: 0.05, Seed: 4})
		for n, p := range crawl {
			scorers[i].ScorePage(p, float64(n%4)/3)
			scorers[i].ScoreLinks(nil, p, float64(n%4)/3)
		}
	}
	for k := range 900 {
		key := page.Key(fmt.Sprintf("http://h%d.test/%d", k%7, k))
		a, known := scorers[0].Rescore(key)
		b, too := scorers[1].Rescore(key)
		if a != b || known != too {
			t.Errorf("target %d: %v, %v and %v, %v", k, a, known, b, too)
		}
	}
}

// TestAboveSilence: what the judge says of a text counts against what it says of none, within bounds.
func TestAboveSilence(t *testing.T) {
	l := New(func(features.Doc) float64 { return 0.01 }, Options{Cut: 0.5})
	for p, want := range map[float64]float64{0: -4, 1: 4, 0.01: 0, 0.002: logit(0.002) - logit(0.01)} {
		if got := l.texts.above(p); math.Abs(got-want) > 1e-12 {
			t.Errorf("above(%v) = %v, want %v", p, got, want)
		}
	}
}

func BenchmarkScoreLinks(b *testing.B) {
	l := New(goldJudge, Options{Cut: 0.5})
	p := &page.Page{URL: "http://p.test/"}
	for i := range 26 {
		p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://h%d.test/%d", i%7, i), Anchor: "some words", Context: "twenty words stand around each link so that half of them come before what it says and the rest behind it here"})
	}
	dst := make([]float64, 0, len(p.Links))
	b.ReportAllocs()
	for b.Loop() {
		dst = l.ScoreLinks(dst[:0], p, 0.7)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(p.Links)), "ns/link")
}

func BenchmarkLearnedPage(b *testing.B) {
	l := New(goldJudge, Options{Cut: 0.5})
	rng := rand.New(rand.NewPCG(1, 1))
	var texts []string
	for range 100 {
		var text strings.Builder
		for range 1000 {
			fmt.Fprintf(&text, "word%d ", int(rng.ExpFloat64()*1000))
		}
		texts = append(texts, text.String())
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l.ScorePage(&page.Page{URL: fmt.Sprintf("http://p.test/%d", i), Text: texts[i%len(texts)]}, 0.5)
	}
}

// BenchmarkRescore asks for the scores of a queue of 20,000 targets, after each page, as a crawl does
// that learns.
func BenchmarkRescore(b *testing.B) {
	l := New(goldJudge, Options{Cut: 0.5})
	rng := rand.New(rand.NewPCG(2, 2))
	some := func(n int) string {
		var text strings.Builder
		for range n {
			fmt.Fprintf(&text, "word%d ", int(rng.ExpFloat64()*rng.ExpFloat64()*3000))
		}
		return text.String()
	}
	crawl := func(i int) {
		p := &page.Page{URL: fmt.Sprintf("http://h%d.test/%d", i%200, i), Text: some(300)}
		for range 26 {
			n := int(rng.ExpFloat64() * 10_000)
			p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://h%d.test/%d", n%200, n), Anchor: some(3)})
		}
		l.ScorePage(p, rng.Float64())
		l.ScoreLinks(nil, p, rng.Float64())
	}
	for i := range 3000 {
		crawl(i)
	}
	keys := slices.Sorted(maps.Keys(maps.Collect(l.links.waiting.All())))
	rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		crawl(3000 + i)
		b.StartTimer()
		for _, key := range keys {
			l.Rescore(key)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(keys)), "ns/target")
}

// TestSureJudge: a judge that gives 0 or 1, also for a text without words, as one of many small pages
// may, leaves scores that are numbers.
func TestSureJudge(t *testing.T) {
	for _, sure := range []float64{0, 1} {
		l := New(func(features.Doc) float64 { return sure }, Options{Cut: 0.5})
		p := linked("http://a.test/", "http://b.test/", "gold")
		l.ScorePage(p, sure)
		for _, s := range l.ScoreLinks(nil, p, sure) {
			if !(s >= 0 && s <= 1) {
				t.Errorf("judge of %v: score %v, want one in [0,1]", sure, s)
			}
		}
	}
}

// found returns the features of a target.
func found(l *Scorer, e *evidence) (x featureVector) {
	l.model.features(&x, e, l.labels.fix)
	return x
}
