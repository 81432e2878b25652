package page

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestFunctionWords holds the count of function words to one by maps.
func TestFunctionWords(t *testing.T) {
	list := map[string][]int{} // languages of a word
	var words []string
	for i, l := range functionWordLists {
		for w := range strings.FieldsSeq(l) {
			if len(w) > maxFunctionWord {
				t.Errorf("%q is longer than %d bytes, so it is never found", w, maxFunctionWord)
			}
			if list[w] == nil {
				words = append(words, w)
			}
			if !slices.Contains(list[w], i) {
				list[w] = append(list[w], i)
			}
		}
	}
	number := map[string]int{}
	for i, w := range words {
		number[w] = i % 64
	}
	rng := rand.New(rand.NewPCG(5, 6))
	marks := []string{" ", "\n", ", ", "1", "-", " (", "'", "@", "[", "`", "{", "\x00", "\x7f", "é", "–", "\xff", ""}
	for range 2000 {
		var b strings.Builder
		for range rng.IntN(500) {
			w := words[rng.IntN(len(words))]
			switch rng.IntN(6) {
			case 0:
				w = strings.ToUpper(w[:1]) + w[1:]
			case 1:
				w = w[:rng.IntN(len(w))] + "xyz"[:rng.IntN(4)]
			}
			b.WriteString(w)
			b.WriteString(marks[rng.IntN(len(marks))*rng.IntN(2)])
		}
		text := b.String()
		var want wordVotes
		for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < 0x80 && !isLetter(byte(r)) }) {
			if want.words == maxVoters {
				break
			}
			want.words++
			w = string(appendLower(nil, []byte(w)))
			if len(w) == 1 {
				continue
			}
			for _, i := range list[w] {
				want.count[i]++
				want.seen[i] |= 1 << number[w]
			}
		}
		if got := countFunctionWords(text); got != want {
			t.Fatalf("%q: %+v, want %+v", text, got, want)
		}
	}
}
