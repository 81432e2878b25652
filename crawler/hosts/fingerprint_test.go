package hosts

import (
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"fossick/internal/page"
)

// TestFingerprintIsOfTheLetters: it has the hash of title and text without all
// that is no letter, in texts of any length and script.
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

func BenchmarkFingerprint(b *testing.B) {
	p := &page.Page{Title: "Mortgage lending", Text: strings.Repeat("The Bank of England raised its lending rate in 1997. ", 300)}
	prints := NewFingerprinter()
	b.SetBytes(int64(len(p.Text)))
	b.ReportAllocs()
	for b.Loop() {
		prints.Of(p)
	}
}
