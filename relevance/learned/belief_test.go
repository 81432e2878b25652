package learned

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/internal/page"
	"fossick/relevance"
)

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
