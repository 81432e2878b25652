package features

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"
	"sync/atomic"
)

// Numbers says how to treat tokens made of digits.
type Numbers uint8

const (
	numbersDrop  Numbers = iota // leave them out
	NumbersKeep                 // keep them as words
	NumbersShape                // keep their shape: 1998 → "0000", 3.14 → "0.00"
)

// AnalyzerOptions says which tokens become terms. The zero value stems, leaves out stop words and
// numbers, and keeps words of 2 to 40 letters.
type AnalyzerOptions struct {
	NoStem    bool    // keep words as they are written, in lower case
	KeepStop  bool    // keep stop words
	MinLength int     // in runes of the word as written; 0 means 2
	MaxLength int     // in runes; 0 means 40
	Numbers   Numbers // what to do with numbers
}

func (o AnalyzerOptions) withDefaults() AnalyzerOptions {
	if o.MinLength <= 0 {
		o.MinLength = 2
	}
	if o.MaxLength <= 0 {
		o.MaxLength = 40
	}
	return o
}

// cacheLanguages limits the cached languages, whose codes come from pages.
const cacheLanguages = 32

// Analyzer splits text into terms: words in lower case, without stop words, as stems. It caches the stem of
// every word (bounded), so it is not safe for concurrent use; one per goroutine is cheap.
type Analyzer struct {
	opt     AnalyzerOptions
	langs   map[string]*vocabulary
	resolve func(*entry) // if set, gives a new entry its numbers
	also    *Also        // if set, a second reader of the same words
	shared  *SharedWords // if set, what others know of words
	at      int          // where the current token's piece begins
	buf     []byte       // the current token, in lower case
	run     []byte       // consecutive ideographs; see putRun
	breaks  string       // ideographs that separate words in the current language
	row     row          // words on their way to the caller
	passing entry        // scratch for words of which only the numbers are kept
}

// vocabulary is the cache of one language.
type vocabulary struct {
	lang   *language
	words  *wordTable
	common *commonWords // nil if nothing is shared
	seed   uint64       // for the language's words among the shared numbers
}

// entry is what is known of a word.
type entry struct {
	surface string // the word as written, in lower case
	term    string // its stem; "" if the word is left out
	body    int32  // the term's number for an Extractor; noTerm, or leftOut
	also    uint32 // the second reader's number of the word; 0 if it leaves it out

	// index has the term's numbers in other fields; extractors may set them at once, to the same values.
	index [fields]atomic.Int32
}

// Numbers that stand for no term.
const (
	noTerm  = -1 // the lexicon does not have the term
	leftOut = -2 // the word is left out
)

// NewAnalyzer returns an analyzer.
func NewAnalyzer(opt AnalyzerOptions) *Analyzer {
	return &Analyzer{opt: opt.withDefaults(), langs: map[string]*vocabulary{}}
}

// Terms appends the terms of text to dst in their order. lang is an ISO 639-1 code, perhaps with a region
// ("en-GB"); "" means English.
func (a *Analyzer) Terms(dst []string, text, lang string) []string {
	a.each(text, lang, func(row []known) {
		for _, e := range a.row.entries[:len(row)] {
			dst = append(dst, (*e).term)
		}
	})
	return dst
}

// Each calls f for every term of text in order, with its word in lower case. It skips words that the
// options leave out.
func (a *Analyzer) Each(text, lang string, f func(word, term string)) {
	a.each(text, lang, func(row []known) {
		for _, e := range a.row.entries[:len(row)] {
			f((*e).surface, (*e).term)
		}
	})
}

func (a *Analyzer) vocabulary(lang string) *vocabulary {
	if v, ok := a.langs[lang]; ok {
		return v
	}
	if len(a.langs) >= cacheLanguages {
		clear(a.langs)
	}
	v := &vocabulary{lang: languageOf(lang)}
	if a.shared != nil {
		v.common, v.words = a.shared.of(lang), newWordTable(a.shared.seed)
		v.seed = hashWord(a.shared.seed, []byte(lang))
	} else {
		v.words = newWordTable(newSeed())
	}
	a.langs[lang] = v
	return v
}

// learn analyses and enters a word that the cache lacks.
func (a *Analyzer) learn(v *vocabulary, word []byte, hash uint64) (known, **entry) {
	if v.common == nil {
		return v.words.add(hash, a.analyse(new(entry), v, string(word)))
	}
	e := v.common.find(hash)
	if e == nil {
		e = v.common.add(hash, a.analyse(new(entry), v, string(word)))
	}
	return v.words.add(hash, e)
}

// learnNumbers is learn for a word of which only the numbers are needed.
func (a *Analyzer) learnNumbers(v *vocabulary, word []byte, hash uint64) known {
	e := a.analyse(&a.passing, v, string(word))
	w := known{body: e.body, also: e.also}
	a.shared.numbers.add(hash, w)
	return w
}

// analyse fills e, a new entry or passing, with what there is to know of a word.
func (a *Analyzer) analyse(e *entry, v *vocabulary, word string) *entry {
	var stem string
	e.surface, e.term, e.body = word, a.opt.term(word, v.lang, &stem), noTerm
	switch {
	case e.term == "":
		e.body = leftOut
	case a.resolve != nil:
		a.resolve(e)
	}
	e.also = 0
	if a.also != nil {
		e.also = a.also.number(a.also.Analyzer.term(word, v.lang, &stem))
	}
	return e
}

// term returns the term of word, "" if the options leave it out. stem caches the word's stem.
func (o *AnalyzerOptions) term(word string, lang *language, stem *string) string {
	if isNumber(word) {
		return o.number(word)
	}
	if !o.KeepStop && lang.isStop(word) {
		return ""
	}
	// In an ideographic script one or two runes are a whole word.
	if n := runes(word); n > o.MaxLength || n < o.MinLength && word[0] < 0x80 {
		return ""
	}
	if o.NoStem {
		return lang.bare(word)
	}
	if *stem == "" {
		*stem = lang.stem(lang.bare(word))
	}
	return *stem
}

func (o *AnalyzerOptions) number(word string) string {
	if len(word) > o.MaxLength {
		return ""
	}
	switch o.Numbers {
	case NumbersKeep:
		return word
	case NumbersShape:
		shape := []byte(word)
		for i, c := range shape {
			if isDigit(c) {
				shape[i] = '0'
			}
		}
		return string(shape)
	}
	return ""
}

// isNumber reports whether word consists of digits, points and commas.
func isNumber(word string) bool {
	return !slices.ContainsFunc([]byte(word), func(c byte) bool {
		return !isDigit(c) && c != '.' && c != ','
	})
}

func runes(s string) (n int) {
	for range s {
		n++
	}
	return n
}

// Words are processed in rows: a row is split off, then looked up, then counted. One word at a time, the
// processor would wait for each word's memory and for each mispredicted branch.

const rowWords = 32

// row holds words on their way from the text to the caller.
type row struct {
	waiting  [rowWords]cutWord
	n        int // of waiting
	found    [2 * rowWords]known
	entries  [2 * rowWords]**entry // of found, unless numbered
	m        int                   // of found
	numbered bool                  // only numbers are needed
	one      bool                  // one word at a time
	fetched  uint64                // keeps the compiler from dropping the prefetch
}

// cutWord is a plain word that waits for its look-up.
type cutWord struct {
	plainWord
	hash uint64
	at   int32
}

// each calls f with the words of text that the options or a second reader want, in order, a row at a time.
// Their entries are in row.entries.
func (a *Analyzer) each(text, lang string, f func(row []known)) {
	v := a.vocabulary(lang)
	a.row.numbered = false
	a.rows(v, v.words.seed, text, f)
}

// eachNumbered is each without entries, for an analyzer with shared words.
func (a *Analyzer) eachNumbered(text, lang string, f func(row []known)) {
	v := a.vocabulary(lang)
	a.row.numbered = true
	a.rows(v, v.seed, text, f)
}

// rows implements each and eachNumbered; seed is that of the table with the words.
func (a *Analyzer) rows(v *vocabulary, seed uint64, text string, f func(row []known)) {
	a.breaks = v.lang.breaks
	r := &a.row
	token := func(token []byte) { a.put(v, token, hashWord(seed, token), f) }
	at := 0
	for i := 0; i < len(text); { // piece by piece, except for plain words
		if class[text[i]] == space {
			i++
			at = i
			continue
		}
		plain := plainAt(text, i)
		if plain.end == 0 {
			a.lookUp(v, f)
			a.at = at
			i = a.piece(text, i, token)
			continue
		}
		i = plain.end
		if plain.length > 0 {
			r.waiting[r.n] = cutWord{plain, hashOf(seed, plain.first, plain.last, plain.length), int32(at)}
			if r.n++; r.n == rowWords || r.one {
				a.lookUp(v, f)
			}
		}
		if class[text[i-1]] == space {
			at = i
		}
	}
	a.lookUp(v, f)
	a.hand(f)
}

func (a *Analyzer) lookUp(v *vocabulary, f func([]known)) {
	r := &a.row
	if r.m+r.n > len(r.found) {
		a.hand(f)
	}
	if r.numbered {
		a.lookUpNumbers(v)
	} else {
		a.lookUpEntries(v)
	}
	r.n = 0
	if r.one {
		a.hand(f)
	}
}

func (a *Analyzer) lookUpNumbers(v *vocabulary) {
	r := &a.row
	buckets := *a.shared.numbers.table.Load()
	for i := range r.waiting[:r.n] {
		r.fetched += bucketOf(buckets, r.waiting[i].hash)[0].numbers.Load()
	}
	for i := range r.waiting[:r.n] {
		c := &r.waiting[i]
		w, ok := bucketOf(buckets, c.hash).find(c.hash)
		if !ok {
			a.buf = c.bytes(a.buf)
			w = a.learnNumbers(v, a.buf, c.hash)
		}
		w.at = c.at
		r.add(w, nil)
	}
}

func (a *Analyzer) lookUpEntries(v *vocabulary) {
	r := &a.row
	slots := v.words.young.slots
	for i := range r.waiting[:r.n] {
		r.fetched += slots[int(r.waiting[i].hash)&(len(slots)-1)].hash
	}
	for i := range r.waiting[:r.n] {
		c := &r.waiting[i]
		w, e := v.words.find(c.hash)
		if e == nil {
			a.buf = c.bytes(a.buf)
			w, e = a.learn(v, a.buf, c.hash)
		}
		w.at = c.at
		r.add(w, e)
	}
}

// put looks up a word that is not plain; no others may be waiting.
func (a *Analyzer) put(v *vocabulary, token []byte, hash uint64, f func([]known)) {
	w, e := a.findOne(v, token, hash)
	w.at = int32(a.at)
	r := &a.row
	if r.m == len(r.found) {
		a.hand(f)
	}
	r.add(w, e)
	if r.one {
		a.hand(f)
	}
}

func (a *Analyzer) findOne(v *vocabulary, token []byte, hash uint64) (known, **entry) {
	if a.row.numbered {
		w, ok := bucketOf(*a.shared.numbers.table.Load(), hash).find(hash)
		if !ok {
			w = a.learnNumbers(v, token, hash)
		}
		return w, nil
	}
	w, e := v.words.find(hash)
	if e == nil {
		w, e = a.learn(v, token, hash)
	}
	return w, e
}

// add adds a word, for which there must be room, unless no reader wants it.
func (r *row) add(w known, e **entry) {
	r.found[r.m] = w
	if !r.numbered {
		r.entries[r.m] = e
	}
	if w.body != leftOut || w.also != 0 {
		r.m++
	}
}

// hand passes the found words to f.
func (a *Analyzer) hand(f func([]known)) {
	if m := a.row.m; m > 0 {
		a.row.m = 0
		f(a.row.found[:m])
	}
}

// cacheWords limits the words that an Analyzer caches per language; half of the room is for recent ones. Real
// text has more (20 Newsgroups 150,000 distinct words, 4,600 articles of an encyclopedia 250,000), most of
// which occur once.
const cacheWords = 1 << 16

// wordTable caches words by their hash alone, at a fraction of the cost of a map. It deletes nothing.
type wordTable struct {
	young, old wordHalf
	n          int    // words in young
	seed       uint64 // random, so that nobody can make pages of words with one hash
}

// wordHalf is a generation of the cache. Its slots are small, so that the processor's caches hold many; data
// that few words need is in entries. It is never reused, so that a known's entry stays valid.
type wordHalf struct {
	slots   []wordSlot // a power of two long
	entries []*entry   // of the slot with the same number
}

// wordSlot is a quarter of a cache line. Two words have the same hash once in 2^63 pairs.
type wordSlot struct {
	hash uint64 // 0: empty
	body int32  // as in entry
	also uint32 // as in entry
}

// known is a found word: the numbers that it is counted by.
type known struct {
	body int32  // as in entry
	also uint32 // as in entry
	at   int32  // where its piece begins in the text
}

func newWordTable(seed uint64) *wordTable {
	return &wordTable{young: newWordHalf(1024), old: newWordHalf(1), seed: seed}
}

func newSeed() uint64 { return maphash.String(maphash.MakeSeed(), "") }

func newWordHalf(slots int) wordHalf {
	return wordHalf{make([]wordSlot, slots), make([]*entry, slots)}
}

// at returns the slot that a word has, or would have.
func (h *wordHalf) at(hash uint64) int {
	mask := len(h.slots) - 1
	for i := int(hash) & mask; ; i = (i + 1) & mask {
		if at := h.slots[i].hash; at == hash || at == 0 {
			return i
		}
	}
}

// known returns a slot's word. It takes the entry's address without reading memory.
func (h *wordHalf) known(i int) (known, **entry) {
	return known{body: h.slots[i].body, also: h.slots[i].also}, &h.entries[i]
}

// find returns what is known of a word and where its entry is, nil if the word is unknown.
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

// wholeWord is the longest word that is hashed in one step.
const wholeWord = 16

// hashWord returns a word's hash, never 0. It reads the word as two numbers of 8 bytes, padded with zeros,
// which plainAt makes without looking at each byte; a longer word is folded first, 8 bytes a step.
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

// hashOf folds the product of two numbers, as wyhash does. It includes the length, because a word may contain
// zeros.
func hashOf(seed, first, last uint64, length int) uint64 {
	return fold(first^seed, last^bits.RotateLeft64(seed, 32)^uint64(length)*0x9E3779B97F4A7C15) | 1<<63
}

// filled returns up to 8 bytes as a number, padded with zeros.
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

// Tokens splits text into terms as an Analyzer does, and gives a number for each. Unlike those of a Lexicon
// the numbers need not be known before: a function makes them, once per cached term. It is not safe for
// concurrent use.
type Tokens[T ~uint32] struct{ an *Analyzer }

// NewTokens returns a Tokens whose numbers token makes. It turns the number 2³² − 2, which stands for
// leftOut, into 2³² − 1.
func NewTokens[T ~uint32](opt AnalyzerOptions, token func(term string) T) *Tokens[T] {
	an := NewAnalyzer(opt)
	an.resolve = func(e *entry) {
		if e.body = int32(token(e.term)); e.body == leftOut {
			e.body = noTerm
		}
	}
	return &Tokens[T]{an}
}

// Append appends the numbers of text's terms to dst, in order.
func (t *Tokens[T]) Append(dst []T, text, lang string) []T {
	t.an.each(text, lang, func(row []known) {
		for _, w := range row {
			dst = append(dst, T(w.body))
		}
	})
	return dst
}
