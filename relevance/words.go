package relevance

import (
	"hash/maphash"
	"math/bits"
)

// wordTable finds what the crawl so far says of a word. It does what a map does, and
// hands out a place where what was worked out for a word can be kept until the next
// page; a queue that is rescored asks for each word hundreds of times. Like recent it
// keeps what was used last: when the young half is full it becomes the old one, whose
// words move when they are used, or are given up.
//
// Slots are tried one after the other, and at most half of them are in use.
type wordTable struct {
	young, old []word // each a power of two long
	n          int    // words in young
	limit      int    // of each half
	seed       uint64 // by chance, so that no page can be made of words for one slot
}

// word is what is known of a word: 48 bytes.
type word struct {
	token              token
	at                 moment // of the lifts
	page, link         record // the pages it was on, and those that links with it led to
	pageLift, linkLift float64
	over               float64 // see Background
}

// empty says that a slot has no word: one that is known was on a page or in a link.
func (w *word) empty() bool { return w.page.pages+w.link.pages == 0 }

func newWordTable(limit int) wordTable {
	return wordTable{
		young: make([]word, 1024), old: make([]word, 1), limit: limit,
		seed: maphash.String(maphash.MakeSeed(), ""),
	}
}

// find returns a word; nil when it is not known. It does not count as its use.
func (t *wordTable) find(w token) *word {
	if s := t.slot(t.young, w); !s.empty() {
		return s
	}
	if s := t.slot(t.old, w); !s.empty() {
		return s
	}
	return nil
}

// use returns a word, an empty one if it is new, to which the caller then adds a
// page. It is valid until the next call.
func (t *wordTable) use(w token) *word {
	s := t.slot(t.young, w)
	if !s.empty() {
		return s
	}
	fresh := word{token: w}
	if o := t.slot(t.old, w); !o.empty() {
		fresh = *o // the copy that stays behind is never found again
	}
	if t.n >= t.limit {
		if len(t.old) != len(t.young) {
			t.old = make([]word, len(t.young))
		}
		clear(t.old)
		t.old, t.young, t.n = t.young, t.old, 0
		s = t.slot(t.young, w)
	}
	if t.n++; 2*t.n > len(t.young) {
		t.grow()
		s = t.slot(t.young, w)
	}
	*s = fresh
	return s
}

func (t *wordTable) grow() {
	small := t.young
	t.young = make([]word, 2*len(small))
	for i := range small {
		if !small[i].empty() {
			*t.slot(t.young, small[i].token) = small[i]
		}
	}
}

// slot returns where a word is, or would be.
func (t *wordTable) slot(words []word, w token) *word {
	hi, lo := bits.Mul64(uint64(w)^t.seed, 0xA0761D6478BD642F)
	for i := int(hi^lo) & (len(words) - 1); ; i = (i + 1) & (len(words) - 1) {
		if s := &words[i]; s.token == w || s.empty() {
			return s
		}
	}
}
