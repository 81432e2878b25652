package crawlplan

import (
	"slices"
	"testing"

	"fossick/crawler"
	"fossick/internal/page"
	"fossick/store"
)

// glancing is a topic that notes which pages it learns from, and which it only judges.
type glancing struct {
	fixed
	learned, judged, links *[]string
}

func (g glancing) ScorePage(p *page.Page, parent float64) crawler.Score {
	*g.learned = append(*g.learned, p.URL)
	return g.fixed.ScorePage(p, parent)
}

func (g glancing) ScoreLinks(dst []float64, p *page.Page, s crawler.Score) []float64 {
	*g.links = append(*g.links, p.URL)
	return g.fixed.ScoreLinks(dst, p, s)
}

func (g glancing) glance(p *page.Page) crawler.Score {
	*g.judged = append(*g.judged, p.URL)
	return crawler.Score{Relevant: true, Value: 0.75}
}

// TestLearnsFromItsOwn: a topic learns from the pages that it expected something of, its
// start pages, and those of which nobody knew. All others it judges, and of their links it
// says what it knows.
func TestLearnsFromItsOwn(t *testing.T) {
	key := page.Key
	notes := func() *[]string { return new([]string) }
	a := glancing{fixed{map[uint64]float64{key("http://a.test/1"): 0.9, key("http://both.test/"): 0.5, key("http://b.test/1"): 0.01}, new([]float64)}, notes(), notes(), notes()}
	b := glancing{fixed{map[uint64]float64{key("http://b.test/1"): 0.9, key("http://both.test/"): 0.05}, new([]float64)}, notes(), notes(), notes()}
	s := newSeveral([]topic{
		{Scorer: a, Budget: 10, Starts: []string{"http://a.test/"}},
		{Scorer: b, Budget: 10, Starts: []string{"http://b.test/"}},
	})
	s.Paid([]store.TopicCounts{{Paid: 5}, {}}) // who wants more just now does not matter
	for url, start := range map[string]bool{"http://a.test/": true, "http://a.test/1": false, "http://b.test/1": false, "http://both.test/": false, "http://nobody.test/": false} {
		p := &page.Page{URL: url, Links: []page.Link{{URL: "http://both.test/"}, {URL: "http://new.test/"}}}
		parent := 0.5
		if start {
			parent = ofStart
		}
		score := s.ScorePage(p, parent)
		if url == "http://b.test/1" && (!score.Topics[0].Relevant || score.Topics[0].Score != 0.75) {
			t.Errorf("what a topic says of a page that it did not ask for: %+v", score.Topics[0])
		}
		if links := s.ScoreLinks(nil, p, score); len(links) != 2 || links[0] <= 0 || links[1] != 0 {
			t.Errorf("%s: links are worth %v", url, links)
		}
	}
	for _, c := range []struct {
		what string
		got  []string
		want []string
	}{
		{"the first learns from", *a.learned, []string{"http://a.test/", "http://a.test/1", "http://both.test/", "http://nobody.test/"}},
		{"the first judges", *a.judged, []string{"http://b.test/1"}},
		{"the first reads links of", *a.links, []string{"http://a.test/", "http://a.test/1", "http://both.test/", "http://nobody.test/"}},
		{"the second learns from", *b.learned, []string{"http://b.test/1", "http://both.test/", "http://nobody.test/"}},
		{"the second judges", *b.judged, []string{"http://a.test/", "http://a.test/1"}},
	} {
		if slices.Sort(c.got); !slices.Equal(c.got, c.want) {
			t.Errorf("%s %v, want %v", c.what, c.got, c.want)
		}
	}
}
