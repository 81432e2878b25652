package page

import "strings"

// mark is a place in the text; alt stands in for it when it is empty.
// A line begins with its first text, so where a line was due when the mark was
// set is known only later.
type mark struct {
	start, end int
	fresh      bool // a line was about to begin
	alone      bool // the link's block has no text
	breaks     int  // breaks of lines before it
	alt        string
}

// mark returns one for what is written next.
func (f *folder) mark() mark {
	at := len(f.out)
	return mark{start: at, end: at, fresh: f.block, breaks: f.breaks}
}

// trimStart skips the white space that was due when the mark was set, so that
// the mark stands in its own line even when it is empty.
func (m mark) trimStart(text string) int {
	if m.start < len(text) && (m.start < m.end && text[m.start] == ' ' ||
		(m.start < m.end || m.fresh) && text[m.start] == '\n') {
		return m.start + 1
	}
	return m.start
}

// headings are the marks of a page's headings.
type headings struct {
	marks []mark
	open  int // where the open heading starts in the text, or -1
}

// end closes the open heading, by its end tag or by the next heading.
func (h *headings) end(at int) {
	if h.open >= 0 && h.open < at {
		h.marks = append(h.marks, mark{start: h.open, end: at})
	}
	h.open = -1
}

// lines returns the headings of a text, a line each.
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

// oneLine returns s, cut out of folded text, with line ends made spaces; s
// itself when it has none.
func oneLine(s string) string {
	s = strings.TrimRight(s, " \n")
	if strings.IndexByte(s, '\n') < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\n", " ")
}
