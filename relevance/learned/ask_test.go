package learned

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/internal/page"
)

// TestAsk: of two kinds of pages that the judge takes for one, it asks about that which
// the links to come speak of, and never about what was labelled.
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

// ofPages are questions about pages that were fetched.
func ofPages(asked []Question) []Question {
	return slices.DeleteFunc(asked, func(q Question) bool { return q.Link != 0 })
}

// TestAskLinks: it asks about URLs that wait too, says which page has the link, and is
// content with an answer.
func TestAskLinks(t *testing.T) {
	l := linkCrawl()
	said := map[uint64]bool{}
	for range 5 {
		at := slices.IndexFunc(l.Ask(100), func(q Question) bool { return q.Link != 0 })
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

// TestAskIsGreedy: the questions are those of an oracle that works out every page's worth
// anew for each of them.
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
			t.Fatalf("question %d is %+v, want %+v", i, q, want[i].Question)
		}
	}
}
