package crawlplan

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"fossick/crawler"
	"fossick/internal/page"
	"fossick/models"
	"fossick/relevance"
)

// TestLearnedBeginsByDegree: while nothing but start pages is fetched, learned puts links
// in the order in which paper does, and both tell the same R. The topic's K has phrases.
func TestLearnedBeginsByDegree(t *testing.T) {
	topic, err := models.BuiltinTopic("banking")
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Rho: DefaultRho, Threshold: DefaultThreshold, Explore: 0.5}
	if in.Keywords, err = relevance.NewKeywords(append(topic.Keywords, "a bank", "the", "home loans")); err != nil {
		t.Fatal(err)
	}
	if in.Labeller, err = NewLabeller(topic); err != nil {
		t.Fatal(err)
	}
	paper, err := buildPaper(in)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Named("learned")
	if err != nil {
		t.Fatal(err)
	}
	learned, err := p.Scorer(in)
	if err != nil {
		t.Fatal(err)
	}
	starts := parsedDemo(t)
	starts = starts[:min(len(starts), 40)]
	best := map[uint64]float64{} // R of each target, the best page's
	different := map[float64]bool{}
	for _, p := range starts {
		want, got := paper.ScorePage(p, ofStart), learned.ScorePage(p, ofStart)
		if told := told(got, "R"); math.Abs(told-want.Value) > 1e-12 {
			t.Fatalf("%s: R is %v, paper says %v", p.URL, told, want.Value)
		}
		different[want.Value] = true
		learned.ScoreLinks(nil, p, got)
		for _, l := range p.Links {
			best[page.Key(l.URL)] = max(best[page.Key(l.URL)], want.Value)
		}
	}
	if len(different) < 5 {
		t.Fatalf("the start pages have %d different R, too few for an order", len(different))
	}
	type place struct{ r, score float64 }
	var order []place
	for key, r := range best {
		if score, waits := learned.(crawler.Rescorer).Rescore(key); waits {
			order = append(order, place{r, score})
		}
	}
	if len(order) < 50 {
		t.Fatalf("%d links wait, too few for an order", len(order))
	}
	slices.SortFunc(order, func(a, b place) int { return cmp.Compare(b.score, a.score) })
	for i := 1; i < len(order); i++ {
		if order[i].r > order[i-1].r+1e-6 {
			t.Fatalf("place %d has R %v, place %d before it %v", i, order[i].r, i-1, order[i-1].r)
		}
	}
}

// told is the value of a score's term.
func told(s crawler.Score, name string) float64 {
	for _, term := range s.Terms {
		if term.Name == name {
			return term.Value
		}
	}
	return math.NaN()
}
