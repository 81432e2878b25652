package features

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fossick/internal/fulltest"
)

// wordsOf are the words that each finds, and where their pieces begin.
func wordsOf(a *Analyzer, text string) (words []string, at []int) {
	a.each(text, "en", func(row []known) {
		for i, w := range row {
			words, at = append(words, (*a.row.entries[i]).surface), append(at, int(w.at))
		}
	})
	return words, at
}

// segments are those that segment finds, which knows no plain words.
func segments(a *Analyzer, text string) (words []string, at []int) {
	a.segment(text, func(token []byte) { words, at = append(words, string(token)), append(at, a.at) })
	return words, at
}

// all keeps every word.
func all() *Analyzer {
	return NewAnalyzer(AnalyzerOptions{NoStem: true, KeepStop: true, MinLength: 1, MaxLength: 1 << 20, Numbers: NumbersKeep})
}

func comparePlain(t *testing.T, text string) {
	t.Helper()
	words, at := wordsOf(all(), text)
	want, wantAt := segments(all(), text)
	if !slices.Equal(words, want) || !slices.Equal(at, wantAt) {
		t.Fatalf("%q:\n got %q at %v\nwant %q at %v", text, words, at, want, wantAt)
	}
}

// TestPlainWords holds words found eight bytes at a time to those of segment.
func TestPlainWords(t *testing.T) {
	pad := strings.Repeat(" end of the text", 2)
	for _, text := range []string{
		"", "a", "Word", "The quick, brown (fox) jumps over: it's 3.14 or 1,000; 1998! \"So\" he said.",
		"C++ and c# or vb.net, .NET. node.js F# g++ c+ c. next", "don't 'tis rock'n'roll o'clock' 5' a' ' b",
		"abcdefg abcdefgh abcdefghi abcdefghijklmno abcdefghijklmnop abcdefghijklmnopq", "ABCDEFGH, IJKLMNOPQRSTUVW. XYZ[ @`{ /0:9",
		"naïve café, Ünï 日本 word\u00a0word word\u2014 word\u2019s w\u0301", "tab\tnew\nline\vfeed\fend\rx", "well-known (so-called) \"quoted\" [1] and/or x=y; a:b (.net) x-.net .net-x visual-c++, c#-like 1998-99 5:30 $1,000 x-é é-x \"é (\u0301a) a-\u0301b א\"א a\"א",
		"snake_case _x_ 'x' x-'y' -,5 x--y -- - ((x)) {x} <x> a&b mail@vb.net.org asp.net/x x/asp.net 100% x|y", "a\x00b c\x80 \xff d\x7f e",
	} {
		comparePlain(t, text)
		comparePlain(t, text+pad)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	letters := []rune("aZm09 \t.,'+#-(é日\x00@[`{zA_\"/:;\u0301\u2014א")
	for range fulltest.Rounds(4000, 20_000) {
		var text strings.Builder
		for range rng.IntN(60) {
			if rng.IntN(3) > 0 {
				text.WriteByte('a' + byte(rng.IntN(26)))
			} else {
				text.WriteRune(letters[rng.IntN(len(letters))])
			}
		}
		comparePlain(t, text.String())
	}
}

func FuzzPlainWords(f *testing.F) {
	f.Add("The quick, brown fox's C++ 3.14 naïve")
	f.Fuzz(func(t *testing.T, text string) { comparePlain(t, text) })
}
