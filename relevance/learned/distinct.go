package learned

import (
	"hash/maphash"
	"math/bits"
)

// distinct picks the words of a page that come for the first time, a fifth of the work
// of sorting them. It serves one goroutine.
type distinct struct {
	slots []uint64 // a word, and above it the turn in which it was met; a power of two
	turn  uint32
	seed  uint64 // by chance, so that no page can be made of words for one slot
}

func newDistinct() distinct {
	return distinct{slots: make([]uint64, 1024), seed: maphash.String(maphash.MakeSeed(), "")}
}

// of returns words, each once, in the order of their first occurrence and in their
// place.
func (d *distinct) of(words []token) []token {
	if need := 2 * len(words); need > len(d.slots) {
		d.slots = make([]uint64, 1<<bits.Len(uint(need)))
		d.turn = 0
	}
	if d.turn++; d.turn == 0 {
		clear(d.slots)
		d.turn = 1
	}
	kept := words[:0]
	for _, w := range words {
		if d.add(w) {
			kept = append(kept, w)
		}
	}
	return kept
}

// add says whether a word is new in this turn.
func (d *distinct) add(w token) bool {
	mark := uint64(d.turn)<<32 | uint64(w)
	hi, lo := bits.Mul64(uint64(w)^d.seed, 0xA0761D6478BD642F)
	for i := int(hi^lo) & (len(d.slots) - 1); ; i = (i + 1) & (len(d.slots) - 1) {
		switch s := d.slots[i]; {
		case s == mark:
			return false
		case uint32(s>>32) != d.turn:
			d.slots[i] = mark
			return true
		}
	}
}
