package learned

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"fossick/internal/page"
	"fossick/models/features"
	"fossick/relevance"
)

func twentyWords(t *testing.T) *relevance.Keywords {
	var words []string
	for i := range 20 {
		words = append(words, fmt.Sprintf("k%cz", 'a'+i))
	}
	k, err := relevance.NewKeywords(words)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// having returns a page with the first lambda words of twentyWords, and links.
func having(lambda int, url string, links ...string) *page.Page {
	p := &page.Page{URL: url}
	for i := range lambda {
		p.Text += fmt.Sprintf("k%cz ", 'a'+i)
	}
	for _, l := range links {
		p.Links = append(p.Links, page.Link{URL: l, Anchor: "some words"})
	}
	return p
}

// even is a judge that finds all texts alike.
func even(features.Doc) float64 { return 0.3 }

// degreeTold returns the R term of a score.
func degreeTold(t *testing.T, s relevance.Score) relevance.Term {
	t.Helper()
	at := slices.IndexFunc(s.Terms, func(term relevance.Term) bool { return term.Name == "R" })
	if at < 0 {
		t.Fatalf("terms %v tell no R", s.Terms)
	}
	return s.Terms[at]
}

// TestDegreeExample is paper A's worked example: λ = 8 of 20 words on a start page, then λ = 2, with ρ = 0
// and ρ = 0.3.
func TestDegreeExample(t *testing.T) {
	for _, example := range []struct{ rho, first, second float64 }{{0, 0.4, 0.1}, {0.3, 0.58, 0.244}} {
		l := New(even, Options{Cut: 0.5, Keywords: twentyWords(t), Rho: example.rho})
		one, two := having(8, "http://a.test/", "http://b.test/"), having(2, "http://b.test/", "http://c.test/")
		l.Start(page.Key(one.URL), false)
		var told []relevance.Term
		for _, p := range []*page.Page{one, two} {
			told = append(told, degreeTold(t, l.ScorePage(p, 0.3)))
			l.ScoreLinks(nil, p, 0.3)
		}
		for i, want := range []float64{example.first, example.second} {
			if math.Abs(told[i].Value-want) > 1e-6 {
				t.Errorf("ρ = %v: R of page %d is %v, want %v", example.rho, i+1, told[i].Value, want)
			}
		}
		if !strings.Contains(told[0].Note, "8/20") || !strings.Contains(told[1].Note, fmt.Sprintf("R %.3g of the page", example.first)) {
			t.Errorf("notes %q and %q", told[0].Note, told[1].Note)
		}
		waits, _ := l.Explain("http://c.test/")
		want := fmt.Sprintf("degree of relevance %.3f of the best page that links here", example.second)
		if !slices.ContainsFunc(waits.Terms, func(term relevance.Term) bool { return term.Note == want }) {
			t.Errorf("the link's terms %v do not tell %q", waits.Terms, want)
		}
	}
}

func TestBestDegree(t *testing.T) {
	l := New(even, Options{Cut: 0.5, Keywords: twentyWords(t)})
	for i, lambda := range []int{2, 10, 4} {
		p := having(lambda, fmt.Sprintf("http://p%d.test/", i), "http://t.test/")
		l.ScorePage(p, 0.3)
		l.ScoreLinks(nil, p, 0.3)
	}
	if s := degreeTold(t, l.ScorePage(having(0, "http://t.test/"), 0.3)); !strings.Contains(s.Note, "R 0.5 of the page") {
		t.Errorf("%q, want the R of the best page, 10/20", s.Note)
	}
}

// TestLargerDegreeFirst checks that R breaks ties, even after five hundred pages to the contrary, and across
// agents.
func TestLargerDegreeFirst(t *testing.T) {
	l := New(even, Options{Cut: 0.5, Keywords: twentyWords(t), Rho: 0.3})
	read := func(p *page.Page, probability float64) {
		l.ScorePage(p, probability)
		l.ScoreLinks(nil, p, probability)
	}
	rows := 0
	larger := func(when string) {
		t.Helper()
		low, high := fmt.Sprintf("http://t.test/low/%d", rows), fmt.Sprintf("http://t.test/high/%d", rows)
		from := fmt.Sprintf("http://from.test/%d/", rows)
		read(having(7, from+"a", low), 0.3)
		read(having(8, from+"b", high), 0.3)
		a, _ := l.Rescore(page.Key(low))
		b, _ := l.Rescore(page.Key(high))
		if !(a < b) {
			t.Errorf("%s: R of 7 words scores %v, of 8 words %v, all else alike", when, a, b)
		}
		rows++
	}
	larger("at first")
	for i := range 500 {
		good := i % 2
		leads, to := fmt.Sprintf("http://leads.test/%d", i), fmt.Sprintf("http://led.test/%d", i)
		read(having(20*(1-good), leads, to), 0.3)
		read(having(0, to), float64(good))
	}
	larger("after pages that say the contrary")
	other := New(even, Options{Cut: 0.5, Keywords: twentyWords(t), Rho: 0.3})
	s := newSums()
	s.all = record{100, 50}
	for i := range s.precision {
		s.precision[i][i], s.shift[i] = 100, -1000
	}
	other.Learn(s)
	l = other
	larger("after others told the contrary")
}

// TestOrderIsOfDegree checks that R decides until a page beyond the start pages is fetched, with ties by
// promise, and the promise after that.
func TestOrderIsOfDegree(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5, Keywords: twentyWords(t), Rho: 0.3, Explore: 0.9})
	l.ScoreUnlinked("http://nobody.test/")
	for i, lambda := range []int{3, 12, 0, 11, 4} {
		p := having(lambda, fmt.Sprintf("http://start%d.test/", i), fmt.Sprintf("http://t%d.test/plain", i), fmt.Sprintf("http://t%d.test/ore", i))
		p.Links[1].Anchor = "gold"
		l.Start(page.Key(p.URL), false)
		l.ScorePage(p, 1-float64(lambda)/20)
		l.ScoreLinks(nil, p, 1-float64(lambda)/20)
	}
	want := []string{"t1/ore", "t1/plain", "t3/ore", "t3/plain", "t4/ore", "t4/plain", "t0/ore", "t0/plain", "t2/ore", "t2/plain"}
	if got := ranked(l); !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
	if l.Begun() {
		t.Error("start pages count as a lesson")
	}
	if s, _ := l.Explain("http://t4.test/ore"); s.Terms[1].Name != "by R" {
		t.Errorf("terms %v do not tell that R alone counts", s.Terms)
	}
	fetched := l.ScorePage(having(0, "http://t1.test/plain"), 0.1)
	if terms := spelled(t, fetched); terms[3].Name != "by R" {
		t.Errorf("terms %v do not tell why the page was fetched", terms)
	}
	if !l.Begun() {
		t.Error("a page beyond the start pages is no lesson")
	}
	for _, e := range l.links.waiting.All() {
		e.explored = false
	}
	if got := ranked(l); !strings.HasSuffix(got[0], "ore") || !strings.HasSuffix(got[4], "ore") {
		t.Errorf("order %v after a lesson, want what promises more first", got)
	}
}

// ranked returns the queued targets of TestOrderIsOfDegree, in order.
func ranked(l *Scorer) []string {
	type place struct {
		name  string
		score float64
	}
	var all []place
	for i := range 5 {
		for _, name := range []string{"plain", "ore"} {
			if s, ok := l.Rescore(page.Key(fmt.Sprintf("http://t%d.test/%s", i, name))); ok {
				all = append(all, place{fmt.Sprintf("t%d/%s", i, name), s})
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(b.score, a.score) })
	var names []string
	for _, p := range all {
		names = append(names, p.name)
	}
	return names
}

// TestDegreeTravels checks that R accompanies links to another agent.
func TestDegreeTravels(t *testing.T) {
	here, there := New(even, Options{Cut: 0.5, Keywords: twentyWords(t), Rho: 0.3}), New(even, Options{Cut: 0.5, Keywords: twentyWords(t), Rho: 0.3})
	here.Share(func(string) bool { return true })
	there.Share(func(string) bool { return true })
	p := having(8, "http://a.test/", "http://b.test/")
	here.Start(page.Key(p.URL), false)
	referrer := here.ScorePage(p, 0.3).Introduction
	excerpt := &page.Page{URL: p.URL, Links: p.Links, Excerpt: &page.Excerpt{Places: []int{0}, Of: 1, Introduction: referrer}}
	there.ScoreLinks(nil, excerpt, 0.3)
	if s := degreeTold(t, there.ScorePage(having(2, "http://b.test/"), 0.3)); math.Abs(s.Value-0.244) > 1e-6 {
		t.Errorf("R is %v with another agent, want 0.244", s.Value)
	}
}

func TestDegreeThroughRedirects(t *testing.T) {
	l := New(even, Options{Cut: 0.5, Keywords: twentyWords(t), Rho: 0.3})
	p := having(8, "http://a.test/", "http://b.test/")
	l.Start(page.Key(p.URL), false)
	l.ScorePage(p, 0.3)
	l.ScoreLinks(nil, p, 0.3)
	for _, hop := range [][2]string{{"http://b.test/", "http://hop.test/"}, {"http://hop.test/", "http://c.test/"}, {"http://unknown.test/", "http://c.test/"}} {
		l.Lead(page.Key(hop[1]), l.Led(page.Key(hop[0])))
	}
	for _, r := range []float64{math.NaN(), -1, 2} { // from a faulty agent
		l.Lead(page.Key("http://c.test/"), r)
	}
	if s := degreeTold(t, l.ScorePage(having(2, "http://c.test/"), 0.3)); math.Abs(s.Value-0.244) > 1e-6 {
		t.Errorf("R is %v behind two redirects, want 0.244", s.Value)
	}
}

// TestDegreeOfUnlinked checks that a URL from a sitemap has R = 0, and its page (1 − ρ) · λ/|K|.
func TestDegreeOfUnlinked(t *testing.T) {
	l := New(even, Options{Cut: 0.5, Keywords: twentyWords(t), Rho: 0.3})
	const listed = "http://listed.test/page"
	if unlinked, linked := l.ScoreUnlinked(listed), byDegree(0.01, 1, l.degrees.step()); !(unlinked < linked) {
		t.Errorf("at first a URL of a sitemap scores %v, not below a link of R 0.01, %v", unlinked, linked)
	}
	if s := degreeTold(t, l.ScorePage(having(8, listed), 0.3)); math.Abs(s.Value-0.28) > 1e-6 || !strings.Contains(s.Note, "R 0 of the page") {
		t.Errorf("R of its page is %v by %q, want 0.7 · 8/20 + 0.3 · 0", s.Value, s.Note)
	}
}

// TestDegreeWithoutKeywords checks that the judge's probability replaces λ/|K|.
func TestDegreeWithoutKeywords(t *testing.T) {
	l := New(even, Options{Cut: 0.5, Rho: 0.3})
	p := having(8, "http://a.test/")
	l.Start(page.Key(p.URL), false)
	if s := degreeTold(t, l.ScorePage(p, 0.4)); math.Abs(s.Value-0.58) > 1e-6 {
		t.Errorf("R is %v, want 0.7 · 0.4 + 0.3 · 1", s.Value)
	}
}
