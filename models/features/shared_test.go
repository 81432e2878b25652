package features

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestShare: extractors that share words, at work at once, count what one alone
// counts, also when more words come than are kept.
func TestShare(t *testing.T) {
	for _, options := range []ExtractorOptions{
		{Fields: true, Lead: 5, Analyzer: AnalyzerOptions{KeepStop: true, Numbers: NumbersShape}},
		{Fields: true, Analyzer: AnalyzerOptions{KeepStop: true, Numbers: NumbersShape}}, // looked up by numbers alone
	} {
		words := shareWords(t, options)
		learned := words.of("").table
		if known := learned.n; known == 0 || known > cacheWords/2 {
			t.Errorf("%+v: %d words are remembered together, want some, at most %d", options, known, cacheWords/2)
		}
		if numbered := words.numbers.n > 0; numbered != (options.Lead == 0) {
			t.Errorf("%+v: words are looked up by numbers alone: %v", options, numbered)
		}
	}
}

// shareWords has four extractors count texts of 26 × 20,000 words at once.
func shareWords(t *testing.T, options ExtractorOptions) *SharedWords {
	terms := []string{"bank", "loan", "title:bank", "lead:loan", "lead:word", "word", "char:_ba", "char:oan", "heading:hous", "0000"}
	also := Also{Number: func(term string) uint32 { return uint32(len(term)) }}
	texts := make([]string, 24)
	rng := rand.New(rand.NewPCG(9, 10))
	for i := range texts {
		var text strings.Builder
		for n := range 3000 {
			fmt.Fprintf(&text, "word%c%d ", 'a'+rune(rng.IntN(26)), rng.IntN(20000))
			if n%50 == 0 {
				text.WriteString("Banks lend houses 1998, a loan. ")
			}
		}
		texts[i] = text.String()
	}
	count := func(x *Extractor, text string) (Vector, []uint32) {
		v, words := x.CountBoth(Vector{}, nil, Doc{Title: "A bank", Headings: "Houses", Text: text})
		return v, words
	}
	words := NewSharedWords()
	var workers sync.WaitGroup
	for worker := range 4 {
		workers.Go(func() {
			alone, shared := NewExtractor(options, FixedLexicon(terms)), NewExtractor(options, FixedLexicon(terms))
			alone.ReadAlong(also)
			shared.ReadAlong(also)
			shared.Share(words)
			for i := range texts {
				text := texts[(i+worker*7)%len(texts)]
				v, read := count(shared, text)
				want, wantRead := count(alone, text)
				if !slices.Equal(v.Index, want.Index) || !slices.Equal(v.Value, want.Value) || !slices.Equal(read, wantRead) {
					t.Errorf("worker %d, text %d: %v, want %v", worker, i, v, want)
					return
				}
			}
		})
	}
	workers.Wait()
	return words
}
