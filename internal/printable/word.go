package printable

import (
	"strings"
	"unicode"
)

// Harmless reports whether a character from a stranger may be printed. Excluded are control
// characters (C0, DEL, C1), line and paragraph separators (U+2028, U+2029), and format characters,
// which hide or reverse text.
//
// Some format characters belong to running text and are allowed: the soft hyphen, the joiners of
// Persian, Indic scripts and emoji, the signs before Arabic numbers.
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

// Line returns s with a blank for each character that is not harmless, line ends and tabs included.
// Bytes that are not UTF-8 become U+FFFD.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if Harmless(r) {
			return r
		}
		return ' '
	}, s)
}

// Cut is Line truncated to n characters, n > 0, with … at the end if truncated.
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
