package relevance

import (
	"fmt"
	"math"
	"testing"

	"fossick/page"
)

// TestPrior: a judge that was trained on few pages of the topic is believed more the more
// of it a crawl finds, up to maxPrior and never less; its own word stays as it is.
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
		l := NewLearned(goldJudge, LearnedOptions{Cut: 0.5, Share: test.share})
		for n := range 100 {
			p := &page.Page{URL: fmt.Sprintf("http://p.test/%d", n), Text: "quartz"}
			l.Start(page.Key(p.URL)) // believed as it is
			l.ScorePage(p, test.onward)
		}
		l.kin.starts = 0
		got := believedOf(t, l, "new", 0.1)
		if added := logit(got) - logit(0.1); !(added >= test.least-1e-6 && added <= test.most+1e-6) {
			t.Errorf("%s: %.3f is added to the log-odds, want from %g to %g", test.name, added, test.least, test.most)
		}
	}
}

// believedOf shows a page to the scorer, which has to return the judge's word, and
// returns what its link was told.
func believedOf(t *testing.T, l *Learned, name string, judged float64) float64 {
	t.Helper()
	p := linked("http://"+name+".test/", "http://t.test/"+name, "x")
	if s := l.ScorePage(p, judged); s.Value != judged {
		t.Errorf("page %s has %v, want the judge's %v", name, s.Value, judged)
	}
	l.ScoreLinks(nil, p, judged)
	e, ok := l.evidence.peek(page.Key("http://t.test/" + name))
	if !ok {
		t.Fatalf("nothing is known of what %s links to", name)
	}
	return float64(e.prob.max)
}

// TestPriorYieldsToMarks: what people say of pages takes the prior's place.
func TestPriorYieldsToMarks(t *testing.T) {
	if got := inCrawl(0.3, 2, 0); math.Abs(logit(got)-logit(0.3)-2) > 1e-9 {
		t.Errorf("without marks the prior adds %v, want 2", logit(got)-logit(0.3))
	}
	for _, marks := range []float64{-4, 4} {
		if got := logit(inCrawl(0.3, 2, marks)) - logit(0.3); got > 0.05 {
			t.Errorf("marks of %v: the prior still adds %v", marks, got)
		}
	}
	for _, p := range []float64{0, 1, 1e-300} {
		if got := inCrawl(p, maxPrior, 0); !(got >= 0 && got <= 1) {
			t.Errorf("probability %v becomes %v", p, got)
		}
	}
}
