package learned

import (
	"fmt"
	"testing"

	"fossick/features"
	"fossick/page"
)

// TestListens: the words of the first maxVoices pages that name a target count, and no
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
	for n := range maxVoices {
		p := from(n, "gold mine")
		if !l.Listens(nil, p)[0] {
			t.Fatalf("nobody listens to page %d of %d", n+1, maxVoices)
		}
		l.ScoreLinks(nil, p, 0.5)
	}
	e, _ := l.evidence.Peek(page.Key(target))
	before, parts := *e, l.parts(e)
	p := from(maxVoices, "something else")
	if l.Listens(nil, p)[0] {
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
	after := l.parts(e)
	for _, part := range []int{partMeanAnchor, partMeanContext, partAround, partMeanWord, partLinkWord} {
		if after[part] != parts[part] {
			t.Errorf("part %d is %v by one page more, was %v", part, after[part], parts[part])
		}
	}
	if e.parents != maxVoices+1 || after[partMeanParent] <= parts[partMeanParent] {
		t.Errorf("%d pages name it, probability %v in the mean; want %d, above %v", e.parents, after[partMeanParent], maxVoices+1, parts[partMeanParent])
	}
	if again, known := l.Rescore(page.Key(target)); !known || again != score {
		t.Errorf("Rescore says %v, ScoreLinks %v", again, score)
	}
	l.ScorePage(&page.Page{URL: target}, 0.5)
	if l.Listens(nil, p)[0] {
		t.Error("somebody listens to links to a page that was fetched")
	}
}
