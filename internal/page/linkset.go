package page

import (
	"bytes"
	"strings"
)

// linkSet collects a page's links and, once the text is complete, their anchors and contexts.
type linkSet struct {
	list    []Link
	marks   []mark // one per link
	skipped int

	urls  *Normalizer
	base  *Base  // nil if unknown
	based bool   // <base href> seen
	used  bool   // a relative reference was resolved
	late  bool   // one was resolved before <base>, which applies to it too
	url   []byte // scratch

	open    int // index of the open link in list, or -1
	alt     []byte
	waiting []int // links without text at the start of a line that has no text yet
}

// setBase applies the first <base href>. If it is invalid, the page's own URL stays the base.
func (l *linkSet) setBase(href []byte) {
	if l.based {
		return
	}
	l.based = true
	url, err := l.urls.resolve(l.url[:0], l.base, cut(href, maxAttrBytes))
	if err != nil {
		return
	}
	base := newBase(string(url))
	l.base, l.late = &base, l.used
}

func (l *linkSet) resolve(dst, ref []byte) ([]byte, error) {
	l.used = true
	return l.urls.resolve(dst, l.base, ref)
}

// add appends a link whose text would begin at m, unless it is a fragment of the page itself.
func (l *linkSet) add(kind Kind, target []byte, m mark, nav bool) bool {
	target = bytes.TrimSpace(target)
	if len(target) == 0 || target[0] == '#' {
		return false
	}
	if len(l.list) >= maxLinks || len(target) > maxAttrBytes {
		l.skipped++
		return false
	}
	url, err := l.resolve(l.url[:0], target)
	if err != nil {
		l.skipped++
		return false
	}
	l.url = url
	l.list = append(l.list, Link{URL: string(url), Kind: kind, Nav: nav})
	l.marks = append(l.marks, m)
	if m.fresh || m.start == 0 {
		l.waiting = append(l.waiting, len(l.marks)-1)
	}
	return true
}

func (l *linkSet) last() (*Link, *mark) { return &l.list[len(l.list)-1], &l.marks[len(l.marks)-1] }

// begin opens the last link: the following text is its anchor.
func (l *linkSet) begin() { l.open, l.alt = len(l.list)-1, l.alt[:0] }

func (l *linkSet) wantsAlt() bool { return l.open >= 0 && len(l.alt) == 0 }

// end closes the open link, by its end tag, the next link or the end of the page.
func (l *linkSet) end(at int) {
	if l.open < 0 {
		return
	}
	m := &l.marks[l.open]
	m.end = at
	if len(l.alt) > 0 {
		m.alt = string(l.alt) // describes an image better than the link's title
	}
	l.open = -1
}

// settle decides, at the next text, which links were alone in their block.
func (l *linkSet) settle(breaks int) {
	for _, i := range l.waiting {
		l.marks[i].alone = l.marks[i].breaks != breaks
	}
	l.waiting = l.waiting[:0]
}

func (l *linkSet) finish(text string, headings []mark) {
	var line lineOf
	heading := "" // the last one above the link
	context := make([]byte, 0, 100*len(l.list))
	ends := make([]int, len(l.list)) // end of each link's context in context
	for i := range l.list {
		link, m := &l.list[i], &l.marks[i]
		m.start = m.trimStart(text)
		m.end = max(m.start, m.end)
		for len(headings) > 0 && headings[0].end <= m.start {
			heading, headings = text[headings[0].trimStart(text):headings[0].end], headings[1:]
		}
		if link.Anchor = oneLine(cut(text[m.start:m.end], maxAnchorBytes)); link.Anchor == "" {
			link.Anchor = m.alt
		}
		before := len(context)
		if !m.alone {
			line.find(text, m.start)
			context, link.Around = appendContext(context, text, line, *m)
		}
		if len(context) == before && !link.Nav {
			above := oneLine(heading)
			from, end := firstWords(above)
			context = append(context, above[from:end]...)
			link.Around = Around{}
		}
		ends[i] = len(context)
	}
	all := string(context)
	from := 0
	for i, end := range ends {
		l.list[i].Context, from = all[from:end], end
	}
	l.markMenus(text)
}

// mark is a position in the text, before it is known whether a line begins there.
type mark struct {
	start, end int
	fresh      bool // a line was about to begin
	alone      bool // the link is alone in its block
	breaks     int  // number of line breaks before it
	alt        string
}

func (f *folder) mark() mark {
	at := len(f.out)
	return mark{start: at, end: at, fresh: f.block, breaks: f.breaks}
}

// trimStart skips the white space due at the mark, so that an empty mark lies in its own line.
func (m mark) trimStart(text string) int {
	if m.start < len(text) && (m.start < m.end && text[m.start] == ' ' ||
		(m.start < m.end || m.fresh) && text[m.start] == '\n') {
		return m.start + 1
	}
	return m.start
}

type headings struct {
	marks []mark
	open  int // start of the open heading in the text, or -1
}

func (h *headings) end(at int) {
	if h.open >= 0 && h.open < at {
		h.marks = append(h.marks, mark{start: h.open, end: at})
	}
	h.open = -1
}

func (h *headings) lines(text string) string {
	var b strings.Builder
	for _, m := range h.marks {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(oneLine(cut(text[m.trimStart(text):m.end], maxHeadingBytes)))
	}
	return b.String()
}

func oneLine(s string) string {
	s = strings.TrimRight(s, " \n")
	if strings.IndexByte(s, '\n') < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\n", " ")
}

// lineOf is a line of a text; find is fast for nearby positions.
type lineOf struct{ start, end int }

func (l *lineOf) find(text string, at int) {
	if l.end > 0 && l.start <= at && at <= l.end {
		return
	}
	at = min(at, len(text))
	l.start = strings.LastIndexByte(text[:at], '\n') + 1
	l.end = len(text)
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		l.end = at + n
	}
}

// contextWords is the number of words on each side of a link that form its context.
const contextWords = 10

// maxSideBytes bounds each side in languages without spaces.
const maxSideBytes = 160

// appendContext appends the words around the anchor in its line, and returns their positions.
func appendContext(dst []byte, text string, line lineOf, m mark) ([]byte, Around) {
	from, end := lastWords(text[min(line.start, m.start):m.start])
	at := Around{spanAt(min(line.start, m.start), from, end)}
	if m.end < line.end {
		from, end = firstWords(text[m.end:line.end])
		at[1] = spanAt(m.end, from, end)
	}
	before, after := at[0].of(text), at[1].of(text)
	dst = append(dst, before...)
	if before != "" && after != "" {
		dst = append(dst, ' ')
	}
	return append(dst, after...), at
}

func spanAt(base, from, end int) Span {
	if from == end {
		return Span{}
	}
	return Span{int32(base + from), int32(base + end)}
}

func (s Span) of(text string) string { return text[s.Start:s.End] }

func lastWords(s string) (from, end int) {
	s = strings.TrimRight(s, " ")
	i := len(s)
	for words := 0; i > 0; i-- {
		if s[i-1] == ' ' {
			if words++; words == contextWords {
				break
			}
		}
		if len(s)-i > maxSideBytes {
			break
		}
	}
	for i < len(s) && s[i]&0xC0 == 0x80 {
		i++
	}
	return len(s) - len(strings.TrimLeft(s[i:], " ")), len(s)
}

func firstWords(s string) (from, end int) {
	all := len(s)
	s = strings.TrimLeft(s, " ")
	from = all - len(s)
	words := 0
	for i := range len(s) {
		if s[i] == ' ' {
			words++
		}
		if words == contextWords || i > maxSideBytes {
			s = cut(s, i)
			break
		}
	}
	return from, from + len(strings.TrimRight(s, " "))
}
