package learned

import (
	"fmt"
	"math"
	"testing"

	"fossick/internal/page"
)

// TestStartPagesCorrect: of two pages that the judge takes for alike, the one with the
// words of the start pages vouches more for its links, and no page's own score moves.
func TestStartPagesCorrect(t *testing.T) {
	for _, starts := range []int{0, 1, 2, 5} {
		l := New(goldJudge, Options{Cut: 0.5})
		for n := range starts {
			p := &page.Page{URL: fmt.Sprintf("http://start.test/%d", n), Text: fmt.Sprintf("quartz feldspar mica own%d", n)}
			l.Start(page.Key(p.URL), false)
			l.ScorePage(p, 0.3)
		}
		for n := range 30 {
			p := &page.Page{URL: fmt.Sprintf("http://p.test/%d", n), Text: "football hockey tennis"}
			judged := 0.2
			if n%3 == 0 {
				p.Text, judged = "quartz mica and tennis", 0.6
			}
			l.ScorePage(p, judged)
		}
		believed := func(name, text string) float64 {
			p := linked("http://"+name+".test/", "http://t.test/"+name, "x")
			p.Text = text
			if s := l.ScorePage(p, 0.3); s.Value != 0.3 {
				t.Errorf("%d start pages: page %s has %v, want the judge's 0.3", starts, name, s.Value)
			}
			l.ScoreLinks(nil, p, 0.3)
			e, _ := l.links.waiting.Peek(page.Key("http://t.test/" + name))
			return float64(e.prob.max)
		}
		near, far := believed("near", "quartz feldspar mica"), believed("far", "football hockey score")
		if starts < 2 && (math.Abs(near-0.3) > 1e-6 || math.Abs(far-0.3) > 1e-6) {
			t.Errorf("%d start pages: %v and %v, want the judge's 0.3: one page's words are its own", starts, near, far)
		}
		if starts >= 2 && !(near > 0.3 && far < 0.3) {
			t.Errorf("%d start pages: %v with their words and %v without, want them above and below 0.3", starts, near, far)
		}
	}
}

// TestSimilarityBounded: however many start pages there are, the words of the first are kept,
// and no similarity moves the judge by more than similarMost.
func TestSimilarityBounded(t *testing.T) {
	k := newStartPages()
	for n := range token(5 * maxStarts) {
		k.add(startPage{words: []token{n, n + 1}})
	}
	if len(k.having) != maxStarts+1 {
		t.Errorf("%d words of start pages, want those of the first %d", len(k.having), maxStarts)
	}
	for n := range 1000 {
		k.shift(float64(n%2), 0.1+0.8*float64(n%2))
	}
	for _, similarity := range []float64{-1e9, 0, 0.5, 1e9} {
		if z := (&startPages{on: k.on, off: k.off}).shift(similarity, 0.5); !(math.Abs(z) <= similarMost) {
			t.Errorf("similarity %v adds %v", similarity, z)
		}
	}
}
