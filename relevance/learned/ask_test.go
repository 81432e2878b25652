package learned

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/page"
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
	asked := l.Ask(2)
	if len(asked) != 2 || asked[0].URL == asked[1].URL {
		t.Fatalf("%+v, want two pages", asked)
	}
	first := asked[0]
	if !strings.HasPrefix(first.URL, "http://heron") || first.Probability <= 0 || first.Reach <= 0 || first.Reach > 1 {
		t.Errorf("%+v, want a heron, of which the links speak", first)
	}
	l.Mark([]Marked{{URL: first.URL, Page: &page.Page{URL: first.URL, Text: "heron"}, OnTopic: false}})
	for _, q := range l.Ask(100) {
		if q.URL == first.URL {
			t.Errorf("%s is asked again", q.URL)
		}
	}
	if got := len(l.Ask(100)); got > 39 {
		t.Errorf("%d questions of 39 pages", got)
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
	demand := l.demand(l.comeNext())
	var want []string
	for len(want) < 20 {
		var best *pastPage
		most := 0.0
		for _, p := range l.history.pages {
			if w := telling(p, demand); w > most && !slices.Contains(want, p.url) {
				best, most = p, w
			}
		}
		for _, w := range best.words {
			demand[w] *= askedAlready
		}
		want = append(want, best.url)
	}
	for i, q := range l.Ask(20) {
		if q.URL != want[i] {
			t.Fatalf("question %d is %s, want %s", i, q.URL, want[i])
		}
	}
}
