package learned

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/internal/page"
	"fossick/relevance"
)

// beliefOf makes a belief from ten start pages that share two words. The judge was trained on seen of 600
// pages, including the first trained start pages.
func beliefOf(seen float64, trained int, judged func(i int) float64) belief {
	s := newStartPages()
	for i := range 10 {
		s.add(startPage{[]token{1, 2, token(100 + i)}, judgedOdds(judged(i)), i < trained})
	}
	b := NewBackground(func(yield func(string, float64) bool) { yield("some", 0.01) })
	return newBelief(&s, b, max(seen, 1)/600, doubtOf(seen))
}

// TestDoubt checks that doubt grows with unrecognised start pages and falls with training pages, and that
// start pages the judge was trained on do not count.
func TestDoubt(t *testing.T) {
	knows := func(int) float64 { return 0.98 }
	half := func(i int) float64 { return []float64{0.98, 0.003}[i%2] }
	knowsNone := func(int) float64 { return 0.003 }
	for _, c := range []struct {
		name     string
		seen     float64
		trained  int
		judged   func(int) float64
		from, to float64
	}{
		{"knows all", 2, 0, knows, 0, 0.05},
		{"knows half", 2, 0, half, 0.35, 0.5},
		{"knows none", 2, 0, knowsNone, 0.75, 0.85},
		{"knows none of what it saw 200 of", 200, 0, knowsNone, leastDoubt, 0.1},
		{"was trained on them all", 10, 10, knows, 0.5, 0.5},
		{"knows nine that it was trained on, and one", 10, 9, knows, 0.3, 0.4},
		{"knows five that it was trained on, and five", 10, 5, knows, 0, 0.05},
		{"knows the five that it was trained on alone", 10, 5, func(i int) float64 { return []float64{0.98, 0.003}[i/5] }, 0.4, 0.5},
		{"is not known", 0, 0, knowsNone, 0, 0},
		{"saw very many", 5000, 0, knowsNone, 0, 0},
	} {
		if d := beliefOf(c.seen, c.trained, c.judged).doubt; d < c.from || d > c.to {
			t.Errorf("a judge that %s: doubt %.3f, want %v to %v", c.name, d, c.from, c.to)
		}
	}
}

// TestRatio compares with the two normal distributions from which looks are drawn.
func TestRatio(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var v belief
	for range 20000 {
		shared := rng.NormFloat64() / 2 // correlates the looks
		v.on.add(1, look{1 + shared + rng.NormFloat64(), 2 + shared + rng.NormFloat64()})
		shared = rng.NormFloat64() / 2
		v.off.add(1, look{-1 + shared + rng.NormFloat64(), shared + rng.NormFloat64()})
	}
	const a, b = 1.25, 0.25 // variance and covariance
	density := func(x, m look) float64 {
		d := look{x[0] - m[0], x[1] - m[1]}
		return -(a*d[0]*d[0] - 2*b*d[0]*d[1] + a*d[1]*d[1]) / (2 * (a*a - b*b))
	}
	for _, x := range []look{{0, 1}, {1, 1}, {0, 2}, {0.5, 0}} {
		want := density(x, look{1, 2}) - density(x, look{-1, 0})
		if got := v.ratio(x); math.Abs(got-want) > 0.1 {
			t.Errorf("%v: %.3f, want %.3f", x, got, want)
		}
	}
}

// TestBeliefByWords checks that words separate pages where the judge knows nothing.
func TestBeliefByWords(t *testing.T) {
	v := beliefOf(2, 0, func(int) float64 { return 0.003 })
	var like, unlike float64
	for i := range 50 {
		with, without := []token{1, 2, token(1000 + i)}, []token{token(2000 + i), token(3000 + i), token(4000 + i)}
		like = v.of(with, 0.003, logit(0.003), 0.5)
		unlike = v.of(without, 0.003, logit(0.003), 0.5)
	}
	if sigmoid(like) < 0.5 || sigmoid(unlike) > 0.1 {
		t.Errorf("with their words %.3f, without %.3f", sigmoid(like), sigmoid(unlike))
	}
}

// world is a small web: every page of twenty hosts links to thirty others.
type world struct {
	order    []string // URLs fetched
	explored int      // how many of them explored, by the terms of their scores
}

// crawl fetches n pages in the scorer's order. good is the probability of a page.
func (w *world) crawl(l *Scorer, n int, good func(url string) float64) {
	waiting := map[string]bool{"http://h0.test/0": true}
	for len(w.order) < n {
		best, most := "", -1.0
		for url := range waiting {
			s, _ := l.Rescore(page.Key(url))
			if s > most || s == most && url < best {
				best, most = url, s
			}
		}
		delete(waiting, best)
		w.order = append(w.order, best)
		p := &page.Page{URL: best, Text: "words of " + best}
		for i := range 30 {
			k := (len(w.order)*37 + i*i) % 1000
			p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://h%d.test/%d", k%20, k), Anchor: "to a page"})
		}
		score := l.ScorePage(p, good(best))
		terms, _ := Spell(score.Account)
		if slices.ContainsFunc(terms, func(t relevance.Term) bool { return t.Name == "explored" }) {
			w.explored++
		}
		l.ScoreLinks(nil, p, score.Value)
		for _, link := range p.Links {
			if !slices.Contains(w.order, link.URL) {
				waiting[link.URL] = true
			}
		}
	}
}

// TestExploreShare checks the share of exploration and that equal seeds give equal crawls.
func TestExploreShare(t *testing.T) {
	for share, want := range map[float64]int{0: 0, 0.02: 3, 0.1: 19} {
		var runs [2]world
		for i := range runs {
			l := New(goldJudge, Options{Cut: 0.5, Explore: share, Seed: 7})
			runs[i].crawl(l, 200, func(string) float64 { return 0.5 })
		}
		if n := runs[0].explored; n < want || n > want+1 {
			t.Errorf("share %v: %d of 200 fetches explored, want %d", share, n, want)
		}
		if !slices.Equal(runs[0].order, runs[1].order) {
			t.Errorf("share %v: two crawls with one seed differ", share)
		}
	}
}

// TestExploreFindsStarvedHost checks that exploration visits all hosts although the model favours one.
func TestExploreFindsStarvedHost(t *testing.T) {
	good := func(url string) float64 {
		if page.Host(url) == "h0.test:80" || page.Host(url) == "h0.test" {
			return 1
		}
		return 0
	}
	hosts := func(share float64) int {
		var w world
		l := New(goldJudge, Options{Cut: 0.5, Explore: share, Seed: 7})
		l.model.weights.weight[featHost] = 9 // certain that hosts decide
		w.crawl(l, 40, good)
		met := map[string]bool{}
		for _, url := range w.order {
			met[page.Host(url)] = true
		}
		return len(met)
	}
	if with, without := hosts(0.25), hosts(0); with < without+4 {
		t.Errorf("%d hosts with a quarter of the fetches to explore, %d without; want 4 more at least", with, without)
	}
}

func everything(string) bool { return true }

// TestExploreOwn checks that targets of other agents are not explored.
func TestExploreOwn(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5, Explore: 0.1, Seed: 7})
	l.Share(func(url string) bool { return page.HostName(url) == "h3.test" })
	p := &page.Page{URL: "http://from.test/"}
	for k := range 200 {
		p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://h%d.test/%d", k%20, k), Anchor: "to a page"})
	}
	l.ScoreLinks(nil, p, 0.5)
	for i := range 100 {
		l.ScorePage(&page.Page{URL: fmt.Sprintf("http://h3.test/p%d", i)}, 0.5)
	}
	var explored []string
	for _, link := range p.Links {
		if score, _ := l.Rescore(page.Key(link.URL)); score == soonest {
			explored = append(explored, page.HostName(link.URL))
		}
	}
	if len(explored) != 9 && len(explored) != 10 || slices.ContainsFunc(explored, func(h string) bool { return h != "h3.test" }) {
		t.Errorf("links to %v are explored, want 10 of h3.test", explored)
	}
}

// TestAsk checks that of two kinds of pages that the judge confuses, questions concern the one that queued
// links mention, and never labelled pages.
func TestAsk(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	for n := range 20 {
		for _, kind := range []string{"heron", "quartz"} {
			p := linked(fmt.Sprintf("http://%s%d.test/", kind, n), fmt.Sprintf("http://%s.test/next%d", kind, n), "next")
			p.Title, p.Text = kind, kind+" of a kind"
			if kind == "heron" {
				p.Links[0].Anchor = "more of the heron"
			}
			l.ScoreLinks(nil, p, l.ScorePage(p, 0.9).Value)
		}
	}
	asked := ofPages(l.Ask(100))
	if len(asked) < 2 || asked[0].URL == asked[1].URL {
		t.Fatalf("%+v, want two pages", asked)
	}
	first := asked[0]
	if !strings.HasPrefix(first.URL, "http://heron") || first.Probability <= 0 || first.Reach <= 0 || first.Reach > 1 {
		t.Errorf("%+v, want a heron, of which the links speak", first)
	}
	l.Mark([]Marked{{URL: first.URL, Page: &page.Page{URL: first.URL, Text: "heron"}, OnTopic: false}})
	for _, q := range ofPages(l.Ask(100)) {
		if q.URL == first.URL {
			t.Errorf("%s is asked again", q.URL)
		}
	}
	if got := len(ofPages(l.Ask(100))); got > 39 {
		t.Errorf("%d questions of 39 pages", got)
	}
}

func ofPages(asked []question) []question {
	return slices.DeleteFunc(asked, func(q question) bool { return q.Link != 0 })
}

// TestAskLinks checks that questions include queued URLs, with the page that links to them, until answered.
func TestAskLinks(t *testing.T) {
	l := linkCrawl()
	said := map[uint64]bool{}
	for range 5 {
		at := slices.IndexFunc(l.Ask(100), func(q question) bool { return q.Link != 0 })
		if at < 0 {
			t.Fatalf("%d links are asked about", len(said))
		}
		q := l.Ask(100)[at]
		if said[q.Link] || !strings.HasPrefix(q.URL, "http://mine") || q.Probability <= 0 || q.Reach < 0.5 || q.Reach > 1 {
			t.Errorf("%+v after %v, want a new link with words of the others", q, said)
		}
		said[q.Link] = true
		var n int
		fmt.Sscanf(q.URL, "http://mine%d.test/", &n)
		url := fmt.Sprintf("http://shafts.test/%d", n)
		if page.Key(url) != q.Link {
			url = fmt.Sprintf("http://scenes.test/%d", n)
		}
		l.Mark([]Marked{{URL: url}})
		if score, ok := l.Rescore(q.Link); !ok || score != 0 {
			t.Errorf("%s has priority %g, %v", url, score, ok)
		}
	}
	l.history = newHistory(maxPastWords)
	if asked := l.Ask(100); len(asked) != 0 {
		t.Errorf("%+v, want nothing: nobody knows where the links stand", asked)
	}
}

// TestAskIsGreedy compares with an oracle that recomputes every worth for each question.
func TestAskIsGreedy(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	rng := rand.New(rand.NewPCG(1, 2))
	word := func() string { return fmt.Sprintf("word%c%c", 'a'+rng.IntN(8), 'a'+rng.IntN(3)) }
	for n := range 60 {
		p := linked(fmt.Sprintf("http://h%d.test/", n), fmt.Sprintf("http://next.test/%d", n), word()+" "+word())
		p.Text = strings.Join([]string{word(), word(), word(), word()}, " ")
		l.ScoreLinks(nil, p, l.ScorePage(p, rng.Float64()).Value)
	}
	next := l.comeNext()
	demand := l.demand(next)
	all := l.candidates(next, demand)
	var want []candidate
	asked := map[int]bool{} // by place
	for len(want) < 20 {
		var best *candidate
		most := 0.0
		for i := range all {
			if w := all[i].telling(demand); w > most && !asked[i] {
				best, most = &all[i], w
			}
		}
		for _, w := range best.words {
			demand[w] *= askedAlready
		}
		asked[best.place] = true
		want = append(want, *best)
	}
	for i, q := range l.Ask(20) {
		if q.URL != want[i].URL || q.Link != want[i].Link {
			t.Fatalf("question %d is %+v, want %+v", i, q, want[i].question)
		}
	}
}
