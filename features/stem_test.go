package features

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kljensen/snowball/english"
)

// TestEnglishStems holds the two libraries to each other on words made of English
// endings: models were trained with the stems of the one and work with the other's.
func TestEnglishStems(t *testing.T) {
	endings := strings.Fields(`ational fulness iveness ization ousness biliti lessli tional alism aliti ation entli fulli
		iviti ousli anci abli alli ator enci izer bli ogi li icate ative alize iciti ical ful ness al ance ence er ic able ible
		ant ement ment ent ism ate iti ous ive ize sion tion eed eedly ed edly ing ingly ies ied s us ss y e l 's o' yy skis
		skies dying lying tying idly gently ugly early only singly sky news howe atlas cosmos bias andes inning outing canning
		herring earring proceed exceed succeed gener commun arsen past univers later emerg organ`)
	const letters = "abcdefghijklmnopqrstuvwxyzeeaaiioouuyyllstéñ"
	runes := []rune(letters)
	rng := rand.New(rand.NewPCG(1, 2))
	itself := 0
	for range 50_000 {
		var b strings.Builder
		for range rng.IntN(7) {
			b.WriteRune(runes[rng.IntN(len(runes))])
		}
		for range rng.IntN(3) {
			b.WriteString(endings[rng.IntN(len(endings))])
		}
		for _, word := range NewAnalyzer(AnalyzerOptions{NoStem: true, KeepStop: true}).Terms(nil, b.String(), "en") {
			if !isLetters(word) {
				continue // never stemmed
			}
			want := english.Stem(word, true)
			if got := stemEnglish(word, true); got != want {
				t.Errorf("the stem of %q is %q, want %q", word, got, want)
			}
			if isEnglishStem(word) {
				if itself++; want != word {
					t.Errorf("%q is taken for its own stem, which is %q", word, want)
				}
			}
		}
	}
	if itself < 5000 {
		t.Errorf("%d words are taken for their own stems by their endings, want a tenth of 50,000 at least", itself)
	}
}
