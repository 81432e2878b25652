package features

import (
	"slices"
	"unicode/utf8"
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

// An Analyzer caches at most cacheWords words of each of cacheLanguages languages. Real text has more words
// (20 Newsgroups 150,000), most of which occur once.
const (
	cacheLanguages = 32 // their codes come from pages
	cacheWords     = 1 << 16
)

// Analyzer splits text into terms: words in lower case, without stop words, as stems. It caches the stems of
// words, so it is not safe for concurrent use; one per goroutine is cheap.
type Analyzer struct {
	opt     AnalyzerOptions
	langs   map[string]*vocabulary
	resolve func(*entry) // if set, gives a new entry its numbers
	also    *Also        // if set, a second reader of the same words
	at      int          // where the current token's piece begins
	buf     []byte       // the current token, in lower case
	run     []byte       // consecutive ideographs; see putRun
	breaks  string       // ideographs that separate words in the current language
}

// vocabulary is the cache of one language, in two generations of cacheWords/2 words.
type vocabulary struct {
	lang          *language
	recent, older map[string]*entry
}

// entry is what is known of a word.
type entry struct {
	surface string // the word as written, in lower case
	term    string // its stem; "" if the word is left out
	body    int32  // the term's number, or noTerm
	also    uint32 // the second reader's number of the word; 0 if it leaves it out

	index [fields]int32 // the term's numbers in other fields, see Extractor.own
}

// noTerm is the number of a term that the lexicon does not have.
const noTerm = -1

// NewAnalyzer returns an analyzer.
func NewAnalyzer(opt AnalyzerOptions) *Analyzer {
	return &Analyzer{opt: opt.withDefaults(), langs: map[string]*vocabulary{}}
}

// Terms appends the terms of text to dst in their order. lang is an ISO 639-1 code, perhaps with a region
// ("en-GB"); "" means English.
func (a *Analyzer) Terms(dst []string, text, lang string) []string {
	a.each(text, lang, func(e *entry) { dst = append(dst, e.term) })
	return dst
}

// Each calls f for every term of text in order, with its word in lower case. It skips words that the
// options leave out.
func (a *Analyzer) Each(text, lang string, f func(word, term string)) {
	a.each(text, lang, func(e *entry) { f(e.surface, e.term) })
}

// each calls f with the words of text that the options or a second reader want, in order.
func (a *Analyzer) each(text, lang string, f func(*entry)) {
	v := a.vocabulary(lang)
	a.breaks = v.lang.breaks
	put := func(word []byte) {
		if e := a.find(v, word); e.term != "" || e.also != 0 {
			f(e)
		}
	}
	for i := 0; i < len(text); {
		if class[text[i]] == space {
			i++
			continue
		}
		a.at = i
		i = a.piece(text, i, put)
	}
}

func (a *Analyzer) vocabulary(lang string) *vocabulary {
	if v, ok := a.langs[lang]; ok {
		return v
	}
	if len(a.langs) >= cacheLanguages {
		clear(a.langs)
	}
	v := &vocabulary{lang: languageOf(lang), recent: map[string]*entry{}}
	a.langs[lang] = v
	return v
}

// maxCachedWord is the length in bytes up to which any word is remembered.
const maxCachedWord = 256

// find returns what there is to know of a word, from the cache if it has the word.
func (a *Analyzer) find(v *vocabulary, word []byte) *entry {
	if e := v.recent[string(word)]; e != nil {
		return e
	}
	if len(word) > 4*a.opt.MaxLength && len(word) > maxCachedWord {
		return a.analyse(v.lang, string(word)) // strangers' pages may be full of them
	}
	e := v.older[string(word)]
	if e == nil {
		e = a.analyse(v.lang, string(word))
	}
	if len(v.recent) >= cacheWords/2 {
		v.older, v.recent = v.recent, map[string]*entry{}
	}
	v.recent[e.surface] = e
	return e
}

func (a *Analyzer) analyse(lang *language, word string) *entry {
	var stem string
	e := &entry{surface: word, term: a.opt.term(word, lang, &stem), body: noTerm}
	if e.term != "" && a.resolve != nil {
		a.resolve(e)
	}
	if a.also != nil {
		e.also = a.also.number(a.also.Analyzer.term(word, lang, &stem))
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
	if n := utf8.RuneCountInString(word); n > o.MaxLength || n < o.MinLength && word[0] < 0x80 {
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

// Tokens splits text into terms as an Analyzer does, and gives a number for each. Unlike those of a Lexicon
// the numbers need not be known before: a function makes them, once per cached term. It is not safe for
// concurrent use.
type Tokens[T ~uint32] struct{ an *Analyzer }

// NewTokens returns a Tokens whose numbers token makes.
func NewTokens[T ~uint32](opt AnalyzerOptions, token func(term string) T) *Tokens[T] {
	an := NewAnalyzer(opt)
	an.resolve = func(e *entry) { e.body = int32(token(e.term)) }
	return &Tokens[T]{an}
}

// Append appends the numbers of text's terms to dst, in order.
func (t *Tokens[T]) Append(dst []T, text, lang string) []T {
	t.an.each(text, lang, func(e *entry) { dst = append(dst, T(e.body)) })
	return dst
}
