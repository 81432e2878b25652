package features

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Also is a second reader of the words that an Extractor counts. A page is cut
// into words once, and of each both have what their own options make of it.
// What it gets are numbers of its own, as those of Tokens, which is the same
// for a reader alone.
type Also struct {
	Analyzer  AnalyzerOptions
	Number    func(term string) uint32 // asked once for each word that is remembered
	TextBytes int                      // of the text only the first so many bytes are read; 0 is all
}

// noNumber is what 0 is taken for, which is no term's number.
const noNumber = 1

func (a *Also) number(term string) uint32 {
	if term == "" {
		return 0
	}
	if n := a.Number(term); n != 0 {
		return n
	}
	return noNumber
}

// ReadAlong makes CountBoth read for also too. It is called once, before x counts.
func (x *Extractor) ReadAlong(also Also) {
	also.Analyzer = also.Analyzer.withDefaults()
	x.an.also = &also
}

// CountBoth is CountUnsorted, and appends to words the numbers that the second reader
// has for the terms of title, description and text, in their order.
func (x *Extractor) CountBoth(dst Vector, words []uint32, d Doc) (Vector, []uint32) {
	x.read = words
	x.scan(d, x.an.also != nil)
	words, x.read = x.read, nil
	return x.collect(dst), words
}

// CountAndKeep is CountBoth, and keeps the text's words for CountAround. Of the numbers
// of the second reader it leaves out most of those that came before: who wants each once
// has fewer to look at.
func (x *Extractor) CountAndKeep(dst Vector, words []uint32, d Doc) (Vector, []uint32) {
	x.keep, x.kept, x.keptEntries = true, x.kept[:0], x.keptEntries[:0]
	clear(x.lately[:])
	dst, words = x.CountBoth(dst, words, d)
	x.keep = false
	return dst, words
}

// lately has numbers that the second reader was given, at their last bits; at 0 there
// is none. It fits into a processor's nearest cache.
type lately [1 << 12]uint32

// readText counts the words of the text, of which the second reader has the
// first bytes only. What is cut there is read by itself, up to where it is cut.
func (x *Extractor) readText(text, lang string) {
	end := len(Head(text, x.an.also.TextBytes))
	if x.an.also.TextBytes <= 0 {
		end = len(text)
	}
	along := end
	if end < len(text) {
		along = strings.LastIndexFunc(text[:end], isSpace) + 1
	}
	x.text(text, lang, along)
	x.keeping = false
	x.an.each(text[along:end], lang, x.readRow)
}

// readRow takes what the second reader has of a row of words.
func (x *Extractor) readRow(row []known) {
	if x.keep {
		x.readNew(row)
		return
	}
	n := len(x.read)
	read := slices.Grow(x.read, len(row))[:n+len(row)]
	for i := range row {
		read[n] = row[i].also
		if row[i].also != 0 {
			n++
		}
	}
	x.read = read[:n]
}

// readNew is readRow without the words that came lately. As in all that is done with
// a row there is no branch that a page's words could lead astray.
func (x *Extractor) readNew(row []known) {
	n := len(x.read)
	read := slices.Grow(x.read, len(row))[:n+len(row)]
	for i := range row {
		also := row[i].also
		slot := &x.lately[also%uint32(len(x.lately))]
		read[n] = also
		if also != *slot {
			n++
		}
		*slot = also
		x.lately[0] = 0 // so that 0 is never new
	}
	x.read = read[:n]
}

func isSpace(r rune) bool { return r < utf8.RuneSelf && class[r] == space }

// Head returns the first n bytes of text, and no part of a character.
func Head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
