package features

import (
	"sync"
	"sync/atomic"
)

// wordNumbers finds the two numbers of a word that text is counted by: its
// term's and a second reader's. That is all that is asked of nearly every word
// of a page. It takes 16 bytes, where an entry with its strings takes 100. So
// far more words can be remembered, rare ones too, which would else be stemmed
// anew each time.
//
// All processors read one table without a lock. A slot is written in two steps,
// so its hash is kept XORed with its numbers: a reader sees when they do not
// belong together. Chess programs do the same (Hyatt and Mann, "A lockless
// transposition table implementation for parallel search chess engines", 2002).
// What is lost when two write at once is learned again.
//
// A word has one bucket, a line of the processor's cache; where that is full it takes
// the place of another.
type wordNumbers struct {
	table atomic.Pointer[[]numberBucket] // a power of two long

	mu sync.Mutex // guards n, and the writing of slots
	n  int        // slots in use
	at int        // the slot of a full bucket that is given up next
}

const (
	bucketSlots = 4       // a line
	maxBuckets  = 1 << 16 // 4 MiB: 262,144 words, as 4,600 articles of an encyclopedia have
)

type numberBucket [bucketSlots]numberSlot

// numberSlot is empty when both are 0; a hash never is.
type numberSlot struct {
	check   atomic.Uint64 // the word's hash XOR numbers
	numbers atomic.Uint64 // known.also above known.body
}

func newWordNumbers() *wordNumbers {
	t := &wordNumbers{}
	buckets := make([]numberBucket, 256)
	t.table.Store(&buckets)
	return t
}

// bucketOf returns the bucket that has a word if any has.
func bucketOf(buckets []numberBucket, hash uint64) *numberBucket {
	return &buckets[int(hash)&(len(buckets)-1)]
}

// find returns the numbers of a word; ok says whether they are known.
func (b *numberBucket) find(hash uint64) (w known, ok bool) {
	for i := range b {
		if n := b[i].numbers.Load(); b[i].check.Load()^n == hash {
			return known{body: int32(uint32(n)), also: uint32(n >> 32)}, true
		}
	}
	return known{}, false
}

// add enters a word, unless another was quicker.
func (t *wordNumbers) add(hash uint64, w known) {
	t.mu.Lock()
	defer t.mu.Unlock()
	buckets := *t.table.Load()
	if t.n >= len(buckets)*bucketSlots/2 && len(buckets) < maxBuckets {
		buckets = t.grow(buckets)
	}
	t.put(bucketOf(buckets, hash), hash, uint64(w.also)<<32|uint64(uint32(w.body)))
}

func (t *wordNumbers) put(b *numberBucket, hash, numbers uint64) {
	if _, ok := b.find(hash); ok {
		return
	}
	at := 0
	for at < len(b) && b[at].check.Load()|b[at].numbers.Load() != 0 {
		at++
	}
	if at == len(b) {
		t.at = (t.at + 1) % bucketSlots
		at = t.at
	} else {
		t.n++
	}
	b[at].numbers.Store(numbers)
	b[at].check.Store(hash ^ numbers)
}

// grow doubles the table. Who still reads the small one misses what is added.
func (t *wordNumbers) grow(small []numberBucket) []numberBucket {
	buckets := make([]numberBucket, 2*len(small))
	t.n = 0
	for i := range small {
		for j := range small[i] {
			numbers := small[i][j].numbers.Load()
			if hash := small[i][j].check.Load() ^ numbers; hash != 0 {
				t.put(bucketOf(buckets, hash), hash, numbers)
			}
		}
	}
	t.table.Store(&buckets)
	return buckets
}
