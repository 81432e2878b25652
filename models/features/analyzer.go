package features

import (
	"slices"
	"sync/atomic"
)

// Numbers says what becomes of tokens made of digits.
type Numbers uint8

// What can be done with numbers.
const (
	NumbersDrop  Numbers = iota // leave them out
	NumbersKeep                 // keep them as words
	NumbersShape                // keep their shape: 1998 → "0000", 3.14 → "0.00"
)

// AnalyzerOptions says which tokens become terms. The zero value stems, leaves
// out stop words and numbers, and keeps words of 2 to 40 letters.
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

// cacheLanguages bounds the languages remembered: their codes come from pages.
const cacheLanguages = 32

// Analyzer cuts text into terms: words in lower case, without stop words, as stems. It
// remembers the stem of every word it has seen (bounded), and so is not safe for
// concurrent use. It is cheap to have one a goroutine.
type Analyzer struct {
	opt     AnalyzerOptions
	langs   map[string]*vocabulary
	resolve func(*entry) // when set, gives a new entry its numbers
	also    *Also        // when set, a second reader of the same words
	shared  *SharedWords // when set, what others know of words
	at      int          // where the piece begins that the token at hand is in
	buf     []byte       // the token at hand, in lower case
	run     []byte       // ideographs in a row, see segment.go
	breaks  string       // ideographs that part words, in the language at hand
	row     row          // words on their way, see row.go
	passing entry        // of a word of which only the numbers are kept
}

// vocabulary is the cache of one language.
type vocabulary struct {
	lang   *language
	words  *wordTable
	common *commonWords // nil where nothing is shared
	seed   uint64       // of the language's words among the shared numbers
}

// entry is what is known of a word.
type entry struct {
	surface string // the word as written, in lower case
	term    string // its stem; "" when the word is left out
	body    int32  // the term's number for an Extractor; noTerm, or leftOut
	also    uint32 // that of what a second reader makes of the word; 0 when it leaves it out

	// For an Extractor: the numbers of the term in other fields. Other extractors may ask at
	// the same time, and find the same.
	index [fields]atomic.Int32
}

// Numbers of terms that are none.
const (
	noTerm  = -1 // the lexicon does not have the term
	leftOut = -2 // the word is left out
)

// NewAnalyzer returns an analyzer.
func NewAnalyzer(opt AnalyzerOptions) *Analyzer {
	return &Analyzer{opt: opt.withDefaults(), langs: map[string]*vocabulary{}}
}

// Terms appends the terms of text to dst in their order and returns it. lang is
// an ISO 639-1 code, which a region may follow ("en-GB"); "" means English.
func (a *Analyzer) Terms(dst []string, text, lang string) []string {
	a.each(text, lang, func(row []known) {
		for _, e := range a.row.entries[:len(row)] {
			dst = append(dst, (*e).term)
		}
	})
	return dst
}

// Each calls f for every term of text in order, with the word it came from, in
// lower case. Words that the options leave out are passed over.
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

// learn enters a word that the cache does not have.
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

// learnNumbers enters a word of which only the numbers are asked for.
func (a *Analyzer) learnNumbers(v *vocabulary, word []byte, hash uint64) known {
	e := a.analyse(&a.passing, v, string(word))
	w := known{body: e.body, also: e.also}
	a.shared.numbers.add(hash, w)
	return w
}

// analyse finds out what there is to know of a word, and puts it into e, which is
// new, or passing.
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

// term returns what word counts as, or "" when the options leave it out. stem is the
// word's, "" until it was needed.
func (o *AnalyzerOptions) term(word string, lang *language, stem *string) string {
	if isNumber(word) {
		return o.number(word)
	}
	if !o.KeepStop && lang.isStop(word) {
		return ""
	}
	// A word of an ideographic script is whole with one or two runes.
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

// isNumber reports whether word is digits, with points and commas between them.
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
