package page

import (
	"bytes"
	"strings"
)

// anchorStart handles <a>, which also ends an anchor that is still open.
func (p *parser) anchorStart() {
	p.anchorEnd()
	p.inBody()
	href, ok := p.get("href")
	if !ok {
		if href, ok = p.get("xlink:href"); !ok {
			return
		}
	}
	if !p.addLink(Anchor, href) {
		return
	}
	p.link = len(p.page.Links) - 1
	rel, _ := p.get("rel")
	p.page.Links[p.link].NoFollow = hasWord(rel, "nofollow") || hasWord(rel, "ugc") || hasWord(rel, "sponsored")
	p.linkLang()
	p.alt = p.alt[:0]
	if title, ok := p.get("title"); ok {
		p.marks[p.link].alt = p.attrText(title)
	} else if label, ok := p.get("aria-label"); ok {
		p.marks[p.link].alt = p.attrText(label)
	}
}

// linkLang takes the hreflang of the link that was added last.
func (p *parser) linkLang() {
	if lang, ok := p.get("hreflang"); ok {
		p.page.Links[len(p.page.Links)-1].Lang = LangCode(string(cut(lang, 35)))
	}
}

// anchorEnd closes the open link, by its end tag, the next link or the page's end.
func (p *parser) anchorEnd() {
	if p.link < 0 {
		return
	}
	m := &p.marks[p.link]
	m.end = len(p.text.out)
	if len(p.alt) > 0 {
		m.alt = string(p.alt) // says more of an image than the link's title
	}
	p.link = -1
}

// image takes the alternative text of an image in a link.
func (p *parser) image() {
	p.inBody()
	if p.link < 0 || len(p.alt) > 0 {
		return
	}
	if alt, ok := p.get("alt"); ok {
		p.alt = append(p.alt, p.attrText(alt)...)
	}
}

// areaOrFrame handles the links that have no text of their own.
func (p *parser) areaOrFrame() {
	key, kind, label := "src", Frame, "title"
	if string(p.name) == "area" {
		key, kind, label = "href", Anchor, "alt"
	} else if p.noscript.inside() {
		return
	}
	target, ok := p.get(key)
	if !ok || !p.addLink(kind, target) {
		return
	}
	last := len(p.page.Links) - 1
	if v, ok := p.get(label); ok {
		p.marks[last].alt = p.attrText(v)
	}
	rel, _ := p.get("rel")
	p.page.Links[last].NoFollow = hasWord(rel, "nofollow")
}

// baseElement takes the first <base href>. It holds for the links that follow.
func (p *parser) baseElement() {
	href, ok := p.get("href")
	if !ok || p.based {
		return
	}
	url, err := p.urls.resolve(p.url[:0], p.base, cut(href, maxAttrBytes))
	if err != nil {
		return
	}
	base := newBase(string(url))
	p.base, p.based = &base, true
}

// addLink appends a link to target, which is an attribute's value, and says
// whether it did. A fragment of the page itself is no link, and nothing in a
// template is.
func (p *parser) addLink(kind Kind, target []byte) bool {
	target = bytes.TrimSpace(target)
	if len(target) == 0 || target[0] == '#' || p.hidden.tag == "template" {
		return false
	}
	if len(p.page.Links) >= maxLinks || len(target) > maxAttrBytes {
		p.page.Skipped++
		return false
	}
	url, err := p.urls.resolve(p.url[:0], p.base, target)
	if err != nil {
		p.page.Skipped++
		return false
	}
	p.url = url
	p.page.Links = append(p.page.Links, Link{URL: string(url), Kind: kind, Nav: p.nav.inside()})
	at := len(p.text.out)
	p.marks = append(p.marks, mark{start: at, end: at, fresh: p.text.block, breaks: p.text.breaks})
	if p.text.block || at == 0 {
		p.waiting = append(p.waiting, len(p.marks)-1)
	}
	return true
}

// settle decides, when the next text has come, which links stood alone in their
// block: those behind which a block ended before it came.
func (p *parser) settle() {
	for _, i := range p.waiting {
		p.marks[i].alone = p.marks[i].breaks != p.text.breaks
	}
	p.waiting = p.waiting[:0]
}

// attrText returns an attribute that holds text, folded to one line.
func (p *parser) attrText(v []byte) string {
	f := folder{limit: maxAnchorBytes}
	f.write(cut(v, maxAttrBytes))
	return string(f.out)
}

// finishLinks gives each link its anchor, context and place.
func (p *parser) finishLinks() {
	links, text := p.page.Links, p.page.Text
	var line lineOf
	heading := "" // the nearest above
	headings := p.headings
	context := make([]byte, 0, 100*len(links))
	ends := make([]int, len(links)) // of each link's context in context
	for i := range links {
		m := &p.marks[i]
		m.start = p.trimStart(*m)
		m.end = max(m.start, m.end)
		for len(headings) > 0 && headings[0].end <= m.start {
			heading, headings = text[p.trimStart(headings[0]):headings[0].end], headings[1:]
		}
		if links[i].Anchor = oneLine(cut(text[m.start:m.end], maxAnchorBytes)); links[i].Anchor == "" {
			links[i].Anchor = m.alt
		}
		before := len(context)
		if !m.alone {
			line.find(text, m.start)
			context, links[i].Around = appendContext(context, text, line, *m)
		}
		if len(context) == before && !links[i].Nav {
			above := oneLine(heading)
			from, end := firstWords(above)
			context = append(context, above[from:end]...)
			links[i].Around = Around{}
		}
		ends[i] = len(context)
	}
	all := string(context)
	from := 0
	for i, end := range ends {
		links[i].Context, from = all[from:end], end
	}
	p.markMenus()
}

// lineOf is a line of a text, found again fast when asked for nearby places.
type lineOf struct{ start, end int }

// find sets l to the line around at.
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

// contextWords is how many words on each side of a link make its context.
const contextWords = 10

// maxSideBytes bounds a side of the context in languages that set no spaces.
const maxSideBytes = 160

// appendContext appends the words of the line before and after the anchor, and says
// where they are.
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

// spanAt is a part of a line that begins at base.
func spanAt(base, from, end int) Span {
	if from == end {
		return Span{}
	}
	return Span{int32(base + from), int32(base + end)}
}

func (s Span) of(text string) string { return text[s.Start:s.End] }

// lastWords returns where the last ContextWords words of a line are.
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

// firstWords returns where the first ContextWords words of a line are.
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

// hasWord says whether the space-separated list v has word, which is in lower case.
func hasWord(v []byte, word string) bool {
	if len(v) < len(word) {
		return false
	}
	for f := range bytes.FieldsSeq(v) {
		if equalFold(bytes.Trim(f, ","), word) {
			return true
		}
	}
	return false
}
