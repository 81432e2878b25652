package features

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// known is what a reader of numbers asks of a word.
type known struct {
	body int32  // the term's number, or noTerm or leftOut
	also uint32 // the second reader's number of the word; 0 if it leaves it out
}

// Numbers of terms that are none.
const (
	noTerm  = -1 // the lexicon does not have the term
	leftOut = -2 // the options leave the word out
)

// numbering gives the words of an Analyzer their numbers. learn finds those of a word that the cache lacks.
type numbering struct {
	an    *Analyzer
	cache *wordCache
	learn func(word string, lang *language) known

	row     [32]wordInRow // words that wait to be looked up together
	waiting int           // of row
	bytes   []byte        // of these words
	fetched uint64        // keeps the first loads of a row
}

// wordInRow is a word of the current text.
type wordInRow struct {
	hash     uint64
	from, to int32 // in numbering.bytes
	at       int32 // where its piece begins in the text
}

// each calls f with the words of text in order. It looks words up in rows: all loads of a row wait for the
// memory at once, which takes half the time of one after the other.
func (n *numbering) each(text, lang string, f func(known, wordInRow)) {
	n.an.split(text, lang, func(word []byte) {
		from := len(n.bytes)
		n.bytes = append(n.bytes, word...)
		n.row[n.waiting] = wordInRow{maphash.Bytes(hashSeed, word) ^ n.an.words.seed, int32(from), int32(len(n.bytes)), int32(n.an.at)}
		if n.waiting++; n.waiting == len(n.row) {
			n.lookUp(f)
		}
	})
	n.lookUp(f)
}

func (n *numbering) lookUp(f func(known, wordInRow)) {
	row := n.row[:n.waiting]
	buckets := *n.cache.table.Load()
	for i := range row {
		n.fetched += bucketOf(buckets, row[i].hash)[0].numbers.Load()
	}
	for _, r := range row {
		w, ok := n.cache.find(r.hash)
		if !ok {
			w = n.learn(n.word(r), n.an.words.language)
			n.cache.add(r.hash, w)
		}
		f(w, r)
	}
	n.waiting, n.bytes = 0, n.bytes[:0]
}

func (n *numbering) word(r wordInRow) string { return string(n.bytes[r.from:r.to]) }

// wordCache finds the numbers of words. An entry takes 16 bytes, where one with strings takes 100, and all
// processors read one table without a lock, so that it stays in their caches. A slot is written in two
// steps: its hash is XORed with its numbers, which tells a reader when they do not belong together (Hyatt
// and Mann, "A lock-less transposition-table implementation for parallel search chess engines", 2002). A
// word has one bucket, a line of the processor's cache; if that is full, it replaces another word.
type wordCache struct {
	table atomic.Pointer[[]bucket] // a power of two long

	mu   sync.Mutex // guards all below, and writing
	used int        // slots
	next int        // the slot of a full bucket that is replaced next
}

const (
	bucketSlots = 4       // 64 bytes
	maxBuckets  = 1 << 16 // 4 MiB: 262,144 words
)

type bucket [bucketSlots]struct {
	check   atomic.Uint64 // the word's hash XOR numbers
	numbers atomic.Uint64 // known.also above known.body; an empty slot has 0 in both
}

var hashSeed = maphash.MakeSeed()

func newWordCache() *wordCache {
	c := &wordCache{}
	c.clear()
	return c
}

func (c *wordCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	buckets := make([]bucket, 256)
	c.table.Store(&buckets)
	c.used = 0
}

func bucketOf(buckets []bucket, hash uint64) *bucket { return &buckets[int(hash)&(len(buckets)-1)] }

func (c *wordCache) find(hash uint64) (w known, ok bool) {
	if hash == 0 { // the key of an empty slot
		return known{}, false
	}
	b := bucketOf(*c.table.Load(), hash)
	for i := range b {
		if n := b[i].numbers.Load(); b[i].check.Load()^n == hash {
			return known{body: int32(uint32(n)), also: uint32(n >> 32)}, true
		}
	}
	return known{}, false
}

func (c *wordCache) add(hash uint64, w known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	buckets := *c.table.Load()
	if c.used >= len(buckets)*bucketSlots/2 && len(buckets) < maxBuckets {
		buckets = c.grow(buckets)
	}
	c.put(buckets, hash, uint64(w.also)<<32|uint64(uint32(w.body)))
}

// put enters a word; words that two processors learn at once may stand there twice.
func (c *wordCache) put(buckets []bucket, hash, numbers uint64) {
	b := bucketOf(buckets, hash)
	i := 0
	for i < len(b) && b[i].check.Load()|b[i].numbers.Load() != 0 {
		i++
	}
	if i == len(b) {
		c.next = (c.next + 1) % bucketSlots
		i = c.next
	} else {
		c.used++
	}
	b[i].numbers.Store(numbers)
	b[i].check.Store(hash ^ numbers)
}

// grow doubles the table. Readers of the small one miss what is added, and learn it again.
func (c *wordCache) grow(small []bucket) []bucket {
	buckets := make([]bucket, 2*len(small))
	c.used = 0
	for i := range small {
		for j := range small[i] {
			numbers := small[i][j].numbers.Load()
			if hash := small[i][j].check.Load() ^ numbers; hash|numbers != 0 {
				c.put(buckets, hash, numbers)
			}
		}
	}
	c.table.Store(&buckets)
	return buckets
}

// Tokens splits text into terms as an Analyzer does, and gives a number for each. Unlike those of a Lexicon
// the numbers need not be known before: a function makes them, once per cached term. It is not safe for
// concurrent use.
type Tokens[T ~uint32] struct{ numbering }

// NewTokens returns a Tokens whose numbers token makes.
func NewTokens[T ~uint32](opt AnalyzerOptions, token func(term string) T) *Tokens[T] {
	an := NewAnalyzer(opt)
	return &Tokens[T]{numbering{an: an, cache: newWordCache(), learn: func(word string, lang *language) known {
		var stem string
		if term := an.opt.term(word, lang, &stem); term != "" {
			return known{also: uint32(token(term))}
		}
		return known{body: leftOut}
	}}}
}

// Append appends the numbers of text's terms to dst, in order.
func (t *Tokens[T]) Append(dst []T, text, lang string) []T {
	t.each(text, lang, func(w known, _ wordInRow) {
		if w.body != leftOut {
			dst = append(dst, T(w.also))
		}
	})
	return dst
}
