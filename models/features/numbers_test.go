package features

import (
	"fmt"
	"sync"
	"testing"
)

// Readers of a cache that others fill and replace find a word's own numbers or none.
func TestWordCacheOfMany(t *testing.T) {
	c := newWordCache()
	const words = 3 * maxBuckets * bucketSlots / 2
	numbers := func(i uint64) known { return known{body: int32(i % 1000), also: uint32(i)} }
	hash := func(i uint64) uint64 { return (i + 1) * 0x9E3779B97F4A7C15 }
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range uint64(words) {
				if w, ok := c.find(hash(i)); ok && w != numbers(i) {
					t.Errorf("word %d has %v, not %v", i, w, numbers(i))
					return
				} else if !ok {
					c.add(hash(i), numbers(i))
				}
			}
		})
	}
	all.Wait()
	if n := len(*c.table.Load()); n != maxBuckets {
		t.Errorf("the table has %d buckets, not %d", n, maxBuckets)
	}
}

// A word that is also a language's name, and a pair of such words, have keys of their own.
func TestWordsNamedLikeLanguages(t *testing.T) {
	for _, c := range []struct{ text, lang string }{{"es esta casa en it", "es"}, {"en route it is", "en"}, {"da er en by", "da"}, {"en it per che", "it"}} {
		want := NewAnalyzer(AnalyzerOptions{}).Terms(nil, c.text, c.lang)
		names := []string{""}
		tokens := NewTokens(AnalyzerOptions{}, func(term string) uint32 { names = append(names, term); return uint32(len(names) - 1) })
		tokens.Append(nil, "it en es da", "en")
		var got []string
		for _, n := range tokens.Append(nil, c.text, c.lang) {
			got = append(got, names[n])
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q in %s: %q, not %q", c.text, c.lang, got, want)
		}
	}
}

// Forks count as one extractor does.
func TestFork(t *testing.T) {
	lex := FixedLexicon([]string{"cat", "dog", "title:dog", "lead:cat"})
	first := NewExtractor(ExtractorOptions{Fields: true, Lead: 2}, lex)
	fork := first.Fork()
	d := Doc{Title: "Dogs", Text: "a cat, two dogs and three cats"}
	want := fmt.Sprint(first.Count(Vector{}, d))
	if got := fmt.Sprint(fork.Count(Vector{}, d)); got != want || len(*fork.cache.table.Load()) == 0 || fork.cache != first.cache {
		t.Errorf("the fork counts %s, not %s", got, want)
	}
	first.Forget()
	if got := fmt.Sprint(fork.Count(Vector{}, d)); got != want {
		t.Errorf("after Forget it counts %s, not %s", got, want)
	}
}
