package relevance

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"fossick/internal/page"
)

// twentyWords is a K of paper A's size.
var twentyWords = strings.Fields(`alpha bravo charlie delta echo foxtrot golf hotel india juliet
	kilo lima mike november oscar papa quebec romeo sierra tango`)

// TestPaperExample is the worked example of paper A, section 2: two pages in a
// row, |K| = 20, threshold 0.2.
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
		collected   bool    // is page 3, which page 2 links to
		unlinked    float64 // a URL that page 1 leads to without a link: ρ · R1
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

func BenchmarkScorePage(b *testing.B) {
	k, err := NewKeywords(twentyWords)
	if err != nil {
		b.Fatal(err)
	}
	s, err := NewPaper(k, 0.3)
	if err != nil {
		b.Fatal(err)
	}
	p := &page.Page{Lang: "en", Text: strings.Repeat("A page of some length that speaks of hotels and golf, and little else. ", 300)}
	b.SetBytes(int64(len(p.Text)))
	b.ReportAllocs()
	for b.Loop() {
		s.ScorePage(p, 1)
	}
}
