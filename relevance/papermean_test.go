package relevance

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"fossick/internal/page"
)

// TestPaperMeanOfOneParent: with one page that links to each, it is eq. 1.
func TestPaperMeanOfOneParent(t *testing.T) {
	k, err := NewKeywords(twentyWords)
	if err != nil {
		t.Fatal(err)
	}
	best, err := NewPaper(k, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	mean, err := NewPaperMean(k, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	p := &page.Page{URL: "http://a.test/", Text: "alpha bravo charlie delta", Links: []page.Link{
		{URL: "http://b.test/"}, {URL: "http://c.test/"}, {URL: "http://b.test/"}, // the same page twice is one
	}}
	r := best.ScorePage(p, 1).Value
	if got := mean.ScorePage(p, 1).Value; !near(got, r) || !near(r, 0.7*4/20+0.3) {
		t.Errorf("R of the page is %v, want %v", got, r)
	}
	terms := fmt.Sprint(mean.ScorePage(p, 0.5).Terms)
	if !strings.Contains(terms, "{mean R of the pages that link here 0.5 }") || strings.Contains(terms, "R of the parent") {
		t.Errorf("it says %s", terms)
	}
	for i, got := range mean.ScoreLinks(nil, p, r) {
		if !near(got, r) {
			t.Errorf("link %d has %v, want the page's %v", i, got, r)
		}
	}
}

// TestPaperMeanOfMany: what waits has the mean of all pages that link to it, by a naive count.
func TestPaperMeanOfMany(t *testing.T) {
	k, err := NewKeywords(twentyWords)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewPaperMean(k, 0.3)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	parents := map[string][]float64{}
	for n := range 200 {
		p := &page.Page{URL: "http://from.test/" + strconv.Itoa(n)}
		r := rng.Float64()
		seen := map[string]bool{}
		for range rng.IntN(20) {
			to := "http://to.test/" + strconv.Itoa(rng.IntN(50))
			p.Links = append(p.Links, page.Link{URL: to})
			if !seen[to] {
				seen[to] = true
				parents[to] = append(parents[to], r)
			}
		}
		for i, got := range s.ScoreLinks(nil, p, r) {
			if want := meanOf(parents[p.Links[i].URL]); !near(got, want) {
				t.Fatalf("page %d, link to %s: %v, want %v of %v", n, p.Links[i].URL, got, want, parents[p.Links[i].URL])
			}
		}
	}
	for to, all := range parents {
		if got, want := s.ScorePage(&page.Page{URL: to}, 1).Value, 0.3*meanOf(all); !near(got, want) {
			t.Errorf("%s, which has no word of K, is fetched with R %v, want %v by the mean of today", to, got, want)
		}
		if got, known := s.Rescore(page.Key(to)); !known || !near(got, meanOf(all)) {
			t.Errorf("%s waits with %v, %v; want %v", to, got, known, meanOf(all))
		}
	}
	if _, known := s.Rescore(page.Key("http://nowhere.test/")); known {
		t.Error("a URL that no page links to is known")
	}
}

func meanOf(all []float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all))
}
