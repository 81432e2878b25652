package learned

import (
	"fmt"
	"testing"

	"fossick/internal/page"
	"fossick/models/features"
)

// TestListens: the words of the first maxTexts pages that name a target count, and no
// others; who names it counts on. Nobody is asked to read what does not count.
func TestListens(t *testing.T) {
	judged := 0
	judge := func(d features.Doc) float64 {
		judged++
		return goldJudge(d)
	}
	const target = "http://h.test/t"
	l := New(judge, Options{Cut: 0.5})
	from := func(n int, anchor string) *page.Page {
		p := linked(fmt.Sprintf("http://p.test/%d", n), target, anchor)
		p.Links[0].Context = anchor
		return p
	}
	for n := range maxTexts {
		p := from(n, "gold mine")
		if !l.Wanted(nil, p)[0] {
			t.Fatalf("nobody listens to page %d of %d", n+1, maxTexts)
		}
		l.ScoreLinks(nil, p, 0.5)
	}
	e, _ := l.links.waiting.Peek(page.Key(target))
	before, was := *e, found(l, e)
	p := from(maxTexts, "something else")
	if l.Wanted(nil, p)[0] {
		t.Error("the words of one page more are asked for")
	}
	judged = 0
	score := l.ScoreLinks(nil, p, 0.9)[0]
	if judged > 0 {
		t.Errorf("%d texts were judged that do not count", judged)
	}
	if e.words != before.words || e.anchor != before.anchor || e.context != before.context || e.over != before.over {
		t.Errorf("%+v by one page more, want the words of %+v", e, before)
	}
	after := found(l, e)
	for _, i := range []int{featMeanAnchor, featMeanContext, featAround, featMeanWord, featLinkWord} {
		if after[i] != was[i] {
			t.Errorf("feature %d is %v by one page more, was %v", i, after[i], was[i])
		}
	}
	if e.parents != maxTexts+1 || after[featMeanParent] <= was[featMeanParent] {
		t.Errorf("%d pages name it, probability %v in the mean; want %d, above %v", e.parents, after[featMeanParent], maxTexts+1, was[featMeanParent])
	}
	if again, known := l.Rescore(page.Key(target)); !known || again != score {
		t.Errorf("Rescore says %v, ScoreLinks %v", again, score)
	}
	l.ScorePage(&page.Page{URL: target}, 0.5)
	if l.Wanted(nil, p)[0] {
		t.Error("somebody listens to links to a page that was fetched")
	}
}
