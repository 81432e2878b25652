package page

import "bytes"

// linkSet collects the links of a page in their order, and gives each its anchor,
// context and place once the text is whole.
type linkSet struct {
	list    []Link
	marks   []mark // one a link
	skipped int

	urls  *Normalizer
	base  *Base  // nil when unknown
	based bool   // <base href> seen
	used  bool   // a reference was resolved
	late  bool   // one was before <base>, which holds for it too
	url   []byte // scratch

	open    int // index of the open link in list, or -1
	alt     []byte
	waiting []int // links without text at the start of a line that hasn't begun
}

// setBase takes the first <base href>. Where it cannot be used, the page's own URL stays the
// base, and no later <base> counts.
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

// resolve appends to dst, which is empty, the normal form of a reference of the page.
func (l *linkSet) resolve(dst, ref []byte) ([]byte, error) {
	l.used = true
	return l.urls.resolve(dst, l.base, ref)
}

// add appends a link whose text would begin at m, and says whether it did. A
// fragment of the page itself is no link.
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

// last returns the link that was added last, with its mark.
func (l *linkSet) last() (*Link, *mark) { return &l.list[len(l.list)-1], &l.marks[len(l.marks)-1] }

// begin opens the link that was added last: the text that follows is its anchor.
func (l *linkSet) begin() { l.open, l.alt = len(l.list)-1, l.alt[:0] }

// wantsAlt says whether a link is open that has no alternative text yet.
func (l *linkSet) wantsAlt() bool { return l.open >= 0 && len(l.alt) == 0 }

// end closes the open link, by its end tag, the next link or the page's end.
func (l *linkSet) end(at int) {
	if l.open < 0 {
		return
	}
	m := &l.marks[l.open]
	m.end = at
	if len(l.alt) > 0 {
		m.alt = string(l.alt) // says more of an image than the link's title
	}
	l.open = -1
}

// settle decides, when the next text has come, which links stood alone in their
// block: those behind which a block ended before it came.
func (l *linkSet) settle(breaks int) {
	for _, i := range l.waiting {
		l.marks[i].alone = l.marks[i].breaks != breaks
	}
	l.waiting = l.waiting[:0]
}

// finish gives each link its anchor, context and place in a text with headings.
func (l *linkSet) finish(text string, headings []mark) {
	var line lineOf
	heading := "" // the nearest above
	context := make([]byte, 0, 100*len(l.list))
	ends := make([]int, len(l.list)) // of each link's context in context
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
