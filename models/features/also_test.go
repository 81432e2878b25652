package features

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestCountBoth: an Extractor and its second reader have what each has alone, on
// random texts in several scripts, wherever the second reader's part of the text ends.
func TestCountBoth(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	pieces := strings.Fields("The banks' don't 1,000 1997 c++ c++: VB.NET of, mp3 é été, 東京銀行の銀行 Банки\u00ad, 은행은 x\xffy rock'n'roll snake_case")
	some := func(n int) string {
		var b strings.Builder
		for range rng.IntN(n + 1) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
			b.WriteByte(" \n\t "[rng.IntN(4)])
		}
		return b.String()
	}
	number := func(term string) uint32 {
		h := fnv.New32a()
		_, _ = h.Write([]byte(term)) // never fails
		return h.Sum32()
	}
	other := AnalyzerOptions{Numbers: NumbersKeep}
	for _, opt := range []ExtractorOptions{
		{}, {Analyzer: AnalyzerOptions{KeepStop: true, Numbers: NumbersShape}, Fields: true, Lead: 5},
		{Lead: 2, Analyzer: AnalyzerOptions{NoStem: true, MinLength: 3}},
	} {
		lexicon, plain := NewLexicon(), NewLexicon()
		alone, tokens := NewExtractor(opt, plain), NewTokens(other, number)
		for i := range 300 {
			bytes := rng.IntN(80)
			both := NewExtractor(opt, lexicon)
			both.ReadAlong(Also{Analyzer: other, Number: number, TextBytes: bytes})
			d := Doc{URL: "http://a.test/banks/of", Title: some(3), Description: some(3), Headings: some(2), Text: some(20),
				Lang: []string{"en", "", "fr", "ja", "ko"}[rng.IntN(5)]}
			v, words := both.CountBoth(Vector{}, []uint32{7}, d)
			w := alone.Count(Vector{}, d)
			if got, want := counts(lexicon, v), counts(plain, w); !maps.Equal(got, want) {
				t.Fatalf("%+v %d: terms %v, want %v", opt, i, got, want)
			}
			text := d.Text
			if bytes > 0 {
				text = Head(text, bytes)
			}
			want := []uint32{7}
			for _, s := range []string{d.Title, d.Description, text} {
				want = tokens.Append(want, s, d.Lang)
			}
			if !slices.Equal(words, want) {
				t.Fatalf("%+v %d: words of %q up to %d: %v, want %v", opt, i, d, bytes, words, want)
			}
			if again := both.CountUnsorted(Vector{}, d); !maps.Equal(counts(lexicon, again), counts(plain, w)) {
				t.Fatalf("%+v %d: without the second reader %v, want %v", opt, i, counts(lexicon, again), counts(plain, w))
			}
		}
	}
}

func counts(l *Lexicon, v Vector) map[string]float32 {
	m := map[string]float32{}
	for k, i := range v.Index {
		m[l.Terms()[i]] = v.Value[k]
	}
	return m
}

// TestWordsThatCameLately: of the second reader's words CountAndKeep leaves out only
// such as came before, and most of these; also those of which two share a place.
func TestWordsThatCameLately(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	numbers := map[string]uint32{}
	number := func(term string) uint32 {
		if numbers[term] == 0 {
			numbers[term] = 1 + uint32(rng.IntN(5))<<12 + uint32(rng.IntN(400))
		}
		return numbers[term]
	}
	x := NewExtractor(ExtractorOptions{}, NewLexicon())
	x.ReadAlong(Also{Number: number})
	for i := range 100 {
		var text strings.Builder
		for range rng.IntN(2000) {
			fmt.Fprintf(&text, "word%c%c ", 'a'+rng.IntN(20), 'a'+rng.IntN(20))
		}
		d := Doc{Title: "wordaa wordbb", Text: text.String()}
		_, all := x.CountBoth(Vector{}, nil, d)
		_, some := x.CountAndKeep(Vector{}, nil, d)
		once := func(words []uint32) (first []uint32) {
			for _, w := range words {
				if !slices.Contains(first, w) {
					first = append(first, w)
				}
			}
			return first
		}
		if got, want := once(some), once(all); !slices.Equal(got, want) {
			t.Fatalf("text %d: words %v, want %v", i, got, want)
		}
		if slices.Contains(some, 0) {
			t.Fatalf("text %d: a word that is left out was handed over", i)
		}
		if repeats := len(all) - len(once(all)); len(some)-len(once(all)) > repeats/2 {
			t.Fatalf("text %d: of %d repeats %d are left", i, repeats, len(some)-len(once(all)))
		}
	}
}
