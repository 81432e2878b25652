package hosts

import (
	"fmt"
	"hash/maphash"
	"log/slog"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"fossick/internal/page"
	"fossick/internal/testkit"
)

func TestCircular(t *testing.T) {
	for url, trap := range map[string]bool{
		"http://a.test/a/b/c/d/e/f/g/":                              false,
		"http://a.test/2011/11/11/11/11/":                           false, // a date and a number
		"http://a.test/en/docs/en/docs/en/":                         false,
		"http://a.test/en/docs/en/docs/en/docs/en/":                 true,
		"http://a.test/a/a/a/a":                                     true,
		"http://a.test/x?u=/a/a/a/a/a/a/a":                          false,
		"http://a.test////////":                                     false,
		"http://a.test/" + strings.Repeat("x/y1/", 2):               false,
		"http://a.test" + strings.Repeat("/q", 3) + "/z":            false,
		"http://a.test/0/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17": false,
		"http://a.test/" + numbered(40):                             true,
	} {
		if got := Circular(url); (got != "") != trap {
			t.Errorf("%s: circular %q, want %v", url, got, trap)
		}
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d/", i)
	}
	return b.String()
}

// TestPatternBudget: a database on the start site is bounded, however it spells its URLs; the
// rest of the site is not.
func TestPatternBudget(t *testing.T) {
	for name, spell := range map[string]func(i int) string{
		"pages": func(i int) string { return fmt.Sprintf("http://a.test/db/list?page=%d", i) },
		"items": func(i int) string { return fmt.Sprintf("http://a.test/db/%d", i) },
		"names": func(i int) string { return fmt.Sprintf("http://a.test/db/%s/view", strings.Repeat("x", i)) },
		"facets": func(i int) string {
			return fmt.Sprintf("http://a.test/list?%c%c=1&%c=2", 'a'+rune(i%26), 'a'+rune(i/26%26), 'a'+rune(i%7))
		},
		"folders": func(i int) string {
			return fmt.Sprintf("http://a.test/db/y%s/m%d/list?n=%d", strings.Repeat("x", i%50), i%12, i)
		},
	} {
		d := NewTrapDetector(false, slog.New(slog.DiscardHandler))
		a, b := &trapState{Name: "a.test:80", Site: "a.test"}, &trapState{Name: "b.test:80", Site: "b.test"}
		if why := d.Spent(a, "http://a.test/start", true); why != "" {
			t.Fatal(why)
		}
		for i := range 300 {
			d.Answered(b, fmt.Sprint("http://b.test/", i))
			if i%3 == 0 {
				d.Relevant(b, fmt.Sprint("http://b.test/", i))
			}
		}
		asked, why := 0, ""
		for i := 1; i <= 10_000; i++ {
			if why = d.Spent(a, spell(i), false); why == "" {
				asked++
				d.Answered(a, spell(i))
			}
		}
		if asked != budgetLeast || !strings.HasPrefix(why, "the pattern a.test:80/") {
			t.Errorf("%s: %d of 10,000 were asked for, want %d: %q", name, asked, budgetLeast, why)
		}
		if why := d.Spent(a, "http://a.test/other/page", false); why != "" {
			t.Errorf("%s: the rest of the site: %s", name, why)
		}
		if n := len(maps.Collect(d.budgets.patterns.All())); n > 8*budgetSites {
			t.Errorf("%s: %d patterns in memory", name, n)
		}
	}
}

// TestSiteBudgetGrows: a site's budget, by its own and the others' harvest.
func TestSiteBudgetGrows(t *testing.T) {
	for _, c := range []struct {
		answers, hits, others, otherHits int
		spent                            bool
	}{
		{499, 0, 1000, 500, false},
		{500, 0, 1000, 500, true},
		{500, 0, 99, 50, false},   // too few others
		{5000, 0, 1000, 0, false}, // which are worthless too
		{900, 0, 1000, 20, false}, // rare topics need more evidence
		{1000, 0, 1000, 20, true},
		{2000, 0, 10000, 1, true}, // but not endless
		{10000, 990, 1000, 500, false},
		{10000, 900, 1000, 500, true}, // less than a fifth of the others' harvest
		{10000, 2000, 1000, 500, false},
	} {
		b := newBudgets()
		b.add("it.test", c.answers, c.hits)
		b.add("other.test", c.others, c.otherHits)
		if why := b.spent("site", "it.test", page.Entry(&b.sites, "it.test")); (why != "") != c.spent {
			t.Errorf("%+v: %q", c, why)
		}
	}
}

func TestHostPattern(t *testing.T) {
	for host, want := range map[string]string{
		"example.com:80":            "",
		"example.com:443":           "",
		"example.com:8080":          "example.com:0",
		"www.example.com:80":        "*.example.com",
		"shop17.example.com:443":    "0.example.com",
		"a3.b.example.com:80":       "0.*.example.com",
		"a.b.c.example.com:81":      "**.example.com:0",
		"a.b.c.d.e.example.com:80":  "**.example.com",
		"joe.blogspot.com:80":       "", // a site by itself
		"www.joe.blogspot.com:80":   "*.joe.blogspot.com",
		"127.0.0.1:8080":            "127.0.0.1:0",
		"127.0.0.1:80":              "",
		"[::1]:81":                  "[::1]:0",
		"xn--bcher-kva.example:443": "",
	} {
		if got := hostPattern(host, page.Site("http://"+host+"/")); got != want {
			t.Errorf("%s: pattern %q, want %q", host, got, want)
		}
	}
}

// TestFingerprintAcrossHosts: fingerprints ignore host names and words with digits.
func TestFingerprintAcrossHosts(t *testing.T) {
	prints := NewFingerprinter()
	of := func(host, text string) Fingerprint {
		p := testkit.Call(page.Parse([]byte("<p>"+text+`<p><a href="http://other.farm.test/">link</a>`), page.ParseOptions{URL: "http://" + host + "/"})).Must(t)
		return prints.AcrossHosts(p)
	}
	a := of("one.farm.test", "welcome to One, 17 offers, see also other")
	if b := of("two.farm.test", "welcome to TWO, 3000 offers, see also other"); a.letters != b.letters {
		t.Error("two names make a difference")
	}
	if b := of("two.farm.test", "welcome to one, 17 offers, see also other"); a.letters == b.letters {
		t.Error("another host's name, to which no link leads, is a word")
	}
}

// TestFingerprintIsOfTheLetters: it is the hash of title and text reduced to letters.
func TestFingerprintIsOfTheLetters(t *testing.T) {
	prints, rng := NewFingerprinter(), rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("aZ09 .\n_`{@[éßЖ字한\u00ad\u0301ª²🜚")
	for range 2000 {
		text := make([]rune, rng.IntN(1500))
		for i := range text {
			text[i] = alphabet[rng.IntN(len(alphabet))]
		}
		p := &page.Page{Title: string(text[:len(text)/10]), Text: string(text[len(text)/10:]), Sketch: 7}
		letters := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) {
				return r
			}
			return -1
		}, string(text))
		if got, want := prints.Of(p), (Fingerprint{maphash.String(prints.seed, letters), 7}); got != want {
			t.Fatalf("%q: %v, want %v", string(text), got, want)
		}
	}
}
