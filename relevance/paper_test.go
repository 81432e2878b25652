package relevance

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fossick/internal/page"
)

var twentyWords = strings.Fields(`alpha bravo charlie delta echo foxtrot golf hotel india juliet
	kilo lima mike november oscar papa quebec romeo sierra tango`)

// TestPaperExample is the worked example of paper A, section 2: two pages in a row, |K| = 20, threshold
// 0.2.
func TestPaperExample(t *testing.T) {
	k, err := NewKeywords(twentyWords)
	if err != nil {
		t.Fatal(err)
	}
	page1 := &page.Page{Text: strings.Join(twentyWords[:8], " and ")}
	page2 := &page.Page{Text: "The " + twentyWords[3] + " and " + twentyWords[15] + ", " + twentyWords[3]}
	const threshold = 0.2
	for _, test := range []struct {
		rho, r1, r2 float64
		collected   bool    // whether page 3, which page 2 links to, is fetched
		unlinked    float64 // URL that page 1 leads to without a link: ρ · R1
	}{
		{0, 0.4, 0.1, false, 0},
		{0.3, 0.58, 0.244, true, 0.174},
	} {
		t.Run(fmt.Sprintf("rho %g", test.rho), func(t *testing.T) {
			s, err := NewPaper(k, test.rho)
			if err != nil {
				t.Fatal(err)
			}
			r1 := s.ScorePage(page1, 1).Value
			r2 := s.ScorePage(page2, r1).Value
			if !near(r1, test.r1) || !near(r2, test.r2) {
				t.Errorf("R1, R2 = %v, %v, want %v, %v", r1, r2, test.r1, test.r2)
			}
			page2.Links = []page.Link{{URL: "http://three.test/"}}
			if link := s.ScoreLinks(nil, page2, r2); (link[0] >= threshold) != test.collected {
				t.Errorf("link to page 3 has %v, collected must be %v at %v", link, test.collected, threshold)
			}
			if got := s.ScoreUnlinked(r1); !near(got, test.unlinked) {
				t.Errorf("a URL without a link has %v, want %v", got, test.unlinked)
			}
		})
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-12 }

func TestRhoOutOfRange(t *testing.T) {
	k, err := NewKeywords(twentyWords)
	if err != nil {
		t.Fatal(err)
	}
	for _, rho := range []float64{-0.1, 1, 2, math.NaN()} {
		if _, err := NewPaper(k, rho); err == nil {
			t.Errorf("ρ = %v was accepted", rho)
		}
	}
}

func TestKeywordsMatchByStemAndSequence(t *testing.T) {
	k, err := NewKeywords([]string{"mortgage", "interest rate", "Bank of England", "banking", "mortgage"})
	if err != nil {
		t.Fatal(err)
	}
	if k.Len() != 4 {
		t.Fatalf("|K| = %d, want 4: a repeated word counts once", k.Len())
	}
	for _, test := range []struct {
		name, lang, text string
		want             []string
	}{
		{"by stem", "en", "Two MORTGAGES were sold.", []string{"mortgage"}},
		{"phrase", "en", "the Interest rates rose", []string{"interest rate"}},
		{"phrase torn apart", "en", "rate of interest", nil},
		{"phrase with small words", "en", "The Bank of England’s building", []string{"Bank of England", "banking"}},
		{"small words count", "en", "Bank England", []string{"banking"}},
		{"repeated", "en", "mortgage mortgage mortgaged", []string{"mortgage"}},
		{"another language", "de", "Die Mortgage", []string{"mortgage"}},
		{"nothing", "", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := k.FoundIn(test.lang, test.text)
			if !slices.Equal(got, test.want) && len(got)+len(test.want) > 0 {
				t.Errorf("found %q in %q, want %q", got, test.text, test.want)
			}
		})
	}
	if got := k.FoundIn("en", "interest", "rate"); len(got) > 0 {
		t.Errorf("found %q across two texts", got)
	}
}

func TestKeywordsRefused(t *testing.T) {
	for _, words := range [][]string{nil, {"", " "}, {"..."}} {
		if _, err := NewKeywords(words); err == nil {
			t.Errorf("keywords %q were accepted", words)
		}
	}
}

func TestKeywordsInAnyScript(t *testing.T) {
	k, err := NewKeywords([]string{"은행", "銀行", "Ипотека", "C"})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"한국 은행 금리": "은행", "ипотека и кредит": "Ипотека", "Programs in C.": "C"} {
		if got := k.FoundIn("", text); !slices.Contains(got, want) {
			t.Errorf("found %q in %q, want %q", got, text, want)
		}
	}
}

// TestPaperMeanOfOneParent checks that PaperMean with one parent is eq. 1.
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
		{URL: "http://b.test/"}, {URL: "http://c.test/"}, {URL: "http://b.test/"}, // repeated links count once
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

// TestPaperMeanOfMany compares with a naive mean.
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
