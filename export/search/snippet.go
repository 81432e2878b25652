package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Snippet is a part of a page's text. The pieces with odd numbers are hits.
type Snippet []string

// Marked is the snippet with a sign on both sides of each hit.
func (s Snippet) Marked(sign string) string { return strings.Join(s, sign) }

// Marker shows where pages have the words of a query. Not safe for concurrent use.
type Marker struct {
	cut   *cutter
	terms []term
	seen  map[string]map[string]bool // by language: what is a hit
}

// NewMarker returns the marker of a query.
func NewMarker(q Query) *Marker {
	m := &Marker{cut: newCutter(), seen: map[string]map[string]bool{}}
	for _, t := range q.terms {
		if t.words() && t.field != inURL && !t.not {
			m.terms = append(m.terms, t)
		}
	}
	return m
}

const snippetRunes = 240

type span struct{ from, to int }

// Snippet returns the part of a text with most of the query's words, or its beginning.
func (m *Marker) Snippet(text, lang string) Snippet {
	text = strings.Join(strings.Fields(text), " ")
	hits := m.hits(text, lang)
	from := begin(text, best(hits))
	to := from
	for n := 0; n < snippetRunes && to < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	if to < len(text) {
		if space := strings.LastIndexByte(text[from:to], ' '); space > (to-from)/2 {
			to = from + space
		}
	}
	return pieces(text, from, to, hits)
}

func (m *Marker) hits(text, lang string) (hits []span) {
	wanted := m.wanted(lang)
	for at := 0; at < len(text); {
		start := strings.IndexFunc(text[at:], isWordRune)
		if start < 0 {
			break
		}
		start += at
		end := len(text)
		if n := strings.IndexFunc(text[start:], func(r rune) bool { return !isWordRune(r) && r != '\'' }); n >= 0 {
			end = start + n
		}
		hits = append(hits, m.inWord(text, start, end, lang, wanted)...)
		at = end
	}
	return hits
}

// inWord are the hits between two signs: the word, or parts of what is written without
// spaces.
func (m *Marker) inWord(text string, start, end int, lang string, wanted map[string]bool) (hits []span) {
	word := text[start:end]
	stem := m.cut.stems(word, lang)
	if wanted[stem] {
		return []span{{start, end}}
	}
	if !strings.Contains(stem, " ") || word[0] < 0x80 {
		return nil
	}
	for at := 0; at < len(word); {
		first, size := -1, 0
		for _, t := range m.terms {
			if i := strings.Index(word[at:], t.text); i >= 0 && (first < 0 || i < first) {
				first, size = i, len(t.text)
			}
		}
		if first < 0 || size == 0 {
			break
		}
		hits = append(hits, span{start + at + first, start + at + first + size})
		at += first + size
	}
	return hits
}

func (m *Marker) wanted(lang string) map[string]bool {
	if wanted := m.seen[lang]; wanted != nil {
		return wanted
	}
	wanted := map[string]bool{}
	for _, t := range m.terms {
		for word := range strings.FieldsFuncSeq(t.text, func(r rune) bool { return !isWordRune(r) && r != '\'' }) {
			if !t.phrase && len(m.terms) > 1 && !m.cut.means(word, []string{lang}) {
				continue // a stop word beside others
			}
			wanted[m.cut.stems(word, lang)] = true
		}
	}
	delete(wanted, "")
	m.seen[lang] = wanted
	return wanted
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func best(hits []span) int {
	at, most := 0, 0
	for i, h := range hits {
		n, _ := slices.BinarySearchFunc(hits[i:], h.from+snippetRunes*3/4, func(o span, to int) int { return o.to - to })
		if n > most {
			at, most = h.from, n
		}
	}
	return at
}

// begin goes back from a hit by some words, so that it is read in its sentence.
func begin(text string, at int) int {
	const before = 40 // bytes
	if at <= before {
		return 0
	}
	from := at - before
	if space := strings.IndexByte(text[from:at], ' '); space >= 0 {
		return from + space + 1
	}
	for !utf8.RuneStart(text[from]) {
		from++
	}
	return from
}

func pieces(text string, from, to int, hits []span) Snippet {
	s := Snippet{}
	last := from
	for _, h := range hits {
		if h.from >= last && h.to <= to {
			s = append(s, text[last:h.from], text[h.from:h.to])
			last = h.to
		}
	}
	s = append(s, text[last:to])
	if from > 0 {
		s[0] = "… " + s[0]
	}
	if to < len(text) {
		s[len(s)-1] += " …"
	}
	return s
}
