package relevance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"fossick/features"
	"fossick/page"
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
		l := NewLearned(goldJudge, LearnedOptions{Cut: 0.5})
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

// TestLearnedLearns crawls worlds in which one sign is right: the weights must
// move so that what the sign marks scores better than in the beginning.
func TestLearnedLearns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	l := NewLearned(goldJudge, LearnedOptions{Cut: 0.5})
	before := l.model
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
	if now, was := l.model.weight[partNav], before.weight[partNav]; now <= was+0.2 {
		t.Errorf("weight of navigation went from %v to %v, want it to rise well", was, now)
	}
}

func TestLearnedForgetsWhatWasFetched(t *testing.T) {
	l := NewLearned(goldJudge, LearnedOptions{Cut: 0.5})
	target := "http://t.test/"
	l.ScoreLinks(nil, linked("http://p.test/", target, "gold"), 0.9)
	key := page.Key(target)
	if s, known := l.Rescore(key); !known || s <= 0 {
		t.Fatalf("Rescore = %v, %v before the fetch", s, known)
	}
	score := l.ScorePage(&page.Page{URL: target}, 0.8)
	if score.Value != 0.8 || len(score.Terms) < parts {
		t.Errorf("score %+v, want the probability and all terms", score)
	}
	if _, known := l.Rescore(key); known {
		t.Error("evidence is kept after the fetch")
	}
	if s := l.ScoreLinks(nil, linked("http://q.test/", target, "gold"), 0.9); s[0] != 0 || len(l.evidence.young) != 0 {
		t.Errorf("a link to a fetched page scores %v and leaves %d evidence", s, len(l.evidence.young))
	}
}

// TestHostRecord: a host whose pages were good makes its waiting pages better,
// with nothing new about themselves.
func TestHostRecord(t *testing.T) {
	l := NewLearned(goldJudge, LearnedOptions{Cut: 0.5})
	l.ScoreLinks(nil, linked("http://p.test/", "http://h.test/waits", "x"), 0.5)
	before, _ := l.Rescore(page.Key("http://h.test/waits"))
	l.ScorePage(&page.Page{URL: "http://h.test/good"}, 1)
	after, _ := l.Rescore(page.Key("http://h.test/waits"))
	if after <= before {
		t.Errorf("score went from %v to %v after a good page of the host", before, after)
	}
}

func TestLogOddsAreBounded(t *testing.T) {
	for p, want := range map[float64]float64{0: -4, 1: 4, 0.5: 0} {
		if got := logOdds(p); math.Abs(got-want) > 1e-12 {
			t.Errorf("logOdds(%v) = %v, want %v", p, got, want)
		}
	}
}

func BenchmarkScoreLinks(b *testing.B) {
	l := NewLearned(goldJudge, LearnedOptions{Cut: 0.5})
	p := &page.Page{URL: "http://p.test/"}
	for i := range 26 {
		p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://h%d.test/%d", i%7, i), Anchor: "some words", Context: "ten words around it"})
	}
	dst := make([]float64, 0, len(p.Links))
	b.ReportAllocs()
	for b.Loop() {
		dst = l.ScoreLinks(dst[:0], p, 0.7)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(p.Links)), "ns/link")
}
