package page

import (
	"bytes"
	"encoding/binary"
	"html"
	"unicode/utf8"
)

// folder collects text with its white space folded: one space between words,
// one line end between blocks, none at the ends.
type folder struct {
	out   []byte
	limit int // bytes, after which out no longer grows
	space bool
	block bool

	breaks int // how often breakBlock was called
}

// Classes of a byte in running text.
const (
	foldPlain = iota
	foldSpace
	foldDrop // control characters
	foldLead // first byte of characters of which some are space or invisible
)

var foldClass = func() (class [256]byte) {
	for c := range 0x20 {
		class[c] = foldDrop
	}
	class[0x7f] = foldDrop
	for _, c := range " \t\n\r\f\v" {
		class[c] = foldSpace
	}
	class[0xC2], class[0xE2], class[0xE3], class[0xEF] = foldLead, foldLead, foldLead, foldLead
	return class
}()

// breakBlock ends the line, if it has begun.
func (f *folder) breakBlock() {
	f.block = true
	f.breaks++
}

// write adds s, which is valid UTF-8 and has no entities left.
func (f *folder) write(s []byte) {
	out := f.out
	for i := 0; i < len(s) && len(out) < f.limit; {
		// A run of characters, with the single spaces in it.
		from := i
		for i < len(s) {
			if n := plainRun(s[i:], i > from); n > 0 {
				i += n
			} else if foldClass[s[i]] == foldPlain ||
				s[i] == ' ' && i > from && i+1 < len(s) && foldClass[s[i+1]] == foldPlain {
				i++
			} else {
				break
			}
		}
		if i > from {
			out = f.add(out, s[from:i])
			continue
		}
		switch foldClass[s[i]] {
		case foldSpace:
			f.space = true
			i++
		case foldDrop:
			i++
		default:
			r, size := utf8.DecodeRune(s[i:])
			switch foldRune(r) {
			case foldPlain:
				out = f.add(out, s[i:i+size])
			case foldSpace:
				f.space = true
			}
			i += size
		}
	}
	f.out = out
}

// plainRun returns 8 or 7 if so many bytes of s are printable ASCII with single
// spaces between them. The first and the last are no spaces, unless inside:
// then s goes on from such a run. Else, or if it is not sure, 0. It looks at
// eight bytes at once.
func plainRun(s []byte, inside bool) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	if len(s) < 8 {
		return 0
	}
	x := binary.LittleEndian.Uint64(s)
	spaces := x ^ ' '*ones
	spaces = (spaces - ones) &^ spaces & highs // right up to the first, and what follows that may be '!'
	switch {
	case (x|(x+ones)|(x-' '*ones)&^x)&highs != 0: // beyond ASCII, delete, control characters
		return 0
	case spaces&(spaces<<8) != 0, spaces&0x80 != 0 && !inside:
		return 0
	case spaces>>63 != 0:
		return 7
	}
	return 8
}

// add appends characters that begin with no white space, behind the white space that is due.
func (f *folder) add(out, s []byte) []byte {
	if len(out) > 0 {
		if f.block {
			out = append(out, '\n')
		} else if f.space {
			out = append(out, ' ')
		}
	}
	f.space, f.block = false, false
	return append(out, cut(s, f.limit-len(out))...)
}

// foldRune gives the class of a character that begins with one of the lead bytes.
func foldRune(r rune) int {
	switch {
	case r == 0xA0, r == 0x85, r >= 0x2000 && r <= 0x200A, r == 0x2028, r == 0x2029, r == 0x202F, r == 0x205F, r == 0x3000:
		return foldSpace
	case r >= 0x80 && r < 0xA0, r == 0xAD, r == 0x200B, r == 0x200E, r == 0x200F, r == 0x2060, r == 0xFEFF:
		return foldDrop // the soft hyphen and its like stand inside words
	}
	return foldPlain
}

// cut returns s, or as many of its whole characters as n bytes hold.
func cut[T string | []byte](s T, n int) T {
	if len(s) <= n {
		return s
	}
	for n = max(n, 0); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n]
}

// decodeText returns s with its entities decoded.
func decodeText(s []byte) []byte {
	if bytes.IndexByte(s, '&') < 0 {
		return s
	}
	return []byte(html.UnescapeString(string(s)))
}
