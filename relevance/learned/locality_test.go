package learned

import (
	"fmt"
	"testing"
)

// TestAwayByLocality: the distance from the start pages counts where a doubted judge crawls
// a topic that hangs together, and not where links leave it, nor where no page was on topic.
func TestAwayByLocality(t *testing.T) {
	for _, c := range []struct {
		name             string
		doubt, seen      float64
		onTopic, promise float64
		least, most      float64
	}{
		{"hangs together", 0.8, 0, 0.9, 0.6, -20, -5},
		{"links leave it", 0.8, 1, 0.9, 0.2, 0, 0},
		{"nothing is on topic", 0.8, 1, 0, 0.8, 0, 0},
		{"hangs together, and the start pages are known", 0, 0, 0.9, 0.6, 0, 0},
		{"hangs together, and the judge saw two pages", 0, 2, 0.9, 0.8, -20, -5},
	} {
		l := New(goldJudge, Options{Cut: 0.5, Seen: c.seen})
		l.model.doubt = c.doubt
		for range 100 {
			l.model.local.add(c.onTopic, c.promise)
		}
		l.model.turn()
		var x featureVector
		l.model.features(&x, &evidence{depth: 8, parents: 1, host: &record{}, folder: &record{}, sources: [maxSources]*source{{}}}, nil)
		if adds := l.model.weights.at(featAway) * x[featAway]; adds < c.least || adds > c.most {
			t.Errorf("%s: eight links from a start page add %.2f, want %v to %v", c.name, adds, c.least, c.most)
		}
	}
}

// TestLocality: a crawl measures what the links of its pages on topic came to.
func TestLocality(t *testing.T) {
	for _, together := range []bool{true, false} {
		l := New(goldJudge, Options{Cut: 0.5})
		for i := range 200 {
			url := func(n int) string { return fmt.Sprintf("http://t.test/%d", n) }
			p := linked(url(i), url(i+1), "x")
			on := together || i%2 == 0 // else each page on topic links to one that is not
			if i == 0 {
				on = true
			}
			probability := 0.02
			if on {
				probability = 0.98
			}
			l.ScorePage(p, probability)
			l.ScoreLinks(nil, p, probability)
		}
		if got := l.model.local.mean(); together != (got > awayTo) || !together && got > awayFrom+0.1 {
			t.Errorf("together %v: links of pages on topic promise %.2f", together, got)
		}
	}
}
