package page

import (
	"bytes"
	"strings"
)

// startTag handles a start tag. Elements not listed are inline and have no effect.
func (p *parser) startTag() {
	p.in.start(p.name)
	p.handlers()
	switch string(p.name) {
	case "html", "body":
		p.bodyStart()
	case "title":
		p.titleElement()
	case "meta":
		p.meta()
	case "base":
		if href, ok := p.get("href"); ok && !p.in.hidden.inside() {
			p.links.setBase(href)
		}
	case "link":
		p.linkElement()
	case "script", "style", "noembed", "iframe":
		p.rawElement()
	case "noscript":
		p.in.noscript.open(p.name)
	case "template", "svg", "select", "datalist": // their text is not prose that a reader sees
		if (!p.empty || string(p.name) != "svg") && !p.shadowRoot() {
			p.in.hidden.open(p.name)
		}
	case "a":
		p.anchorStart()
	case "area", "frame":
		p.areaOrFrame()
	case "img":
		p.image()
	case "br":
		p.text.breakBlock()
	case "td", "th":
		p.text.space = true // the cells of a row form a line
		p.in.navStart(&p.scanner)
	default:
		p.blockStart()
	}
}

// shadowRoot reports a template shown in place of the element around it, and begins a line.
func (p *parser) shadowRoot() bool {
	if string(p.name) != "template" {
		return false
	}
	mode, _ := p.get("shadowrootmode")
	if !equalFold(mode, "open") && !equalFold(mode, "closed") {
		return false
	}
	if !p.in.hidden.inside() {
		p.text.breakBlock()
	}
	return true
}

// bodyStart handles <html> and <body>, which are never navigation, even with class "has-menu".
func (p *parser) bodyStart() {
	if string(p.name) == "body" {
		p.in.head = false
	}
	if p.lang == "" {
		v, ok := p.get("lang")
		if !ok {
			v, _ = p.get("xml:lang")
		}
		p.lang = string(cut(v, 35))
	}
}

func (p *parser) rawElement() {
	switch string(p.name) {
	case "iframe":
		p.areaOrFrame()
		p.content("iframe")
	case "noembed":
		p.content("noembed")
	default:
		kind, _ := p.get("type")
		data := equalFold(kind, "application/ld+json")
		text, ok := p.content(string(p.name))
		if data {
			p.linkedData(text)
		} else if string(p.name) == "script" {
			p.script(kind, text)
		}
		if !ok && !p.empty {
			p.rest()
		}
	}
}

// titleElement reads the page's title, but not a picture's.
func (p *parser) titleElement() {
	if p.in.hidden.inside() {
		return
	}
	if text, _ := p.content("title"); len(p.title.out) == 0 {
		p.title.write(decodeText(cut(text, maxAttrBytes)))
	}
}

func (p *parser) blockStart() {
	if !isBlock(p.name) {
		if string(p.name) == "span" {
			p.in.navStart(&p.scanner)
		}
		return
	}
	p.in.block(p.name)
	p.text.breakBlock()
	switch string(p.name) {
	case "article", "main":
		p.in.article++
	case "h1", "h2", "h3", "h4", "h5", "h6":
		p.headings.end(len(p.text.out))
		if p.name[1] <= '3' {
			p.headings.open = len(p.text.out)
		}
		return
	case "textarea", "xmp", "plaintext":
		p.literal()
		return
	case "p", "ul", "ol", "dl", "table", "pre", "form", "hr":
		p.headings.end(len(p.text.out)) // these cannot be in a heading, so its end tag is missing
	}
	p.in.navStart(&p.scanner)
}

// literal reads an element whose content is text without tags.
func (p *parser) literal() {
	if string(p.name) == "plaintext" {
		p.words(p.rest())
		return
	}
	text, _ := p.content(string(p.name))
	if string(p.name) == "textarea" { // the only one of the three with entities
		text = decodeText(text)
	}
	p.words(text)
}

func (p *parser) endTag() {
	if string(p.name) == "template" && !p.in.hidden.inside() { // end of a shadow root
		p.text.breakBlock()
	}
	p.in.end(p.name)
	switch string(p.name) {
	case "a":
		p.links.end(len(p.text.out))
	case "head":
		p.in.head = false
	case "br":
		p.text.breakBlock()
	case "h1", "h2", "h3", "h4", "h5", "h6":
		p.headings.end(len(p.text.out))
		p.text.breakBlock()
	case "article", "main":
		p.in.article = max(0, p.in.article-1)
		p.text.breakBlock()
	default:
		if isBlock(p.name) {
			p.text.breakBlock()
		}
	}
}

// isBlock reports elements that start a new line. Table cells do not, so that a row stays together.
func isBlock(name []byte) bool {
	switch string(name) {
	case "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog",
		"dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frameset", "h1", "h2", "h3",
		"h4", "h5", "h6", "header", "hgroup", "hr", "li", "listing", "main", "menu", "nav", "noframes", "ol", "option",
		"p", "plaintext", "pre", "search", "section", "summary", "table", "tbody", "textarea", "tfoot", "thead", "tr",
		"ul", "xmp":
		return true
	}
	return false
}

func (p *parser) anchorStart() {
	p.links.end(len(p.text.out))
	p.in.body()
	href, ok := p.get("href")
	if !ok {
		if href, ok = p.get("xlink:href"); !ok {
			return
		}
	}
	if !p.addLink(Anchor, href) {
		return
	}
	p.links.begin()
	link, mark := p.links.last()
	rel, _ := p.get("rel")
	p.licenceLink(rel, href)
	link.NoFollow = hasWord(rel, "nofollow") || hasWord(rel, "ugc") || hasWord(rel, "sponsored")
	link.Lang = p.hreflang()
	if title, ok := p.get("title"); ok {
		mark.alt = attrText(title)
	} else if label, ok := p.get("aria-label"); ok {
		mark.alt = attrText(label)
	}
}

func (p *parser) hreflang() string {
	lang, ok := p.get("hreflang")
	if !ok {
		return ""
	}
	return LangCode(string(cut(lang, 35)))
}

func (p *parser) image() {
	p.in.body()
	if p.links.wantsAlt() {
		if alt, ok := p.get("alt"); ok {
			p.links.alt = append(p.links.alt, attrText(alt)...)
		}
	}
}

func (p *parser) areaOrFrame() {
	key, kind, label := "src", Frame, "title"
	if string(p.name) == "area" {
		key, kind, label = "href", Anchor, "alt"
	} else if p.in.noscript.inside() {
		return
	}
	target, ok := p.get(key)
	if !ok || !p.addLink(kind, target) {
		return
	}
	link, mark := p.links.last()
	if v, ok := p.get(label); ok {
		mark.alt = attrText(v)
	}
	rel, _ := p.get("rel")
	link.NoFollow = hasWord(rel, "nofollow")
}

// addLink appends a link to an attribute's target, if it is valid and not in a template.
func (p *parser) addLink(kind Kind, target []byte) bool {
	return p.in.hidden.tag != "template" && p.links.add(kind, target, p.text.mark(), p.in.nav.inside())
}

// attrText returns an attribute with text, folded to one line.
func attrText(v []byte) string {
	f := folder{limit: maxAnchorBytes}
	f.write(cut(v, maxAttrBytes))
	return string(f.out)
}

// hasWord reports whether the space-separated list v has word, which is in lower case.
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

// region is an open element. It counts only elements of its own name, so nesting costs nothing and
// a missing end tag of another element does no harm.
type region struct {
	tag   string // "" if outside
	depth int
}

func (r *region) open(name []byte) {
	if r.tag == "" {
		r.tag, r.depth = string(name), 1
	}
}

func (r *region) inside() bool { return r.tag != "" }

func (r *region) start(name []byte) {
	switch {
	case r.tag == "":
	case r.tag == "td":
		switch string(name) {
		case "table":
			r.depth++
		case "td", "th", "tr":
			if r.depth == 1 { // end tags are optional in tables
				r.tag = ""
			}
		}
	case r.tag == string(name):
		r.depth++
	}
}

func (r *region) end(name []byte) {
	switch {
	case r.tag == "":
	case r.tag == "td":
		switch string(name) {
		case "table":
			r.depth--
		case "td", "tr":
			if r.depth == 1 {
				r.depth = 0
			}
		}
	case r.tag == string(name):
		r.depth--
	}
	if r.depth <= 0 {
		r.tag = ""
	}
}

// place is the parser's position in the markup.
type place struct {
	head     bool   // still in the head
	noscript region // links of its frames are hit counters
	hidden   region // template, svg and others, whose text is not shown
	nav      region
	article  int // number of open article and main elements
}

func (in *place) start(name []byte) {
	if in.endsHidden(name) || in.hidden.tag == "svg" && breaksOut(name) {
		in.hidden = region{}
	}
	in.hidden.start(name)
	in.nav.start(name)
	in.noscript.start(name)
}

func (in *place) end(name []byte) {
	if in.endsHidden(name) || in.hidden.tag == "svg" && isBlock(name) {
		in.hidden = region{}
	}
	in.hidden.end(name)
	in.nav.end(name)
	in.noscript.end(name)
}

// endsHidden reports a table's tag that ends an svg or select with a missing end tag.
func (in *place) endsHidden(name []byte) bool {
	if in.hidden.tag == "" || in.hidden.tag == "template" {
		return false
	}
	switch string(name) {
	case "td", "th", "tr", "tbody", "thead", "tfoot", "table", "caption":
		return true
	}
	return false
}

// breaksOut reports a start tag that ends a picture (HTML standard, "tokens in foreign content").
func breaksOut(name []byte) bool {
	switch string(name) {
	case "b", "big", "br", "code", "em", "embed", "i", "img", "nobr", "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "tt", "u", "var":
		return true
	}
	return false
}

// body ends the head at content, except in <noscript>.
func (in *place) body() {
	if !in.noscript.inside() {
		in.head = false
	}
}

// block handles an element that begins a line. As in a browser, it ends an unclosed svg or select.
func (in *place) block(name []byte) {
	in.body()
	if in.hidden.tag != "template" && string(name) != "option" {
		in.hidden = region{}
	}
}

// navStart enters a navigation region, or ends an unclosed one where the main content starts.
func (in *place) navStart(tag *scanner) {
	role, _ := tag.get("role")
	if string(tag.name) == "main" || string(tag.name) == "article" || hasWord(role, "main") {
		in.nav = region{}
		return
	}
	if in.nav.inside() {
		return
	}
	switch string(tag.name) {
	case "nav", "aside", "menu":
		in.nav.open(tag.name)
		return
	case "header", "footer":
		if in.article == 0 { // inside an article they are its title and notes
			in.nav.open(tag.name)
		}
		return
	case "div", "ul", "ol", "dl", "table", "section", "span", "td":
	default:
		return
	}
	class, _ := tag.get("class")
	id, _ := tag.get("id")
	if navRole(role) || saysNav(class) || saysNav(id) {
		in.nav.open(tag.name)
	}
}

func navRole(v []byte) bool {
	for role := range bytes.FieldsSeq(v) {
		switch string(role) {
		case "navigation", "banner", "contentinfo", "complementary", "menu", "menubar", "search":
			return true
		}
	}
	return false
}

// saysNav reports a navigation name in a class or id: "nav-bar", "leftMenu", "sphinxsidebar".
func saysNav(v []byte) bool {
	for name := range bytes.FieldsSeq(cut(v, 256)) {
		if navName(name) {
			return true
		}
	}
	return false
}

// navName judges a name by its parts, but "has-sidebar" or an entry's header is no navigation.
func navName(name []byte) bool {
	var arr [64]byte
	strong, weak, piece := false, false, false
	separator := func(r rune) bool { return r == '-' || r == '_' || r == ':' }
	for part := range bytes.FieldsFuncSeq(appendLower(arr[:0], name), separator) {
		switch string(bytes.TrimRight(part, "0123456789")) {
		case "has", "with", "no", "without":
			return false
		case "article", "entry", "post", "section", "card", "content", "page", "panel", "modal", "table":
			piece = true
		case "header", "footer", "related", "toolbar", "banner":
			weak = true
		case "menu", "submenu", "crumbs", "masthead", "topbar", "pager", "pagination", "headerlink", "sitemap":
			strong = true
		default:
			strong = strong || navPart(part)
		}
	}
	return strong || weak && !piece
}

// navPart recognises compound names: "sphinxsidebar", "navheader", "topmenu".
func navPart(part []byte) bool {
	for _, end := range []string{"nav", "menu", "navi", "navbar", "sidebar", "navigation", "breadcrumb", "breadcrumbs", "footer"} {
		if bytes.HasSuffix(part, []byte(end)) {
			return true
		}
	}
	return bytes.HasPrefix(part, []byte("nav"))
}

// An unmarked menu line has menuLinks links and at most one letter in menuRest outside them.
const (
	menuLinks = 3
	menuRest  = 6
)

// markMenus marks links of lines like "Home | News | Contact", but not of lists.
func (l *linkSet) markMenus(text string) {
	var line lineOf
	for i := 0; i < len(l.list); {
		line.find(text, l.marks[i].start)
		j := i + 1
		for j < len(l.list) && !l.marks[i].alone && !l.marks[j].alone && l.marks[j].start >= line.start && l.marks[j].start < line.end {
			j++
		}
		if j-i >= menuLinks && isMenu(text, line, l.marks[i:j]) {
			for k := i; k < j; k++ {
				l.list[k].Nav = true
			}
		}
		i = j
	}
}

func isMenu(text string, line lineOf, marks []mark) bool {
	outside, inside, commas := lettersOf(text, line, marks)
	return inside > 0 && outside*menuRest <= inside+outside && 2*commas < len(marks)
}

// lettersOf counts a line's letters outside and inside links, and the commas before and between
// these.
func lettersOf(text string, line lineOf, marks []mark) (outside, inside, commas int) {
	at := line.start
	for i := range marks {
		start, end := min(max(at, marks[i].start), line.end), min(max(at, marks[i].end), line.end)
		outside += letters(text[at:start])
		inside += letters(text[start:end])
		commas += strings.Count(text[at:start], ",") + strings.Count(text[at:start], ";")
		at = end
	}
	return outside + letters(text[at:line.end]), inside, commas
}

func letters(s string) int {
	n := 0
	for i := range len(s) {
		if c := s[i]; isLetter(c) || isDigit(c) || c >= 0x80 {
			n++
		}
	}
	return n
}
