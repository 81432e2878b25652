package features

import (
	"hash/fnv"
	"slices"
	"testing"
)

// TestTokens: each term that the analyzer gives has its number, in order, also where
// the number is one that means something else.
func TestTokens(t *testing.T) {
	asked := map[string]int{}
	token := func(term string) uint32 {
		asked[term]++
		switch term {
		case "bank":
			return 1<<32 - 2 // leftOut
		case "loan":
			return 1<<32 - 1 // noTerm
		}
		h := fnv.New32a()
		_, _ = h.Write([]byte(term)) // never fails
		return h.Sum32()
	}
	opt := AnalyzerOptions{Numbers: NumbersKeep}
	tokens := NewTokens(opt, token)
	const text = "The banks of 1997 were lending; the bank's loans, and 1997 loans. Été, 東京銀行"
	for _, lang := range []string{"en", "", "fr", "ja"} {
		clear(asked)
		got := tokens.Append([]uint32{7}, text, lang)
		got = tokens.Append(got, text, lang) // from the cache
		for term, n := range asked {
			if n > 2 { // banks, bank
				t.Errorf("%s: %q was asked for %d times", lang, term, n)
			}
		}
		want := []uint32{7}
		for _, term := range NewAnalyzer(opt).Terms(nil, text+" "+text, lang) {
			n := token(term)
			if term == "bank" {
				n++
			}
			want = append(want, n)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", lang, got, want)
		}
	}
}
