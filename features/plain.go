package features

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// Most words of most pages are plain: ASCII letters and digits between white space, at
// most with one mark behind. They are found eight bytes at a time and looked up
// without being written down, so that only the memory is waited for.

// plainWord is a plain word as the two numbers that its hash is made of, in lower case.
type plainWord struct {
	first, last uint64
	length      int // 0: the piece that begins here is not plain
	end         int // of the word and the mark and space behind it
}

// plainAt reads the word that begins at text[i], where a piece begins. The piece is
// plain when segment would find this one word in it: no name with marks in it (see
// compounds) begins with a plain word and ends with a mark, but for + and #.
func plainAt(text string, i int) (w plainWord) {
	if len(text)-i < wholeWord+2 {
		return w
	}
	b := text[i : i+wholeWord+2]
	first := load8(b)
	marks := notWord(first)
	if w.length = bits.TrailingZeros64(marks) / 8; w.length < 8 {
		w.first = (first | 0x2020202020202020) & (1<<(8*w.length) - 1)
	} else {
		last := load8(b[8:])
		marks = notWord(last)
		n := bits.TrailingZeros64(marks) / 8
		if n == 8 {
			return plainWord{}
		}
		w.first, w.last = first|0x2020202020202020, (last|0x2020202020202020)&(1<<(8*n)-1)
		w.length += n
	}
	if w.length == 0 {
		return w
	}
	switch mark := b[w.length]; {
	case class[mark] == space:
		w.end = i + w.length + 1
	case mark != '+' && mark != '#' && mark < utf8.RuneSelf && class[b[w.length+1]] == space:
		w.end = i + w.length + 2
	default:
		return plainWord{}
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
