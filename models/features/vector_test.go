package features

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestLexiconDrop(t *testing.T) {
	l := NewLexicon()
	for _, term := range strings.Fields("a b c d e") {
		l.Index(term)
	}
	l.Drop(func(i int32) bool { return i == 1 || i == 4 })
	if l.Live() != 2 || l.Len() != 5 || l.Index("b") != 1 || l.Index("e") != 4 {
		t.Errorf("%d of %d terms live: %q", l.Live(), l.Len(), l.Terms())
	}
	for want, term := range map[int32]string{0: "x"} {
		if got := l.Index(term); got != want {
			t.Errorf("a new term got number %d, want %d, the lowest that is free", got, want)
		}
	}
	if got := []int32{l.Index("a"), l.Index("z"), l.Index("y")}; !slices.Equal(got, []int32{2, 3, 5}) {
		t.Errorf("then %v, want 2, 3, 5", got)
	}
	if want := []string{"x", "b", "a", "z", "e", "y"}; !slices.Equal(l.Terms(), want) {
		t.Errorf("terms %q, want %q", l.Terms(), want)
	}
}

// TestDropAgainstStrings: counts by a lexicon that drops terms at random equal counts by strings.
func TestDropAgainstStrings(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, opt := range []ExtractorOptions{{Fields: true}} {
		lex := NewLexicon()
		x := NewExtractor(opt, lex)
		for range 300 {
			var words []string
			for range rng.IntN(12) {
				words = append(words, fmt.Sprintf("w%c", 'a'+rng.IntN(26)))
			}
			d := Doc{Title: words0(words), Text: strings.Join(words, " "), URL: "http://a.test/w" + words0(words)}
			fresh := NewLexicon()
			want := map[string]float32{}
			w := NewExtractor(opt, fresh).Count(Vector{}, d)
			for k, i := range w.Index {
				want[fresh.Terms()[i]] = w.Value[k]
			}
			v := x.Count(Vector{}, d)
			if len(v.Index) != len(want) {
				t.Fatalf("%d terms, want %d", len(v.Index), len(want))
			}
			for k, i := range v.Index {
				if term := lex.Terms()[i]; want[term] != v.Value[k] {
					t.Fatalf("%q %v times, want %v", term, v.Value[k], want[term])
				}
			}
			if rng.IntN(4) == 0 {
				lex.Drop(func(int32) bool { return rng.IntN(2) == 0 })
				x.Forget()
			}
		}
	}
}

func words0(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
