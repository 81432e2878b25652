package plan

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/crawler"
	"fossick/internal/page"
	"fossick/internal/testkit"
	"fossick/models"
	"fossick/models/features"
	"fossick/relevance"
	"fossick/relevance/known"
	"fossick/relevance/learned"
)

// everyPolicy makes one of each.
func everyPolicy(t *testing.T) map[string]func() relevance.Policy {
	t.Helper()
	k := testkit.Call(relevance.NewKeywords([]string{"gold", "silver"})).Must(t)
	return map[string]func() relevance.Policy{
		"best-first":    func() relevance.Policy { return known.BestFirst{} },
		"random":        func() relevance.Policy { return known.NewRandom(1) },
		"shark":         func() relevance.Policy { return known.NewShark(goldJudge, 0.5) },
		"fish":          func() relevance.Policy { return known.NewFish(0.5) },
		"opic":          func() relevance.Policy { return known.NewOPIC() },
		"anthelion":     func() relevance.Policy { return known.NewAnthelion(0.5) },
		"ache":          func() relevance.Policy { return known.NewACHE(0.5) },
		"hits":          func() relevance.Policy { return known.NewHITS() },
		"context-graph": func() relevance.Policy { return known.NewContextGraph(0.5) },
		"infospiders":   func() relevance.Policy { return known.NewInfoSpiders(k) },
		"learned":       func() relevance.Policy { return learned.New(goldJudge, learned.Options{Cut: 0.5}) },
	}
}

// randomWeb returns pages that link to each other at random; every third is on
// topic, and the anchors of links to it mostly say so.
func randomWeb(rng *rand.Rand, n int) []*page.Page {
	pages := make([]*page.Page, n)
	for i := range pages {
		p := &page.Page{URL: fmt.Sprintf("http://h%d.test/p%d", i%7, i), Title: "a page", Text: "words of a page"}
		if i%3 == 0 {
			p.Text = "gold and more gold"
		}
		for range 1 + rng.IntN(12) {
			j := rng.IntN(n)
			anchor := "link"
			if j%3 == 0 && rng.IntN(4) > 0 {
				anchor = "gold link"
			}
			p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://h%d.test/p%d", j%7, j), Anchor: anchor, Context: "some silver words around"})
		}
		pages[i] = p
	}
	return pages
}

func similarityOf(p *page.Page) float64 {
	if strings.Contains(p.Text, "gold") {
		return 0.9
	}
	return 0.1
}

// TestPolicies shows every policy a random web. Priorities are in [0,1], one
// for each link, and the same when all is done again. What Rescore says of a
// target right after a page is what ScoreLinks said of it last.
func TestPolicies(t *testing.T) {
	for name, build := range everyPolicy(t) {
		t.Run(name, func(t *testing.T) {
			pages := randomWeb(rand.New(rand.NewPCG(1, 2)), 400)
			first := crawlWith(t, build(), pages)
			if again := crawlWith(t, build(), pages); !slices.Equal(first, again) {
				t.Error("the same pages gave other priorities the second time")
			}
		})
	}
}

// crawlWith shows the pages in order and returns all priorities.
func crawlWith(t *testing.T, policy relevance.Policy, pages []*page.Page) (all []float64) {
	t.Helper()
	done := map[string]bool{}
	_, isRandom := policy.(*known.Random) // draws anew for each rescoring
	for _, p := range pages {
		similarity := similarityOf(p)
		if s := policy.ScorePage(p, similarity); s.Value != similarity || len(s.Terms) == 0 {
			t.Fatalf("page %s has the score %+v, want %v and its reasons", p.URL, s, similarity)
		}
		done[p.URL] = true
		scores := policy.ScoreLinks(nil, p, similarity)
		if len(scores) != len(p.Links) {
			t.Fatalf("%d priorities for %d links", len(scores), len(p.Links))
		}
		last := map[string]float64{}
		for i, s := range scores {
			if !(s >= 0 && s <= 1) {
				t.Fatalf("priority %v of %s", s, p.Links[i].URL)
			}
			last[p.Links[i].URL] = s
		}
		all = append(all, scores...)
		r, ok := policy.(relevance.Rescorer)
		if !ok || isRandom {
			continue
		}
		for url, want := range last {
			got, ok := r.Rescore(page.Key(url))
			if ok && !done[url] && math.Abs(got-want) > 1e-12 {
				t.Fatalf("Rescore(%s) = %v right after ScoreLinks said %v", url, got, want)
			}
			if !ok && !done[url] {
				t.Fatalf("Rescore does not know %s, which waits", url)
			}
		}
	}
	return all
}

// TestPoliciesLearn: what learns must, after a web where gold anchors lead to gold,
// prefer such a link on a page like all others.
func TestPoliciesLearn(t *testing.T) {
	for name, build := range everyPolicy(t) {
		if !slices.Contains([]string{"shark", "ache", "infospiders", "learned"}, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			policy := build()
			crawlWith(t, policy, randomWeb(rand.New(rand.NewPCG(3, 4)), 400))
			p := &page.Page{URL: "http://new.test/", Text: "words", Links: []page.Link{
				{URL: "http://x.test/1", Anchor: "link"}, {URL: "http://x.test/2", Anchor: "gold link"},
			}}
			policy.ScorePage(p, 0.5)
			if s := policy.ScoreLinks(nil, p, 0.5); s[1] <= s[0] {
				t.Errorf("priorities %v: the gold link is not ahead", s)
			}
		})
	}
}

// goldJudge says what it is to say of gold, and of all else.
func goldJudge(d features.Doc) float64 {
	if strings.Contains(d.Title+d.Text, "gold") {
		return 0.95
	}
	return 0.05
}

// TestLearnedBeginsByDegree: while nothing but start pages is fetched, learned puts links
// in the order in which paper does, and both tell the same R. The topic's K has phrases.
func TestLearnedBeginsByDegree(t *testing.T) {
	topic, err := models.BuiltinTopic("banking")
	if err != nil {
		t.Fatal(err)
	}
	in := Input{Rho: DefaultRho, Threshold: DefaultThreshold}
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

// Paper A's policy, with ρ = 0.3, scores a page by three words of a topic.
func ExampleParse() {
	p, rho, err := Parse("paper:0.3")
	if err != nil {
		fmt.Println(err)
		return
	}
	words, err := relevance.NewKeywords([]string{"honey", "hive", "queen"})
	if err != nil {
		fmt.Println(err)
		return
	}
	scorer, err := p.Scorer(Input{Keywords: words, Rho: *rho, Threshold: p.Threshold()})
	if err != nil {
		fmt.Println(err)
		return
	}
	bees, err := page.Parse([]byte(`The queen of the hive. <a href="/more">More</a>`), page.ParseOptions{URL: "http://bees.test/"})
	if err != nil {
		fmt.Println(err)
		return
	}
	score := scorer.ScorePage(bees, 1)
	fmt.Printf("%.2f %v %.2f\n", score.Value, score.Relevant, scorer.ScoreLinks(nil, bees, score))
	// Output: 0.77 true [0.77]
}
