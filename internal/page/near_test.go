package page

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

// siteOf puts a site's common parts around a body: a menu with one link per line, and a footer.
func siteOf(name, title, body string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<title>%s</title><ul>", title)
	for i := range 120 {
		fmt.Fprintf(&b, "<li><a href=/%s/%d>%s section %d of many</a>", name, i, name, i)
	}
	fmt.Fprintf(&b, "</ul><h1>%s</h1>%s<p>All rights are reserved by the owners of %s.", title, body, name)
	return b.String()
}

func parseAt(t testing.TB, url, html string) *Page {
	t.Helper()
	p := testkit.Call(Parse([]byte(html), ParseOptions{URL: url})).Must(t)
	return p
}

// TestNear compares an article with its variants and with pages that only look similar.
func TestNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	words := func(n int) string { return "<p>" + strings.Join(randomText(rng, n), " ") }
	body, comment, ad := words(400), words(35), words(8)
	const here = "http://a.test/one"
	article := func(extra string) string { return siteOf("alpha", "The Article", body+extra) }
	base := parseAt(t, here, article("<p>Last seen on 3 May 2019."))
	short := words(20)

	for _, c := range []struct {
		name, url, html string
		near            bool
	}{
		{"the same", here, article("<p>Last seen on 3 May 2019."), true},
		{"changed date", here + "?a", article("<p>Last seen on 17 June 2021."), true},
		{"changed advertisement", here + "?b", article(ad), true},
		{"added comment", here + "?c", article(comment), true},
		{"printer version", here + "?print", "<title>The Article - print</title>" + body, true},
		{"printer version of no title", here + "?print", "<h1>The Article</h1>" + body, false},
		{"mirror in another frame", "http://b.test/1", siteOf("beta", "News from Beta", body), true},
		{"longer by half", here + "?d", article(words(200)), false},
		{"other article in the same frame", "http://a.test/two", siteOf("alpha", "Another Article", words(400)), false},
		{"other article of the same title", "http://a.test/two", siteOf("alpha", "The Article", words(400)), false},
		{"same text under another title", "http://a.test/two", siteOf("alpha", "Chapter Two", body+words(12)), false},
		{"same text under another title and scheme", "https://a.test/two", siteOf("alpha", "Chapter Two", body+words(12)), false},
		{"same text under another title and www", "http://www.a.test/two", siteOf("alpha", "Chapter Two", body+words(12)), false},
		{"same text under another title elsewhere", "https://www.b.test/two", siteOf("alpha", "Chapter Two", body+words(12)), true},
		{"same text to the word under another title", "http://a.test/two", siteOf("alpha", "Article", body+"<p>Last seen on 3 May 2019."), true},
	} {
		share, near := Near(base, parseAt(t, c.url, c.html))
		if near != c.near {
			t.Errorf("%s: near %v at %.3f, want %v", c.name, near, share, c.near)
		}
	}

	tiny := parseAt(t, here, siteOf("alpha", "Tiny", short))
	if _, near := Near(tiny, parseAt(t, here+"2", siteOf("alpha", "Tiny", short+" more"))); near {
		t.Error("tiny pages are near-duplicates; only equal ones may be")
	}
}

func TestSameTitle(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"", "", true}, {"", "A", false}, {"A b", "a  B.", true}, {"!", "?", false},
		{"The News | Site of Many", "The News", true}, {"Site :: The News", "The News", true},
		{"Print - The News - Site", "The News", false}, {"The News - today - Site", "The News - today", true},
		{"Talks", "Talks of May", false}, {"Page 17", "Page 18", false}, {"API Help", "API Help (core 3.1)", true},
		{"Index of /a", "Index of /a/b", false}, {"Новости", "НОВОСТИ — сайт", true},
	} {
		if got := sameTitle(c.a, c.b); got != c.same {
			t.Errorf("sameTitle(%q, %q) = %v, want %v", c.a, c.b, got, c.same)
		}
		if got := sameTitle(c.b, c.a); got != c.same {
			t.Errorf("sameTitle(%q, %q) = %v, want %v", c.b, c.a, got, c.same)
		}
	}
}

func TestProse(t *testing.T) {
	p := parseText(t, `<p><a href=1>Home</a> | <a href=2>News</a><p>First line with <a href=3>a link</a> in it.
		<ul><li><a href=4>One</a><li><a href=5>Two</a></ul><p>Second line.<p><a href=6>Contact</a>`)
	if want := "\nFirst line with a link in it.\n\nSecond line.\n\n"; p.prose() != want {
		t.Errorf("prose %q, want %q", p.prose(), want)
	}
	for _, text := range []string{"", "one line", "two\nlines"} {
		if got := prose(text, nil); got != text {
			t.Errorf("without links the prose of %q is %q", text, got)
		}
	}
}

// TestLinkLines compares with the documented rule on random lines.
func TestLinkLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	both := [2]int{}
	for range 20_000 {
		text := strings.Repeat("ab, cd ", 1+rng.IntN(12))
		var marks []mark
		linked := make([]bool, len(text))
		for at := 0; rng.IntN(6) > 0 && at < len(text); {
			start := min(at+rng.IntN(12)*rng.IntN(2), len(text))
			end := min(start+rng.IntN(40), len(text))
			marks = append(marks, mark{start: start, end: end})
			for i := start; i < end; i++ {
				linked[i] = true
			}
			at = end
		}
		inside, outside := 0, 0
		for i := range text {
			switch {
			case letters(text[i:i+1]) == 0:
			case linked[i]:
				inside++
			default:
				outside++
			}
		}
		want := 0
		if outside*menuRest <= inside+outside {
			want = 1
		}
		both[want]++
		if got := isLinkLine(text, lineOf{0, len(text)}, marks); got != (want == 1) {
			t.Fatalf("%q with links %v: %v; %d letters outside, %d inside", text, marks, got, outside, inside)
		}
	}
	if min(both[0], both[1]) < 1000 {
		t.Errorf("%v lines of both kinds", both)
	}
}

// TestEstimateByHand: of 128 bytes 65 agree, one in 256 by chance: (65/128 − 1/256)/(255/256).
func TestEstimateByHand(t *testing.T) {
	var a Signature
	for agree, want := range map[int]float64{128: 1, 65: 129. / 255, 0: 0} {
		b := a
		for i := range b[agree:] {
			b[agree+i] = 1
		}
		if got := Estimate(&a, &b); !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("%d bytes agree: %v, want %v", agree, got, want)
		}
	}
}

// TestSignatureStays: a changed algorithm would miss near-duplicates of stored pages.
func TestSignatureStays(t *testing.T) {
	var words []string
	for i := range 80 {
		words = append(words, fmt.Sprint("word", i))
	}
	s := signatureOf(strings.Join(words, " "))
	if got := fmt.Sprintf("%x", s[:12]); got != "7ad8fffc62d8ed786b7e54a0" {
		t.Errorf("signature %s…", got)
	}
}

// TestEstimate: estimates are within four standard errors, √(J(1−J)/128).
func TestEstimate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		n := 60 + rng.IntN(600)
		words := randomText(rng, n)
		other := strings.Fields(strings.Join(words, " "))
		for range rng.IntN(n / 4) {
			other[rng.IntN(n)] = fmt.Sprint("other", rng.Int())
		}
		a, b := strings.Join(words, " "), strings.Join(other, " ")
		sa, sb := signatureOf(a), signatureOf(b)
		truth := naiveResemblance(words, other)
		if got := resemblance(a, b); math.Abs(got-truth) > 1e-12 {
			t.Fatalf("resemblance %.6f, want %.6f", got, truth)
		}
		// Texts with fewer shingles than places repeat some.
		places := min(SignatureSize, float64(n))
		if got, most := Estimate(&sa, &sb), 4*math.Sqrt(truth*(1-truth)/places)+0.02; math.Abs(got-truth) > most {
			t.Errorf("%d words: estimate %.3f of %.3f, more than %.3f off", n, got, truth, most)
		}
	}
}

func naiveResemblance(a, b []string) float64 {
	set := func(words []string) map[string]bool {
		m := map[string]bool{}
		for i := 2; i < len(words); i++ {
			m[strings.Join(words[i-2:i+1], " ")] = true
		}
		return m
	}
	x, y := set(a), set(b)
	both := 0
	for s := range x {
		if y[s] {
			both++
		}
	}
	return float64(both) / float64(len(x)+len(y)-both)
}

func signatureOf(text string) Signature {
	_, s := sketches(text, nil)
	return s
}

// TestSignatureOfProse: the signature is that of the prose alone, wherever link lists stand.
func TestSignatureOfProse(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var b, plain strings.Builder
		for range 1 + rng.IntN(8) {
			words := strings.Join(randomText(rng, 1+rng.IntN(60)), " ")
			if rng.IntN(2) == 0 {
				fmt.Fprintf(&b, "<p><a href=x>%s</a>", words)
				plain.WriteString("<p>")
				continue
			}
			b.WriteString("<p>" + words)
			plain.WriteString("<p>" + words)
		}
		p := parseText(t, b.String())
		if got, want := strings.Fields(p.prose()), strings.Fields(parseText(t, plain.String()).Text); !slices.Equal(got, want) {
			t.Fatalf("prose %q, want %q", got, want)
		}
		if p.Signature.IsZero() {
			continue
		}
		var m minima
		for _, h := range shingles(nil, p.prose()) {
			m.add(h)
		}
		if p.Signature != m.signature() {
			t.Fatalf("the signature of %q is not that of its prose %q", p.Text, p.prose())
		}
	}
}

// FuzzNear: comparisons never fail, a page is its own near-duplicate, and order does not matter.
func FuzzNear(f *testing.F) {
	f.Add("<p>one <a href=x>two</a>", "<title>t</title><p>"+strings.Repeat("word and word ", 40))
	f.Add(strings.Repeat("<p>a b c <a href=x>d</a> e", 30), strings.Repeat("<li><a href=x>d</a>\n", 60))
	f.Fuzz(func(t *testing.T, a, b string) {
		p, q := parseAt(t, "http://h.test/", a), parseAt(t, "http://h.test/2", b)
		if len(p.prose()) > len(p.Text) {
			t.Errorf("prose of %d bytes from a text of %d", len(p.prose()), len(p.Text))
		}
		if share, near := Near(p, p); !p.Signature.IsZero() && (share != 1 || !near) {
			t.Errorf("a page and itself: %v, %v", share, near)
		}
		s1, n1 := Near(p, q)
		if s2, n2 := Near(q, p); s1 != s2 || n1 != n2 || s1 < 0 || s1 > 1 {
			t.Errorf("%v, %v one way, %v, %v the other", s1, n1, s2, n2)
		}
	})
}

func BenchmarkNear(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	p := parseAt(b, "http://h.test/", string(syntheticPage(rng)))
	b.ReportAllocs()
	for b.Loop() {
		Near(p, p)
	}
}

// TestNearCorpora counts, as a crawl does, the pages of whole corpora that are near-duplicates of
// earlier ones. With -v it prints thirty random pairs for reading; docs/duplicates.md has the
// result. The thresholds were chosen on debdocs alone. FOSSICK_COMPARE=1 adds the large corpora.
func TestNearCorpora(t *testing.T) {
	testkit.Only(t, "it reads whole corpora")
	for _, c := range []struct {
		corpus string
		near   int // pages at the last count; a tenth more or less passes
	}{{"debdocs", 100}, {"wikispeedia", 10}, {"webkb", 20}, {"uci_ics", 5474}} {
		t.Run(c.corpus, func(t *testing.T) {
			if large := c.corpus == "debdocs" || c.corpus == "uci_ics"; large && os.Getenv("FOSSICK_COMPARE") == "" {
				t.Skip("parses 67,000 pages; set FOSSICK_COMPARE=1 to count near-duplicates in the large corpora")
			}
			pages, exact, pairs := nearPairs(t, c.corpus)
			t.Logf("%d pages, %d repeat an earlier one to the word, %d (%.2f %%) nearly",
				pages, exact, len(pairs), 100*float64(len(pairs))/float64(pages))
			rand.New(rand.NewPCG(1, 1)).Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
			for _, p := range pairs[:min(30, len(pairs))] {
				t.Logf("%.3f %s %s", p.share, p.of, p.url)
			}
			if 10*len(pairs) < 9*c.near || 10*len(pairs) > 11*c.near {
				t.Errorf("%d near-duplicates, want about %d", len(pairs), c.near)
			}
		})
	}
}

type nearPair struct {
	of, url string
	share   float64
}

// nearPairs compares each page with the earlier ones that share a band, like a store's index.
func nearPairs(t *testing.T, corpus string) (pages, exact int, pairs []nearPair) {
	type band struct {
		number int
		value  [6]byte
	}
	seen, index := map[Checksum]bool{}, map[band][]*Page{}
	corpusPages(t, corpus, func(c corpusPage) bool {
		if _, err := Normalize(c.URL); err != nil {
			return true // webkb has a few file: URLs
		}
		p := c.parse(t)
		pages++
		if seen[p.Checksum] {
			exact++
			return true
		}
		seen[p.Checksum] = true
		p.Links = nil
		var bands [5]band
		compared := map[*Page]bool{}
		for i := range bands {
			bands[i] = band{i, [6]byte(p.Signature[6*i:])}
			for _, q := range index[bands[i]] {
				if compared[q] || p.Signature.IsZero() || Estimate(&p.Signature, &q.Signature) < NearShare(p.URL, p.Title, q.URL, q.Title)-0.08 {
					continue
				}
				compared[q] = true
				if share, near := Near(p, q); near {
					pairs = append(pairs, nearPair{q.URL, p.URL, share})
					return true
				}
			}
		}
		if p.Signature.IsZero() {
			return true
		}
		for _, b := range bands {
			index[b] = append(index[b], p)
		}
		return true
	})
	return pages, exact, pairs
}
