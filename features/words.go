package features

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// cacheWords bounds the words that an Analyzer remembers a language; half of the
// room is for those met last. Real text has more (20 Newsgroups 150,000 distinct
// words, 4,600 articles of an encyclopedia 250,000), most of which occur once.
const cacheWords = 1 << 16

// wordTable finds what is known of a word. It does what a map does with a fraction
// of the work, as the word need not be copied, the hash is made for words of a few
// letters, and nothing is ever deleted; most of a page's time was spent in the map.
// Slots are tried one after the other, and at most half of them are in use.
//
// It has two generations: when the young one has half of all words that may be
// kept, it becomes the old one, whose words move to the new young one when they
// are met. So the words of every page stay, and rare ones go.
type wordTable struct {
	young, old []wordSlot // each a power of two long
	n          int        // words in young
	seed       uint64     // by chance, so that no page can be made of words with one hash
}

// wordSlot has all that most words of a page are asked for, in half a cache line:
// waiting for the memory where the rest stands took as long as all else.
type wordSlot struct {
	// A word of up to 16 bytes as two pieces that may overlap, its first bytes and
	// its last; of a longer word the pieces do not tell all. The length is mixed into
	// the last by the seed, so that two words of different length have the same
	// pieces once in 2^64 pairs.
	first, last uint64
	body        int32  // as in entry
	also        uint32 // as in entry
	entry       *entry // nil of an empty slot
}

// wholeWord is the longest word that its pieces tell from all others.
const wholeWord = 16

// wordKey is what a word is found by.
type wordKey struct {
	first, last uint64 // as in wordSlot
	hash        uint32
}

func newWordTable() *wordTable {
	return &wordTable{
		young: make([]wordSlot, 1024), old: make([]wordSlot, 1),
		seed: maphash.String(maphash.MakeSeed(), "") | 1,
	}
}

// find returns the slot of a word, nil when it is not known; the slot is valid until
// the next call.
func (t *wordTable) find(word []byte, key *wordKey) *wordSlot {
	if s := lookup(t.young, word, key); s != nil {
		return s
	}
	s := lookup(t.old, word, key)
	if s != nil {
		s = t.add(s.entry)
	}
	return s
}

func lookup(slots []wordSlot, word []byte, key *wordKey) *wordSlot {
	for i := int(key.hash) & (len(slots) - 1); ; i = (i + 1) & (len(slots) - 1) {
		s := &slots[i]
		if s.first == key.first && s.last == key.last && s.entry != nil &&
			(len(word) <= wholeWord || s.entry.surface == string(word)) {
			return s
		}
		if s.entry == nil {
			return nil
		}
	}
}

// add adds an entry that is not in young, and returns its slot.
func (t *wordTable) add(e *entry) *wordSlot {
	if t.n >= cacheWords/2 {
		if len(t.old) != len(t.young) {
			t.old = make([]wordSlot, len(t.young))
		}
		clear(t.old)
		t.old, t.young, t.n = t.young, t.old, 0
	}
	if t.n++; 2*t.n > len(t.young) {
		grown := make([]wordSlot, 2*len(t.young))
		for i := range t.young {
			if e := t.young[i].entry; e != nil {
				put(grown, e)
			}
		}
		t.young = grown
	}
	return put(t.young, e)
}

func put(slots []wordSlot, e *entry) *wordSlot {
	i := int(e.key.hash) & (len(slots) - 1)
	for slots[i].entry != nil {
		i = (i + 1) & (len(slots) - 1)
	}
	slots[i] = wordSlot{e.key.first, e.key.last, e.body, e.also, e}
	return &slots[i]
}

// key reads a word in two overlapping pieces, and one of more than 16 bytes in
// steps of 8 before, and folds the product of the two (as wyhash does).
func (t *wordTable) key(word []byte) wordKey {
	n := len(word)
	h, b := t.seed^uint64(n)*0x9E3779B97F4A7C15, word
	var k wordKey
	switch {
	case n >= 8:
		for ; len(b) > wholeWord; b = b[8:] {
			h = fold(h^binary.LittleEndian.Uint64(b), 0xA0761D6478BD642F)
		}
		k.first, k.last = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(word[n-8:])
	case n >= 4:
		k.first, k.last = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(word[n-4:]))
	case n > 0:
		k.first = uint64(b[0]) | uint64(b[n/2])<<8 | uint64(b[n-1])<<16
	}
	k.hash = uint32(fold(k.first^h, k.last^0xE7037ED1A0B428DB))
	k.last ^= t.seed * uint64(n)
	return k
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
