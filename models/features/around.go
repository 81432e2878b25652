package features

import (
	"sort"
)

// keepRow keeps a row of words of the text that either reader has.
func (x *Extractor) keepRow(row []known) {
	n := len(x.kept)
	x.kept = append(x.kept, row...)
	if x.base != 0 {
		for i := range x.kept[n:] {
			x.kept[n+i].at += int32(x.base)
		}
	}
	if !x.numbered {
		x.keptEntries = append(x.keptEntries, x.an.row.entries[:len(row)]...)
	}
}

// Span is a part of a text, in bytes.
type Span struct{ Start, End int32 }

// CountAround counts a part of the text that CountAndKeep has counted last. It
// does so as CountUnsorted would count a Doc in the same language whose Text is
// before and after with a space between. Only words that a part begins or ends
// within are cut again. before and after lie in text and in one line each. It
// appends to words the numbers that the second reader has for the terms, as
// CountBoth would.
func (x *Extractor) CountAround(dst Vector, words []uint32, text, lang string, around [2]Span) (Vector, []uint32) {
	x.left = x.opt.Lead
	x.read, x.reading = words, x.an.also != nil
	for _, part := range around {
		x.span(text, lang, int(part.Start), int(part.End))
	}
	x.left = 0
	words, x.read, x.reading = x.read, nil, false
	return x.collect(dst), words
}

// span counts text[from:end].
func (x *Extractor) span(text, lang string, from, end int) {
	whole := from // where the first piece begins that begins in the span
	if from > 0 && class[text[from-1]] != space {
		for whole < end && class[text[whole]] != space {
			whole++
		}
		x.each(text[from:whole], lang)
	}
	last := end // where the last piece begins, if it goes on behind the span
	if end < len(text) && class[text[end]] != space {
		for last > whole && class[text[last-1]] != space {
			last--
		}
	}
	first := sort.Search(len(x.kept), func(i int) bool { return int(x.kept[i].at) >= whole })
	for i, w := range x.kept[first:] {
		if int(w.at) >= last {
			break
		}
		if x.reading && w.also != 0 {
			x.read = append(x.read, w.also)
		}
		switch {
		case w.body == leftOut:
		case x.numbered:
			x.add(w.body, 1)
		default:
			x.term(w.body, x.keptEntries[first+i])
		}
	}
	x.each(text[last:end], lang)
}
