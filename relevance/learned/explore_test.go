package learned

import (
	"fmt"
	"slices"
	"testing"

	"fossick/internal/page"
	"fossick/relevance"
)

// world is a small web for scorers: every page of twenty hosts links to thirty others.
type world struct {
	order    []string // what was fetched
	explored int      // of it, by the terms of the scores
}

// crawl fetches n pages in the order of a scorer. good is the probability of a page.
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

// TestExploreShare: the share of fetches that explore is the one asked for, and the same seed gives the
// same crawl.
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

// TestExploreFindsStarvedHost: the model takes one host for the only good one; the others are met all
// the same, once each while there are new ones.
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
		l.model.weights.weight[featHost] = 9 // sure of what it knows
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

// TestExploreOwn: what another agent will fetch is not explored here.
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
