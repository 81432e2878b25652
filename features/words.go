package features

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// wordTable finds what is known of a word. It does what a map does with half the
// work, as the word need not be copied, the hash is made for words of a few
// letters, and nothing is ever deleted; most of a page's time was spent in the map.
// Slots are tried one after the other, and at most half of them are in use.
type wordTable struct {
	slots []wordSlot // a power of two; empty where entry is nil
	n     int
	seed  uint64 // by chance, so that no page can be made of words with one hash
}

type wordSlot struct {
	hash  uint32
	entry *entry
}

func newWordTable() *wordTable {
	return &wordTable{slots: make([]wordSlot, 1024), seed: maphash.String(maphash.MakeSeed(), "")}
}

// find returns what is known of a word, nil when nothing is, and its hash.
func (t *wordTable) find(word []byte) (*entry, uint32) {
	h := t.hash(word)
	for i := int(h) & (len(t.slots) - 1); ; i = (i + 1) & (len(t.slots) - 1) {
		s := &t.slots[i]
		if s.entry == nil || s.hash == h && s.entry.surface == string(word) {
			return s.entry, h
		}
	}
}

// add adds a word that find did not find, with its hash.
func (t *wordTable) add(e *entry, h uint32) {
	if t.n++; 2*t.n > len(t.slots) {
		old := t.slots
		t.slots = make([]wordSlot, 2*len(old))
		for _, s := range old {
			if s.entry != nil {
				t.put(s)
			}
		}
	}
	t.put(wordSlot{h, e})
}

func (t *wordTable) put(s wordSlot) {
	i := int(s.hash) & (len(t.slots) - 1)
	for t.slots[i].entry != nil {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = s
}

// clear forgets all words.
func (t *wordTable) clear() {
	clear(t.slots)
	t.n = 0
}

// hash reads a word in two overlapping pieces, and one of more than 16 bytes in
// steps of 8 before, and folds the product of the two (as wyhash does).
func (t *wordTable) hash(word []byte) uint32 {
	n := len(word)
	h, b := t.seed^uint64(n)*0x9E3779B97F4A7C15, word
	var x, y uint64
	switch {
	case n >= 8:
		for ; len(b) > 16; b = b[8:] {
			h = fold(h^binary.LittleEndian.Uint64(b), 0xA0761D6478BD642F)
		}
		x, y = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(word[n-8:])
	case n >= 4:
		x, y = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(word[n-4:]))
	case n > 0:
		x = uint64(b[0]) | uint64(b[n/2])<<8 | uint64(b[n-1])<<16
	}
	return uint32(fold(x^h, y^0xE7037ED1A0B428DB))
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
