package train

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"fossick/models/features"
)

// TestLossy counts words of a Zipf distribution in a lexicon that holds a tenth of them, and holds
// every count against the truth. The bound must be kept, and be worth something.
func TestLossy(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	zipf := func() int { return int(math.Pow(20000, rng.Float64())) } // about 1/x
	lex := features.NewLexicon()
	x := features.NewExtractor(features.ExtractorOptions{Analyzer: features.AnalyzerOptions{NoStem: true}}, lex)
	tl := lossy{lex: lex, limit: 2000}
	truth := map[string]int32{}
	var v features.Vector
	const pages = 4000
	dropped := 0
	for page := range pages {
		text, seen := "", map[string]bool{}
		for range 20 {
			w := fmt.Sprintf("w%dx", zipf())
			text += w + " "
			if !seen[w] {
				seen[w] = true
				truth[w]++
			}
		}
		v = x.Count(v, features.Doc{Text: text})
		if tl.add(page, v) {
			x.Forget()
			dropped++
		}
		if lex.Live() > tl.limit {
			t.Fatalf("page %d: %d terms, want %d at most", page, lex.Live(), tl.limit)
		}
	}
	if len(truth) < 3*tl.limit || dropped < 3 {
		t.Fatalf("%d words, dropped %d times: the test does not test", len(truth), dropped)
	}
	if tl.bound < 1 || tl.bound > pages/50 {
		t.Errorf("bound %d of %d pages", tl.bound, pages)
	}
	number := map[string]int32{}
	for i, term := range lex.Terms() {
		number[term] = int32(i)
	}
	exact := 0
	for w, n := range truth {
		i, kept := number[w]
		if !kept {
			if n > tl.bound {
				t.Fatalf("%s is on %d pages and missing; bound %d", w, n, tl.bound)
			}
			continue
		}
		if df := tl.df[i]; df > n || n > df+tl.lost[i] || tl.lost[i] > tl.bound {
			t.Fatalf("%s is on %d pages, counted on %d, lost %d at most; bound %d", w, n, df, tl.lost[i], tl.bound)
		}
		if tl.df[i] == n {
			exact++
		}
	}
	t.Logf("%d words, %d kept, %d of them exact, dropped %d times, bound %d", len(truth), lex.Live(), exact, dropped, tl.bound)
}
