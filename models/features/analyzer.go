package features

import (
	"hash/maphash"
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
	opt   AnalyzerOptions
	langs map[string]*vocabulary
	words *vocabulary // of the current text
	at    int         // where the current token's piece begins
	buf   []byte      // the current token, in lower case
	run   []byte      // consecutive ideographs; see putRun
}

// vocabulary is the cache of one language, in two generations of cacheWords/2 words.
type vocabulary struct {
	*language
	seed          uint64 // of the hashes of its words
	recent, older map[string]*entry
}

// entry is what is known of a word.
type entry struct {
	surface string // the word as written, in lower case
	term    string // its stem; "" if the word is left out
}

// NewAnalyzer returns an analyzer.
func NewAnalyzer(opt AnalyzerOptions) *Analyzer {
	return &Analyzer{opt: opt.withDefaults(), langs: map[string]*vocabulary{}}
}

// Terms appends the terms of text to dst in their order. lang is an ISO 639-1 code, perhaps with a region
// ("en-GB"); "" means English.
func (a *Analyzer) Terms(dst []string, text, lang string) []string {
	a.Each(text, lang, func(_, term string) { dst = append(dst, term) })
	return dst
}

// Each calls f for every term of text in order, with its word in lower case. It skips words that the
// options leave out.
func (a *Analyzer) Each(text, lang string, f func(word, term string)) {
	a.split(text, lang, func(word []byte) {
		if e := a.find(word); e.term != "" {
			f(e.surface, e.term)
		}
	})
}

// split calls put with the words of text in order, in lower case. A word is valid until put returns.
func (a *Analyzer) split(text, lang string, put func(word []byte)) {
	a.words = a.vocabulary(lang)
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
	v := &vocabulary{language: languageOf(lang), seed: maphash.String(hashSeed, lang+" "), recent: map[string]*entry{}}
	a.langs[lang] = v
	return v
}

// maxCachedWord is the length in bytes up to which any word is remembered.
const maxCachedWord = 256

// find returns a word of the current text from the cache, or analyses it.
func (a *Analyzer) find(word []byte) *entry {
	v := a.words
	if e := v.recent[string(word)]; e != nil {
		return e
	}
	e := v.older[string(word)]
	if e == nil {
		var stem string
		e = &entry{surface: string(word)}
		e.term = a.opt.term(e.surface, v.language, &stem)
	}
	if len(word) > 4*a.opt.MaxLength && len(word) > maxCachedWord {
		return e // strangers' pages may be full of them
	}
	if len(v.recent) >= cacheWords/2 {
		v.older, v.recent = v.recent, map[string]*entry{}
	}
	v.recent[e.surface] = e
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
