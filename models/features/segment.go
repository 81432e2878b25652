package features

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/unicode/norm"
)

// Words are found by Unicode's rules (UAX #29), then split further where these keep two words together: only
// an apostrophe joins letters ("o'clock"), only a point or a comma joins digits ("1,000").

// compounds are names that change their meaning when split.
var compounds = [...]string{
	"c++", "g++", "c#", "f#", "j#", "vb.net", "asp.net", "ado.net", "node.js", "next.js", "vue.js",
}

const (
	other = iota
	letter
	digit
	space
)

// class has the class of every ASCII byte; bytes of longer runes are other.
var class = func() (t [256]byte) {
	for c := range 128 {
		switch r := rune(c); {
		case unicode.IsLetter(r):
			t[c] = letter
		case unicode.IsDigit(r):
			t[c] = digit
		case unicode.IsSpace(r):
			t[c] = space
		}
	}
	return t
}()

// folded has ASCII letters in lower case, digits, and 0 for all else.
var folded = func() (t [256]byte) {
	for c := range t {
		switch b := byte(c); {
		case 'A' <= b && b <= 'Z':
			t[c] = b + 'a' - 'A'
		case isWord(b):
			t[c] = b
		}
	}
	return t
}()

func isDigit(c byte) bool { return class[c] == digit }
func isWord(c byte) bool  { return class[c] == letter || class[c] == digit }

// piece calls put with the words from text[i] to the next white space, and returns where that is.
func (a *Analyzer) piece(text string, i int, put func(token []byte)) (end int) {
	start, ascii := i, true
	for i < len(text) && class[text[i]] != space {
		ascii = ascii && text[i] < utf8.RuneSelf
		i++
	}
	if piece := text[start:i]; ascii {
		a.scan(piece, 0, len(piece), put)
	} else {
		a.segmentUnicode(piece, put)
	}
	return i
}

// scan finds the words of piece[i:end], which is ASCII; compounds may reach beyond end.
func (a *Analyzer) scan(piece string, i, end int, put func([]byte)) {
	for i < end {
		if !isWord(piece[i]) {
			i++
			continue
		}
		if name := compoundAt(piece, i); name != "" {
			a.buf = append(a.buf[:0], name...)
			put(a.buf)
			i += len(name)
			continue
		}
		buf := a.buf[:0] // a local copy, because a.buf would be stored at every byte
		if i > 0 && piece[i-1] == '.' && isDotNet(piece, i) {
			buf = append(buf, '.')
		}
		for i < end {
			if c := folded[piece[i]]; c != 0 {
				buf = append(buf, c)
			} else if joins(piece, i, end) {
				buf = append(buf, piece[i])
			} else {
				break
			}
			i++
		}
		a.buf = buf
		put(buf)
	}
}

// joins reports whether the mark at piece[i] joins the word around it.
func joins(piece string, i, end int) bool {
	if i == 0 || i+1 >= end {
		return false
	}
	before, after := class[piece[i-1]], class[piece[i+1]]
	switch piece[i] {
	case '\'':
		return before == letter && after == letter
	case '.', ',':
		return before == digit && after == digit
	}
	return false
}

// compoundAt returns the compound at piece[i], or "". The first byte after its letters nearly always decides.
func compoundAt(piece string, i int) string {
	if i > 0 && isWord(piece[i-1]) {
		return ""
	}
	for j := i + 1; j < len(piece) && j <= i+4; j++ {
		if class[piece[j]] == letter {
			continue
		}
		if c := piece[j]; c == '+' || c == '#' || c == '.' {
			return findCompound(piece[i:])
		}
		break
	}
	return ""
}

func findCompound(s string) string {
	for _, name := range compounds {
		if len(s) < len(name) || !strings.EqualFold(s[:len(name)], name) {
			continue
		}
		if len(s) == len(name) || class[s[len(name)]] == other && s[len(name)] < utf8.RuneSelf {
			return name
		}
	}
	return ""
}

// isDotNet reports whether piece[i:] is the NET of ".NET".
func isDotNet(piece string, i int) bool {
	return (i < 2 || !isWord(piece[i-2]) && piece[i-2] < utf8.RuneSelf) &&
		len(piece) >= i+3 && strings.EqualFold(piece[i:i+3], "net") &&
		(len(piece) == i+3 || !isWord(piece[i+3]) && piece[i+3] < utf8.RuneSelf)
}

func (a *Analyzer) segmentUnicode(piece string, put func([]byte)) {
	piece = strings.ToValidUTF8(piece, " ")
	if !norm.NFKC.IsNormalString(piece) {
		piece = norm.NFKC.String(piece)
	}
	a.run = a.run[:0]
	for it := words.FromString(piece); it.Next(); {
		word := it.Value()
		if unbroken(word) {
			if strings.Contains(a.breaks, word) {
				a.putRun(put)     // a word of grammar separates the words around it,
				put([]byte(word)) // and is a word itself
				continue
			}
			a.run = append(a.run, word...)
			continue
		}
		a.putRun(put)
		if isASCII(word) {
			a.scan(piece, it.Start(), it.End(), put)
		} else {
			a.scanUnicode(word, put)
		}
	}
	a.putRun(put)
}

// unbroken reports whether word is a character of a script without spaces, which UAX #29 splits.
func unbroken(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// putRun emits a run of such characters as overlapping pairs, the usual substitute for a dictionary; a
// single one is a word.
func (a *Analyzer) putRun(put func([]byte)) {
	run := a.run
	a.run = a.run[:0]
	if len(run) == 0 {
		return
	}
	_, first := utf8.DecodeRune(run)
	if first == len(run) {
		put(run)
		return
	}
	for i := 0; i+first < len(run); {
		_, second := utf8.DecodeRune(run[i+first:])
		put(run[i : i+first+second])
		i, first = i+first, second
	}
}

// scanUnicode is scan for Unicode. It leaves out Hiragana, which alone is nearly always grammar.
func (a *Analyzer) scanUnicode(word string, put func([]byte)) {
	flush := func() {
		if len(a.buf) > 0 {
			put(a.buf)
		}
		a.buf = a.buf[:0]
	}
	a.buf = a.buf[:0]
	var before rune
	for i, r := range word {
		size := utf8.RuneLen(r)
		switch {
		case r == utf8.RuneError || unicode.Is(unicode.Hiragana, r):
			flush()
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && len(a.buf) > 0:
			a.buf = utf8.AppendRune(a.buf, unicode.ToLower(r))
		case unicode.Is(unicode.Cf, r): // soft hyphens and joiners are invisible
			continue
		default:
			after, _ := utf8.DecodeRuneInString(word[i+size:])
			if mark := joiner(before, r, after); mark != 0 && len(a.buf) > 0 {
				a.buf = append(a.buf, mark)
			} else {
				flush()
			}
		}
		before = r
	}
	flush()
}

// joiner returns the mark for r if it joins two runes into a word, or 0.
func joiner(before, r, after rune) byte {
	switch r {
	case '\'', '’':
		if unicode.IsLetter(before) && unicode.IsLetter(after) {
			return '\''
		}
	case '.', ',':
		if unicode.IsDigit(before) && unicode.IsDigit(after) {
			return byte(r)
		}
	}
	return 0
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Most words are plain: ASCII letters and digits between white space or marks that only separate words. They
// are found eight bytes at a time and looked up without a copy, so that only memory takes time.

// plainWord is a plain word in lower case, as the two numbers that its hash is made of.
type plainWord struct {
	first, last uint64
	length      int // 0: only a mark
	end         int // of the word and the mark after it; 0: piece must look at it
}

// parts has the marks that only separate words. They are in no compound and join neither letters nor digits.
var parts = func() (t [256]bool) {
	for _, c := range []byte(`!"$%&()*-/:;<=>?@[\]^{|}~` + "`") {
		t[c] = true
	}
	return t
}()

// plainAt reads the word at text[i], which is no white space. The word is plain if piece would find the same
// one: a mark before white space also ends it, except + and #, with which compounds end.
func plainAt(text string, i int) (w plainWord) {
	if len(text)-i < wholeWord+2 {
		return w
	}
	b := text[i : i+wholeWord+2]
	first, last := load8(b), load8(b[8:])
	n := uint(bits.TrailingZeros64(notWord(first))) / 8 // 8 if all are letters or digits
	m := uint(bits.TrailingZeros64(notWord(last))) / 8 * (n / 8)
	w.first = (first | 0x2020202020202020) & (1<<(8*n) - 1)
	w.last = (last | 0x2020202020202020) & (1<<(8*m) - 1)
	w.length = int(n + m)
	mark, next := b[w.length], b[w.length+1]
	switch {
	case class[mark] == space:
		w.end = i + w.length + 1
	case parts[mark] && next < utf8.RuneSelf:
		w.end = i + w.length + 1
	case class[mark] == other && mark != '+' && mark != '#' && mark < utf8.RuneSelf && class[next] == space:
		w.end = i + w.length + 2
	}
	return w
}

func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// notWord sets the highest bit of each of eight bytes that is no ASCII letter or digit, and no other bit. It
// adds to seven bits of each byte what lifts the start of a range to 128; no sum reaches the next byte.
func notWord(eight uint64) uint64 {
	const each = 0x0101010101010101
	low := eight & (0x7F * each)
	lower := low | 0x20*each
	letters := (lower + (0x80-'a')*each) &^ (lower + (0x80-'z'-1)*each)
	digits := (low + (0x80-'0')*each) &^ (low + (0x80-'9'-1)*each)
	return ^((letters | digits) &^ eight) & (0x80 * each)
}

func (w *plainWord) bytes(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst[:0], w.first)
	return binary.LittleEndian.AppendUint64(dst, w.last)[:w.length]
}

// wordNumbers finds the two numbers of a word, its term's and the second reader's, which suffice for nearly
// every word of a page. A word takes 16 bytes, where an entry with its strings takes 100. So far more words
// can be cached, including rare ones that would be stemmed each time.
type wordNumbers struct {
	table atomic.Pointer[[]numberBucket] // a power of two long

	mu sync.Mutex // guards n, and the writing of slots
	n  int        // slots in use
	at int        // slot of a full bucket to replace next
}

const (
	bucketSlots = 4       // a cache line
	maxBuckets  = 1 << 16 // 4 MiB: 262,144 words, as many as 4,600 articles of an encyclopedia have
)

type numberBucket [bucketSlots]numberSlot

// numberSlot is empty if both are 0; a hash never is.
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

// bucketOf returns the only bucket that may have a word.
func bucketOf(buckets []numberBucket, hash uint64) *numberBucket {
	return &buckets[int(hash)&(len(buckets)-1)]
}

func (b *numberBucket) find(hash uint64) (w known, ok bool) {
	for i := range b {
		if n := b[i].numbers.Load(); b[i].check.Load()^n == hash {
			return known{body: int32(uint32(n)), also: uint32(n >> 32)}, true
		}
	}
	return known{}, false
}

// add enters a word unless it is known.
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

// grow doubles the table. A goroutine that still reads the small one misses words that are added.
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
