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

// wordTable finds what is known of a word. It does what a map does with a
// fraction of the work, for most of a page's time was spent in the map. A word
// is known by its hash alone, which is made for words of a few letters. Nothing
// is ever deleted. Slots are tried one after the other, and at most half of
// them are in use.
//
// It has two generations. When the young one has half of all words that may be
// kept, it becomes the old one. Its words move to the new young one when they
// are met. So the words of every page stay, and rare ones go.
type wordTable struct {
	young, old wordHalf
	n          int    // words in young
	seed       uint64 // by chance, so that no page can be made of words with one hash
}

// wordHalf is a generation. Its slots are small, so that the processor's caches
// hold many: waiting for memory takes longer than all else of a word. What few
// words of a page are asked for stands beside them. It is never used again for
// other words, so that a known's entry stays what it was.
type wordHalf struct {
	slots   []wordSlot // a power of two long
	entries []*entry   // of the slot with the same number
}

// wordSlot has all that most words of a page are asked for, in a quarter of a cache
// line. Two words have the same hash once in 2^63 pairs.
type wordSlot struct {
	hash uint64 // 0 of an empty slot
	body int32  // as in entry
	also uint32 // as in entry
}

// known is a word that was found: what it is counted by.
type known struct {
	body int32  // as in entry
	also uint32 // as in entry
	at   int32  // where in the text the piece begins that it is in
}

func newWordTable(seed uint64) *wordTable {
	return &wordTable{young: newWordHalf(1024), old: newWordHalf(1), seed: seed}
}

func newSeed() uint64 { return maphash.String(maphash.MakeSeed(), "") }

func newWordHalf(slots int) wordHalf {
	return wordHalf{make([]wordSlot, slots), make([]*entry, slots)}
}

// at returns the number of the slot that a word has, or would have.
func (h *wordHalf) at(hash uint64) int {
	mask := len(h.slots) - 1
	for i := int(hash) & mask; ; i = (i + 1) & mask {
		if at := h.slots[i].hash; at == hash || at == 0 {
			return i
		}
	}
}

// known returns a slot's word. To take its entry's address waits for nothing.
func (h *wordHalf) known(i int) (known, **entry) {
	return known{body: h.slots[i].body, also: h.slots[i].also}, &h.entries[i]
}

// find returns what is known of a word, and where its entry is, nil when nothing is.
func (t *wordTable) find(hash uint64) (known, **entry) {
	i := t.young.at(hash)
	if t.young.slots[i].hash == hash {
		return t.young.known(i)
	}
	if i = t.old.at(hash); t.old.slots[i].hash == hash {
		return t.add(hash, t.old.entries[i])
	}
	return known{}, nil
}

// add adds a word that is not in young.
func (t *wordTable) add(hash uint64, e *entry) (known, **entry) {
	if t.n >= cacheWords/2 {
		t.old, t.young, t.n = t.young, newWordHalf(len(t.young.slots)), 0
	}
	if t.n++; 2*t.n > len(t.young.slots) {
		small := t.young
		t.young = newWordHalf(2 * len(small.slots))
		for i, s := range small.slots {
			if s.hash != 0 {
				t.young.put(s, small.entries[i])
			}
		}
	}
	return t.young.known(t.young.put(wordSlot{hash, e.body, e.also}, e))
}

func (h *wordHalf) put(s wordSlot, e *entry) (at int) {
	at = h.at(s.hash)
	h.slots[at], h.entries[at] = s, e
	return at
}

// wholeWord is the longest word whose hash is made in one step.
const wholeWord = 16

// hashWord is never 0. A word is read as two numbers of its first 16 bytes,
// filled up with zeros. plainAt makes them without looking at each byte; of a
// longer word the rest comes first, in steps of 8.
func hashWord(seed uint64, word []byte) uint64 {
	h, n := seed, len(word)
	for ; len(word) > wholeWord; word = word[8:] {
		h = fold(h^binary.LittleEndian.Uint64(word), 0xA0761D6478BD642F)
	}
	var first, last uint64
	if len(word) > 8 {
		first, last = binary.LittleEndian.Uint64(word), filled(word[8:])
	} else {
		first = filled(word)
	}
	return hashOf(h, first, last, n)
}

// hashOf folds the product of two numbers, as wyhash does. The length is in it, for a
// word may hold a zero.
func hashOf(seed, first, last uint64, length int) uint64 {
	return fold(first^seed, last^bits.RotateLeft64(seed, 32)^uint64(length)*0x9E3779B97F4A7C15) | 1<<63
}

// filled returns up to 8 bytes as a number, zeros behind them.
func filled(b []byte) uint64 {
	switch n := len(b); {
	case n == 8:
		return binary.LittleEndian.Uint64(b)
	case n >= 4: // in two pieces that may overlap
		return uint64(binary.LittleEndian.Uint32(b)) | uint64(binary.LittleEndian.Uint32(b[n-4:]))<<(8*n-32)
	case n > 0:
		return uint64(b[0]) | uint64(b[n/2])<<(n/2*8) | uint64(b[n-1])<<(8*n-8)
	}
	return 0
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
