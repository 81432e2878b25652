package learned

import (
	"fmt"
	"math"
	"testing"

	"fossick/internal/page"
)

// TestPrior: a judge that was trained on few pages of the topic is believed more the more of it a crawl
// finds, up to maxPrior and never less. Its own word stays as it is.
func TestPrior(t *testing.T) {
	for _, test := range []struct {
		name   string
		share  float64 // at training
		onward float64 // of the crawl's pages, by the judge
		least  float64 // log-odds that are added
		most   float64
	}{
		{"not known", 0, 0.9, 0, 0},
		{"nonsense", 1, 0.9, 0, 0},
		{"crawl as training", 0.5, 0.5, 0, 0.3},
		{"crawl poorer than training", 0.9, 0.2, 0, 0},
		{"crawl richer than training", 0.2, 0.5, 1, 2},
		{"crawl far richer", 0.01, 0.9, maxPrior, maxPrior},
	} {
		l := New(goldJudge, Options{Cut: 0.5, Share: test.share})
		for n := range 100 {
			p := &page.Page{URL: fmt.Sprintf("http://p.test/%d", n), Text: "quartz"}
			l.Start(page.Key(p.URL), false) // believed as it is
			l.ScorePage(p, test.onward)
		}
		l.starts.pages = nil
		got := believedOf(t, l, "new", 0.1)
		if added := logit(got) - logit(0.1); !(added >= test.least-1e-6 && added <= test.most+1e-6) {
			t.Errorf("%s: %.3f is added to the log-odds, want from %g to %g", test.name, added, test.least, test.most)
		}
	}
}

// believedOf shows a page to the scorer, which has to return the judge's word, and returns what its
// link was told.
func believedOf(t *testing.T, l *Scorer, name string, judged float64) float64 {
	t.Helper()
	p := linked("http://"+name+".test/", "http://t.test/"+name, "x")
	if s := l.ScorePage(p, judged); s.Value != judged {
		t.Errorf("page %s has %v, want the judge's %v", name, s.Value, judged)
	}
	l.ScoreLinks(nil, p, judged)
	e, ok := l.links.waiting.Peek(page.Key("http://t.test/" + name))
	if !ok {
		t.Fatalf("nothing is known of what %s links to", name)
	}
	return float64(e.prob.max)
}

// TestPriorYieldsToMarks: what people say of pages takes the prior's place, for pages that were fetched
// before and for those that come.
func TestPriorYieldsToMarks(t *testing.T) {
	labelled := &page.Page{URL: "http://marked.test/", Text: "pyrite"}
	moved := func(share float64, mark bool) (before, after float64) {
		l := New(goldJudge, Options{Cut: 0.5, Share: share})
		for n := range 20 {
			l.ScorePage(&page.Page{URL: fmt.Sprintf("http://p.test/%d", n), Text: "quartz"}, 0.9)
		}
		l.ScorePage(labelled, 0.1)
		l.ScorePage(&page.Page{URL: "http://past.test/", Text: "slate"}, 0.1)
		if mark {
			l.Mark([]Marked{{labelled.URL, labelled, false}})
		}
		return l.history.find(page.Key("http://past.test/")).now, believedOf(t, l, "new", 0.1)
	}
	wantPast, wantNew := moved(0, true)
	if past, fresh := moved(0.01, true); math.Abs(past-wantPast) > 1e-6 || math.Abs(fresh-wantNew) > 1e-6 {
		t.Errorf("with marks a page before counts as %v and one after as %v, want %v and %v as without a prior", past, fresh, wantPast, wantNew)
	}
	if past, fresh := moved(0.01, false); past < 0.2 || fresh < 0.2 {
		t.Errorf("without marks they count as %v and %v, want more than the judge's 0.1", past, fresh)
	}
	for _, p := range []float64{0, 1, 1e-300} {
		if got := inCrawl(p, maxPrior); !(got >= 0 && got <= 1) {
			t.Errorf("probability %v becomes %v", p, got)
		}
	}
}
