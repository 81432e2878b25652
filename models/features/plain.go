package features

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Most words of most pages are plain: ASCII letters and digits between white space or
// marks that only part words. They are found eight bytes at a time and looked up
// without being written down, so that only the memory is waited for.

// plainWord is a plain word as the two numbers that its hash is made of, in lower case.
type plainWord struct {
	first, last uint64
	length      int // 0: only a mark
	end         int // of the word and what is behind it; 0: segment has to look at the piece
}

// parts has the marks that part words and do nothing else. No name has them
// (see compounds), and they join neither letters nor digits. So segment makes
// the same of the rest of a piece without what is before them.
var parts = func() (t [256]bool) {
	for _, c := range []byte(`!"$%&()*-/:;<=>?@[\]^{|}~` + "`") {
		t[c] = true
	}
	return t
}()

// plainAt reads the word that begins at text[i], which is no white space. The word is
// plain when segment would find this one: no name with marks in it begins with a
// plain word and ends with a mark, but for + and #. Behind a mark that parts words the
// piece goes on at end.
func plainAt(text string, i int) (w plainWord) {
	if len(text)-i < wholeWord+2 {
		return w
	}
	b := text[i : i+wholeWord+2]
	first, last := load8(b), load8(b[8:])
	n := uint(bits.TrailingZeros64(notWord(first))) / 8 // 8 if all are letters or digits
	m := uint(bits.TrailingZeros64(notWord(last))) / 8 * (n / 8)
	w.first = (first | 0x2020202020202020) & (1<<(8*n) - 1)
	w.last = (last | 0x2020202020202020) & (1<<(8*m) - 1)
	w.length = int(n + m)
	mark, next := b[w.length], b[w.length+1]
	switch {
	case class[mark] == space:
		w.end = i + w.length + 1
	case parts[mark] && next < utf8.RuneSelf:
		w.end = i + w.length + 1
	case class[mark] == other && mark != '+' && mark != '#' && mark < utf8.RuneSelf && class[next] == space:
		w.end = i + w.length + 2
	}
	return w
}

func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// notWord has the highest bit of each of eight bytes that is no ASCII letter or digit,
// and no other. To seven bits of a byte is added what brings those from a bound on
// over 128; no byte's sum reaches the next.
func notWord(eight uint64) uint64 {
	const each = 0x0101010101010101
	low := eight & (0x7F * each)
	lower := low | 0x20*each
	letters := (lower + (0x80-'a')*each) &^ (lower + (0x80-'z'-1)*each)
	digits := (low + (0x80-'0')*each) &^ (low + (0x80-'9'-1)*each)
	return ^((letters | digits) &^ eight) & (0x80 * each)
}

// bytes writes the word down.
func (w *plainWord) bytes(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst[:0], w.first)
	return binary.LittleEndian.AppendUint64(dst, w.last)[:w.length]
}
