package learned

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/internal/page"
)

// TestYieldByDefinition compares with the discounted mean: the k-th last page has weight .98^k, and the wider
// pattern counts as two pages.
func TestYieldByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	y := newYields(100)
	var urls []string
	var worths []float64
	for range 300 {
		urls = append(urls, fmt.Sprintf("http://h%d.test/%c/x%d?%c=1", rng.IntN(2), 'a'+rune(rng.IntN(2)), rng.IntN(9), 'k'+rune(rng.IntN(2))))
		worths = append(worths, rng.Float64())
		y.of(urls[len(urls)-1]).add(worths[len(worths)-1])
	}
	const base = 0.3
	plain := func(url string) float64 {
		patterns := []string{page.Pattern(url)}
		for patterns[0] != "" {
			patterns = append([]string{page.WiderPattern(patterns[0])}, patterns...)
		}
		rate := base
		for _, p := range patterns {
			sum, n, weight := 0.0, 0.0, 1.0
			for i := len(urls) - 1; i >= 0; i-- {
				in := page.Host(urls[i]) == page.Host(url) && p == ""
				for q := page.Pattern(urls[i]); q != ""; q = page.WiderPattern(q) {
					in = in || page.Host(urls[i]) == page.Host(url) && q == p
				}
				if in {
					sum, n, weight = sum+weight*worths[i], n+weight, weight*yieldFades
				}
			}
			rate = (sum + yieldDoubt*rate) / (n + yieldDoubt)
		}
		return rate
	}
	for _, url := range append(slices.Clone(urls[:20]), "http://h0.test/a/", "http://h1.test/new/x", "http://new.test/") {
		if got, want := y.of(url).next(base), plain(url); math.Abs(got-want) > 1e-4 {
			t.Errorf("%s: %v, want %v", url, got, want)
		}
	}
}

// TestEcho checks that echoes are found only within a pattern.
func TestEcho(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	some := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "w%d ", rng.IntN(1e6))
		}
		return b.String()
	}
	y := newYields(100)
	read := func(url, text string) float64 {
		p, err := page.Parse([]byte("<title>t</title><p>"+text), page.ParseOptions{URL: url, ContentType: "text/html; charset=utf-8"})
		if err != nil {
			t.Fatal(err)
		}
		return y.echo(p, 0.9)
	}
	text := some(200)
	for i, c := range []struct {
		url, text string
		low, high float64
	}{
		{"http://a.test/item/1", text, 0, 0},
		{"http://a.test/item/2", text + "by Anna", 0.9, 1},
		{"http://a.test/item/3?visit=7", text + "by Berta", 0, 0}, // the first page with a query
		{"http://a.test/item/4?order=7", text + "by Carla", 0.9, 1},
		{"http://a.test/item/5", some(200), 0, 0},
		{"http://a.test/item/6", some(200) + text, 0.2, 0.7},
		{"http://a.test/other/2", text, 0, 0},
		{"http://b.test/item/2", text, 0, 0},
		{"http://a.test/item/7", "as short as can be", 0, 0},
	} {
		if e := read(c.url, c.text); e < c.low || e > c.high {
			t.Errorf("page %d, %s: echo %.2f, want %.2f to %.2f", i, c.url, e, c.low, c.high)
		}
	}
}

// TestYieldTurnsAway checks that patterns without new pages on topic fall behind.
func TestYieldTurnsAway(t *testing.T) {
	l := New(goldJudge, Options{Cut: 0.5})
	offer := func(n int) (good, bad float64) {
		p := &page.Page{URL: fmt.Sprintf("http://p.test/%d", n)}
		for _, kind := range []string{"good", "bad"} {
			p.Links = append(p.Links, page.Link{URL: fmt.Sprintf("http://a.test/x/%s%d/y", kind, n), Anchor: "gold"})
		}
		l.ScorePage(p, 0.5)
		s := l.ScoreLinks(nil, p, 0.5)
		return s[0], s[1]
	}
	for i := range 60 {
		offer(i)
		l.ScorePage(&page.Page{URL: fmt.Sprintf("http://a.test/x/good%d/y", i)}, 0.95)
		l.ScorePage(&page.Page{URL: fmt.Sprintf("http://a.test/x/bad%d/y", i)}, 0.05)
	}
	good, bad := offer(60)
	if good < 2*bad {
		t.Errorf("a link of the good pattern is worth %v, of the bad one %v", good, bad)
	}
	for i := range 60 {
		l.ScorePage(&page.Page{URL: fmt.Sprintf("http://a.test/x/good%d/y", 100+i)}, 0.05)
	}
	if now, _ := offer(61); now > 0.75*good {
		t.Errorf("a link of an exhausted pattern is worth %v, before %v", now, good)
	}
}
