package printable

import (
	"strings"
	"unicode"
)

// Harmless says whether a character of a stranger's may be shown as it is. Not so are
// controls (C0, DEL, C1) and ends of lines and paragraphs (U+2028, U+2029). Nor are
// characters of format, which are not seen: they turn the direction of writing, or
// hide.
//
// Some of the latter belong to running text: the soft hyphen, the joiners of Persian,
// Indic scripts and emoji, the signs before Arabic numbers.
func Harmless(r rune) bool {
	switch {
	case r >= ' ' && r < 0x7f:
		return true
	case r < 0xa0: // C0, DEL, C1
		return false
	case r == 0xad || r == 0x200c || r == 0x200d:
		return true
	}
	return !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// Line returns s with a blank for each character that is not harmless, ends of lines
// and tabs included. A byte that is no UTF-8 becomes U+FFFD.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if Harmless(r) {
			return r
		}
		return ' '
	}, s)
}

// Cut is Line of at most n characters, n > 0; the last is … where some are missing.
func Cut(s string, n int) string {
	seen := 0
	for at := range s {
		if seen++; seen > n {
			kept := []rune(Line(s[:at]))
			return string(kept[:n-1]) + "…"
		}
	}
	return Line(s)
}
