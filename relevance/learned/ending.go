package learned

import (
	"unicode"
	"unicode/utf8"

	"fossick/models/features"
)

// Names of a kind end alike: Hinduism and Buddhism, Stegosaurus and Allosaurus,
// biology and zoology, Westbank and Citibank. A word that no link has had yet has an
// ending that many have had, and stems are cut where it begins.

const (
	// shortestEnded is how many letters a word has whose ending counts.
	shortestEnded = 5
	// maxEndings bounds the endings of a target: those of two words.
	maxEndings = 4
)

// endings appends to dst, up to its capacity, tokens for the last three and the
// last four letters of words of a link's text. Words have five letters at
// least; each token comes once. They stand in the table of words, and in no
// word's place but by chance, as two words may.
func endings(dst []token, text string) []token {
	text = features.Head(text, maxAnchor)
	var last [4]rune // of the word, the latest in place (letters-1) % 4
	letters := 0
	for at := 0; at <= len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		at += max(1, size)
		if unicode.IsLetter(r) {
			last[letters%4] = unicode.ToLower(r)
			letters++
			continue
		}
		if letters >= shortestEnded {
			dst = appendEnding(dst, &last, letters, 3)
			dst = appendEnding(dst, &last, letters, 4)
		}
		letters = 0
	}
	return dst
}

// appendEnding appends the token of the last n letters, by FNV-1a: the same in every
// run, and nothing is allocated for it.
func appendEnding(dst []token, last *[4]rune, letters, n int) []token {
	if len(dst) == cap(dst) {
		return dst
	}
	h := uint32(2166136261)
	for i := letters - n; i < letters; i++ {
		h = (h ^ uint32(last[i%4])) * 16777619
	}
	h = (h ^ uint32(n)) * 16777619
	for _, known := range dst {
		if known == h {
			return dst
		}
	}
	return append(dst, h)
}
