package learned

import (
	"hash/maphash"
	"math/bits"
)

// wordTable finds what the crawl so far says of a word. It does what a map
// does in a third of the memory. Like recent it keeps what was used last: when
// the young half is full it becomes the old one, whose words move when they are
// used, or are given up.
//
// Slots are tried one after the other, and at most half of them are in use.
type wordTable struct {
	young, old []word // each a power of two long
	n          int    // words in young
	limit      int    // of each half
	seed       uint64 // by chance, so that no page can be made of words for one slot
}

// word is what is known of a word. A pointer to one is valid until the table's next use.
type word struct {
	token token   // 0 of an empty slot
	share float32 // of pages at large, as Background has it; 0 is not asked for yet
	page  record  // the pages that the word was on
	link  record  // the pages that links with the word led to
}

// onTopic is the word's own part of how much more often it stands on pages on topic than
// at large, see Background.
func (w *word) onTopic(b *base) float64 {
	switch {
	case b.background == nil || w.page.onTopic == 0: // whatever its share
		return doubt
	case w.share == 0:
		w.share = b.background.of(w.token)
	}
	return onTopic(w.page.onTopic, w.share)
}

func newWordTable(limit int) wordTable {
	return wordTable{
		young: make([]word, 1024), old: make([]word, 1), limit: limit,
		seed: maphash.String(maphash.MakeSeed(), ""),
	}
}

// find returns a word, one without pages when it is not known. It does not count as its
// use.
func (t *wordTable) find(w token) *word {
	if found := &t.young[t.slot(t.young, w)]; found.token != 0 {
		return found
	}
	return &t.old[t.slot(t.old, w)]
}

// use returns a word, of which nothing is known yet if it is new, to which the caller
// then adds a page.
func (t *wordTable) use(w token) *word {
	i := t.slot(t.young, w)
	if t.young[i].token == 0 {
		i = t.enter(w, i)
	}
	return &t.young[i]
}

// enter makes room for a word that is not in the young half, where its slot would be i,
// and returns its slot there.
func (t *wordTable) enter(w token, i int) int {
	known := t.old[t.slot(t.old, w)] // the copy that stays behind is never found again
	known.token = max(w, 1)
	if t.n >= t.limit {
		if len(t.old) != len(t.young) {
			t.old = make([]word, len(t.young))
		}
		clear(t.old)
		t.old, t.young, t.n = t.young, t.old, 0
		i = t.slot(t.young, w)
	}
	if t.n++; 2*t.n > len(t.young) {
		t.grow()
		i = t.slot(t.young, w)
	}
	t.young[i] = known
	return i
}

// grow makes room for four times as many words, and moves fewer in all than by twos.
func (t *wordTable) grow() {
	small := t.young
	t.young = make([]word, 4*len(small))
	for _, w := range small {
		if w.token != 0 {
			t.young[t.slot(t.young, w.token)] = w
		}
	}
}

// slot returns the number of the slot where a word is, or would be. No word is 0: what
// should be is taken for 1.
func (t *wordTable) slot(slots []word, w token) int {
	w = max(w, 1)
	hi, lo := bits.Mul64(uint64(w)^t.seed, 0xA0761D6478BD642F)
	for i := int(hi ^ lo); ; i++ {
		i &= len(slots) - 1
		if s := slots[i].token; s == w || s == 0 {
			return i
		}
	}
}
