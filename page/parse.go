package page

import (
	"errors"
	"fmt"
	"mime"
	"strings"
)

// Limits on what is kept of a page; the rest of it is read and left out.
const (
	MaxTextBytes = 1 << 20
	MaxLinks     = 10_000

	maxTitleBytes   = 1024
	maxHeadingBytes = 512
	maxAnchorBytes  = 512
	maxAttrBytes    = 16 << 10 // of an attribute's value, before entities are decoded
)

// ErrType reports a body that is neither HTML nor plain text.
var ErrType = errors.New("not HTML or plain text")

// ParseOptions is what is known of a page besides its bytes. The zero value is
// an HTML page of unknown address: its relative links are left out.
type ParseOptions struct {
	URL         string      // where the bytes came from, after redirects
	ContentType string      // header Content-Type; "" is HTML
	RobotsTag   string      // header X-Robots-Tag, several joined by line ends
	Normalizer  *Normalizer // nil is that of the package's Normalize
}

// Parse reads a page of HTML, of any quality, or of plain text. Time is linear
// in body; memory beyond a copy in UTF-8 (of bodies in other encodings) is
// bounded by the limits above. It does not change or keep body. Errors: ErrType,
// or those of Normalize for opt.URL. Broken markup is no error.
func Parse(body []byte, opt ParseOptions) (*Page, error) {
	plain, err := isPlain(opt.ContentType)
	if err != nil {
		return nil, fmt.Errorf("page %s: %w: %q", opt.URL, err, abbreviate(opt.ContentType))
	}
	p := &parser{page: &Page{}, urls: opt.Normalizer, head: true, link: -1, heading: -1}
	if p.urls == nil {
		p.urls = standard
	}
	if opt.URL != "" {
		base, err := p.urls.Base(opt.URL)
		if err != nil {
			return nil, fmt.Errorf("page: %w", err)
		}
		p.base, p.page.URL = &base, base.url
	}
	p.scanner.page, p.page.Charset = decode(body, opt.ContentType)
	p.text = folder{limit: MaxTextBytes, out: make([]byte, 0, min(len(body), MaxTextBytes))}
	p.title = folder{limit: maxTitleBytes}
	p.page.robotsHeader(opt.RobotsTag)
	if plain {
		p.plainText()
	} else {
		p.html()
	}
	p.finish()
	return p.page, nil
}

// isPlain tells plain text from HTML by the media type.
func isPlain(contentType string) (bool, error) {
	if contentType == "" {
		return false, nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil { // a bad parameter doesn't make the type unknown
		media, _, _ = strings.Cut(contentType, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	switch media {
	case "text/html", "application/xhtml+xml", "application/xml", "text/xml", "":
		return false, nil
	}
	if strings.HasPrefix(media, "text/") {
		return true, nil
	}
	return false, ErrType
}

// parser is the state of one pass over a page.
type parser struct {
	scanner
	page *Page
	urls *Normalizer
	base *Base // nil when unknown

	text, title folder
	head        bool   // still in the head
	based       bool   // <base href> seen
	lang        string // as the page declares it
	social      string // title of og:title
	noscript    region // links of a frame in it are counters of visits
	hidden      region // template, svg…: text in it isn't shown
	nav         region
	article     int // open article and main elements

	link     int // index of the open link in page.Links, or -1
	alt      []byte
	marks    []mark // one a link
	waiting  []int  // links without text at the start of a line that hasn't begun
	heading  int    // where the open heading starts in text, or -1
	headings []mark
	url      []byte // scratch
}

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

// html reads tags and text until the end of the page.
func (p *parser) html() {
	for {
		switch p.next() {
		case endOfPage:
			return
		case textToken:
			p.words(decodeText(p.scanner.text))
		case startTag:
			p.startTag()
		case endTag:
			p.endTag()
		}
	}
}

// words adds text that is shown.
func (p *parser) words(s []byte) {
	if p.hidden.inside() {
		return
	}
	if p.head {
		if p.noscript.inside() || onlySpace(s) {
			return
		}
		p.head = false
	}
	n := len(p.text.out)
	p.text.write(s)
	if len(p.waiting) > 0 && len(p.text.out) > n {
		p.settle()
	}
}

func onlySpace(s []byte) bool {
	for _, c := range s {
		if !isSpace(c) {
			return false
		}
	}
	return true
}

// startTag acts on a start tag. Elements not named here are inline and mean nothing.
func (p *parser) startTag() {
	p.hidden.start(p.name)
	p.nav.start(p.name)
	p.noscript.start(p.name)
	switch string(p.name) {
	case "html", "body":
		p.bodyStart()
	case "title":
		p.titleElement()
	case "meta":
		p.meta()
	case "base":
		p.baseElement()
	case "link":
		p.linkElement()
	case "script", "style", "noembed", "iframe":
		p.rawElement()
	case "noscript":
		p.noscript.open(p.name)
	case "template", "svg", "select", "datalist":
		p.hide()
	case "a":
		p.anchorStart()
	case "area", "frame":
		p.areaOrFrame()
	case "img":
		p.image()
	case "br":
		p.text.breakBlock()
	case "td", "th":
		p.text.space = true // the cells of a row are a line
		p.navStart()
	default:
		p.blockStart()
	}
}

// bodyStart handles <html> and <body>; neither can be a navigation region,
// though templates like to name them "has-menu".
func (p *parser) bodyStart() {
	if string(p.name) == "body" {
		p.head = false
	}
	if p.lang == "" {
		v, ok := p.get("lang")
		if !ok {
			v, _ = p.get("xml:lang")
		}
		p.lang = string(cut(v, 35))
	}
}

// hide enters an element whose text isn't prose that a reader sees: inert
// (template), a picture's labels, the choices of a form.
func (p *parser) hide() {
	if !p.empty || string(p.name) != "svg" {
		p.hidden.open(p.name)
	}
}

// rawElement skips script, style and what stands in for frames.
func (p *parser) rawElement() {
	switch string(p.name) {
	case "iframe":
		p.areaOrFrame()
		p.enter("iframe", true)
	case "script":
		p.enter("script", p.empty)
	case "style":
		p.enter("style", p.empty)
	default:
		p.enter("noembed", true)
	}
}

// titleElement reads the page's title; a title in a picture is none.
func (p *parser) titleElement() {
	if p.hidden.inside() {
		return
	}
	p.enter("title", true)
	if p.within == "" || !p.rawText() {
		return
	}
	if len(p.title.out) == 0 {
		p.title.write(decodeText(cut(p.scanner.text, maxAttrBytes)))
	}
}

// inBody takes note of content, which ends the head; but what a head has for
// readers without scripts is not shown.
func (p *parser) inBody() {
	if !p.noscript.inside() {
		p.head = false
	}
}

// blockStart handles the elements that break lines.
func (p *parser) blockStart() {
	if !isBlock(p.name) {
		if string(p.name) == "span" {
			p.navStart()
		}
		return
	}
	p.inBody()
	p.text.breakBlock()
	if p.hidden.tag != "template" && string(p.name) != "option" {
		p.hidden = region{} // as in a browser, a block ends a forgotten svg or select
	}
	switch string(p.name) {
	case "article", "main":
		p.article++
	case "h1", "h2", "h3", "h4", "h5", "h6":
		p.headingEnd()
		if p.name[1] <= '3' {
			p.heading = len(p.text.out)
		}
		return
	case "textarea", "xmp", "plaintext":
		p.literal()
		return
	case "p", "ul", "ol", "dl", "table", "pre", "form", "hr":
		p.headingEnd() // its end tag was forgotten: these don't stand in headings
	}
	p.navStart()
}

// literal reads an element whose content is text without tags.
func (p *parser) literal() {
	switch string(p.name) {
	case "textarea":
		p.enter("textarea", true)
	case "xmp":
		p.enter("xmp", true)
	default:
		p.within = "plaintext"
	}
	if p.within != "" && p.rawText() {
		p.words(p.scanner.text)
	}
}

// endTag acts on an end tag.
func (p *parser) endTag() {
	p.hidden.end(p.name)
	p.nav.end(p.name)
	p.noscript.end(p.name)
	switch string(p.name) {
	case "a":
		p.anchorEnd()
	case "head":
		p.head = false
	case "br":
		p.text.breakBlock()
	case "h1", "h2", "h3", "h4", "h5", "h6":
		p.headingEnd()
		p.text.breakBlock()
	case "article", "main":
		p.article = max(0, p.article-1)
		p.text.breakBlock()
	default:
		if isBlock(p.name) {
			p.text.breakBlock()
		}
	}
}

// headingEnd closes the open heading, by its end tag or by the next heading.
func (p *parser) headingEnd() {
	if p.heading >= 0 && p.heading < len(p.text.out) {
		p.headings = append(p.headings, mark{start: p.heading, end: len(p.text.out)})
	}
	p.heading = -1
}

// isBlock says whether an element starts a new line. Cells do not: the cells of
// a row belong together.
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

// plainText takes lines as they come: an empty one ends a block.
func (p *parser) plainText() {
	for line := range strings.Lines(string(p.scanner.page)) {
		if strings.TrimSpace(line) == "" {
			p.text.breakBlock()
			continue
		}
		p.text.write([]byte(line))
	}
}

// finish makes the page's strings of what the pass collected.
func (p *parser) finish() {
	p.anchorEnd()
	p.headingEnd()
	p.text.breakBlock()
	p.settle()
	pg := p.page
	pg.Text = string(p.text.out)
	pg.Title = string(p.title.out)
	if pg.Title == "" {
		pg.Title = p.social
	}
	pg.Headings = p.headingLines()
	p.finishLinks()
	pg.Lang = language(p.lang, pg.Text)
	pg.Checksum = pg.checksum()
	pg.Sketch = simhash(pg.Text)
}

// headingLines returns the headings, a line each.
func (p *parser) headingLines() string {
	var b strings.Builder
	for _, h := range p.headings {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(oneLine(cut(p.page.Text[p.trimStart(h):h.end], maxHeadingBytes)))
	}
	return b.String()
}

// trimStart skips the white space that was due when the mark was set, so that
// the mark stands in its own line even when it is empty.
func (p *parser) trimStart(m mark) int {
	text := p.page.Text
	if m.start < len(text) && (m.start < m.end && text[m.start] == ' ' ||
		(m.start < m.end || m.fresh) && text[m.start] == '\n') {
		return m.start + 1
	}
	return m.start
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
