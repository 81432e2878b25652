package learned

import (
	"hash/maphash"
	"math/bits"
)

// wordTable finds what the crawl so far says of a word. It does what a map
// does, and hands out a place where what was worked out for a word can be kept
// until the next page. A queue that is rescored asks for each word hundreds of
// times. Like recent it keeps what was used last: when the young half is full
// it becomes the old one, whose words move when they are used, or are given up.
//
// Slots are tried one after the other, and at most half of them are in use.
type wordTable struct {
	young, old wordHalf
	n          int    // words in young
	limit      int    // of each half
	seed       uint64 // by chance, so that no page can be made of words for one slot
	fetched    token  // so that fetching is not left out
}

// wordHalf is a generation, each part a power of two long. A page asks for the
// slots of its words and for nothing else, and waits for memory longer than for
// all that is done with them. So they are small, and what only links ask for
// stands beside them.
type wordHalf struct {
	slots  []wordSlot
	beside []wordBeside // of the slot with the same number
}

// wordSlot is a quarter of a cache line.
type wordSlot struct {
	token token   // 0 of an empty slot
	page  record  // the pages that the word was on
	share float32 // of pages at large, as Background has it; 0 is not asked for yet
}

// wordBeside is the rest of what is known of a word, 24 bytes.
type wordBeside struct {
	link               record // the pages that links with the word led to
	at                 moment // of the rest
	pageLift, linkLift float32
	over               float32 // see Background
}

// word is what is known of a word. It is valid until the table's next use.
type word struct {
	*wordSlot
	*wordBeside
}

func newWordTable(limit int) wordTable {
	return wordTable{
		young: newWordHalf(1024), old: newWordHalf(1), limit: limit,
		seed: maphash.String(maphash.MakeSeed(), ""),
	}
}

func newWordHalf(slots int) wordHalf {
	return wordHalf{make([]wordSlot, slots), make([]wordBeside, slots)}
}

func (h *wordHalf) clear() {
	clear(h.slots)
	clear(h.beside)
}

func (h *wordHalf) word(i int) word { return word{&h.slots[i], &h.beside[i]} }

// find returns a word; false when it is not known. It does not count as its use.
func (t *wordTable) find(w token) (word, bool) {
	if i := t.slot(t.young.slots, w); t.young.slots[i].token != 0 {
		return t.young.word(i), true
	}
	if i := t.slot(t.old.slots, w); t.old.slots[i].token != 0 {
		return t.old.word(i), true
	}
	return word{}, false
}

// use returns a word, of which nothing is known yet if it is new, to which the caller
// then adds a page.
func (t *wordTable) use(w token) word {
	i := t.slot(t.young.slots, w)
	if t.young.slots[i].token == 0 {
		i = t.enter(w, i)
	}
	return t.young.word(i)
}

// enter makes room for a word that is not in the young half, where its slot would be i,
// and returns its slot there.
func (t *wordTable) enter(w token, i int) int {
	slot, beside, moved := wordSlot{token: max(w, 1)}, wordBeside{}, false
	if o := t.slot(t.old.slots, w); t.old.slots[o].token != 0 {
		slot, beside, moved = t.old.slots[o], t.old.beside[o], true // the copy that stays behind is never found again
	}
	if t.n >= t.limit {
		if len(t.old.slots) != len(t.young.slots) {
			t.old = newWordHalf(len(t.young.slots))
		}
		t.old.clear()
		t.old, t.young, t.n = t.young, t.old, 0
		i = t.slot(t.young.slots, w)
	}
	if t.n++; 2*t.n > len(t.young.slots) {
		t.grow()
		i = t.slot(t.young.slots, w)
	}
	if t.young.slots[i] = slot; moved { // else nothing stands beside it, and that place need not come from memory
		t.young.beside[i] = beside
	}
	return i
}

// grow makes room for four times as many words, and moves fewer in all than by twos.
func (t *wordTable) grow() {
	small := t.young
	t.young = newWordHalf(4 * len(small.slots))
	for i, s := range small.slots {
		if s.token != 0 {
			to := t.slot(t.young.slots, s.token)
			t.young.slots[to], t.young.beside[to] = s, small.beside[i]
		}
	}
}

// slot returns the number of the slot where a word is, or would be. No word is 0: what
// should be is taken for 1.
func (t *wordTable) slot(slots []wordSlot, w token) int {
	w = max(w, 1)
	for i := t.first(slots, w); ; i = (i + 1) & (len(slots) - 1) {
		if s := slots[i].token; s == w || s == 0 {
			return i
		}
	}
}

// first returns the number of the slot that is tried first.
func (t *wordTable) first(slots []wordSlot, w token) int {
	hi, lo := bits.Mul64(uint64(w)^t.seed, 0xA0761D6478BD642F)
	return int(hi^lo) & (len(slots) - 1)
}

// fetch asks for the slots of words that are looked for next: the processor waits for
// all at once, and not for one after the other.
func (t *wordTable) fetch(words []token) {
	slots := t.young.slots
	for _, w := range words {
		t.fetched += slots[t.first(slots, w)].token
	}
}

// fetchAll is fetch for who asks for what stands beside as well.
func (t *wordTable) fetchAll(words []token) {
	slots, beside := t.young.slots, t.young.beside
	for _, w := range words {
		i := t.first(slots, w)
		t.fetched += slots[i].token + token(beside[i].at)
	}
}
