package page

import (
	"errors"
	"fmt"
	"strings"
)

// Limits of what is kept of a page.
const (
	maxTextBytes = 1 << 20
	maxLinks     = 10_000

	maxTitleBytes   = 1024
	maxHeadingBytes = 512
	maxAnchorBytes  = 512
	maxAttrBytes    = 16 << 10 // of an attribute's value, before entities are decoded
)

// ErrType reports a body without text that fossick reads.
var ErrType = errors.New("neither HTML nor plain text nor a document that can be read")

// ParseOptions is what is known of a page besides its bytes. The zero value means an HTML page of
// unknown address, whose relative links are left out.
type ParseOptions struct {
	URL         string      // URL after redirects
	ContentType string      // header Content-Type; "" means HTML
	RobotsTag   string      // header X-Robots-Tag, several joined by line ends
	Normalizer  *Normalizer // nil: as for Normalize
	// Stop, if set, is called every few milliseconds. Its error ends Parse, which returns it.
	Stop func() error
}

// Parse reads a page of HTML, however broken, or of plain text, in linear time and with bounded
// memory beyond a copy in UTF-8; or a document that package document reads. It neither changes
// nor keeps body. Errors are ErrType, those of a document, those of Normalize for opt.URL, or
// that of opt.Stop; broken markup is no error.
func Parse(body []byte, opt ParseOptions) (*Page, error) {
	raw := body
	body, contentType, err := asHTML(body, opt.ContentType)
	if err != nil {
		return nil, fmt.Errorf("page %s: %w", opt.URL, err)
	}
	opt.ContentType = contentType
	plain, err := isPlain(opt.ContentType)
	if err != nil {
		return nil, fmt.Errorf("page %s: %w: %q", opt.URL, err, abbreviate(opt.ContentType))
	}
	p := &parser{page: &Page{}, links: linkSet{urls: opt.Normalizer}, halt: halt{stop: opt.Stop}}
	if p.links.urls == nil {
		p.links.urls = standard
	}
	if opt.URL != "" {
		base, err := p.links.urls.Base(opt.URL)
		if err != nil {
			return nil, fmt.Errorf("page: %w", err)
		}
		p.links.base, p.page.URL = &base, base.url
	}
	if p.stopped() {
		return nil, p.halt.err
	}
	p.scanner.page, p.page.Charset = decode(body, opt.ContentType)
	p.begin(opt)
	if plain {
		p.plainText()
	} else if p.html(); p.links.late {
		p = &parser{page: &Page{URL: p.page.URL, Charset: p.page.Charset}, halt: p.halt, scanner: scanner{page: p.scanner.page},
			links: linkSet{urls: p.links.urls, base: p.links.base, based: true}}
		p.begin(opt)
		p.html()
	}
	if !plain && !p.stopped() && p.thin() {
		p.page.ScriptOnly = p.scriptOnly()
		p.readIslands()
		p.readAlternates()
	}
	if p.stopped() {
		return nil, p.halt.err
	}
	p.page.Raw = checksumOf(raw)
	p.finish()
	return p.page, nil
}

func (p *parser) begin(opt ParseOptions) {
	p.in.head, p.links.open, p.headings.open = true, -1, -1
	p.text = folder{limit: maxTextBytes, out: make([]byte, 0, min(len(p.scanner.page), maxTextBytes))}
	p.title, p.outside = folder{limit: maxTitleBytes}, thinFolder()
	p.page.robotsHeader(opt.RobotsTag)
}

// stopEvery is how many tags and texts are read between calls of Stop, at most .3 ms each.
const stopEvery = 32

type halt struct {
	stop  func() error // nil: never stop
	count int
	err   error // from stop
}

// due counts a tag or a text and reports whether reading must end.
func (h *halt) due() bool {
	if h.count++; h.count%stopEvery != 0 {
		return false
	}
	return h.stopped()
}

func (h *halt) stopped() bool {
	if h.stop != nil && h.err == nil {
		h.err = h.stop()
	}
	return h.err != nil
}

func isPlain(contentType string) (bool, error) {
	media := MediaEssence(contentType)
	if UnknownMedia(media) {
		return false, nil
	}
	switch media {
	case "text/html", "application/xhtml+xml", "application/xml", "text/xml":
		return false, nil
	}
	if strings.HasPrefix(media, "text/") {
		return true, nil
	}
	return false, ErrType
}

type parser struct {
	scanner
	halt
	page *Page

	text, title folder
	lang        string // as declared by the page
	social      string // og:title
	refreshed   bool   // a <meta http-equiv=refresh> was read
	in          place
	links       linkSet
	headings    headings
	scripts     int    // number of scripts that browsers run
	scripted    int    // URLs named in them
	outside     folder // beginning of the text outside <noscript>
}

// html reads to the end of the page, or until a <base> after a link requires a second reading.
func (p *parser) html() {
	for !p.due() && !p.links.late && p.step() {
	}
}

// step reads one tag or text, and reports whether there was one.
func (p *parser) step() bool {
	switch p.next() {
	case endOfPage:
		return false
	case textToken:
		p.words(decodeText(p.scanner.text))
	case startTag:
		p.startTag()
	case endTag:
		p.endTag()
	}
	return true
}

func (p *parser) words(s []byte) {
	if p.in.hidden.inside() {
		return
	}
	if p.in.head {
		if p.in.noscript.inside() || onlySpace(s) {
			return
		}
		p.in.head = false
	}
	if len(p.outside.out) < p.outside.limit && !p.in.noscript.inside() {
		p.outside.write(s)
	}
	n := len(p.text.out)
	p.text.write(s)
	if len(p.text.out) > n {
		p.links.settle(p.text.breaks)
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

// plainText keeps lines; an empty one ends a block.
func (p *parser) plainText() {
	for line := range strings.Lines(string(p.scanner.page)) {
		if p.due() {
			return
		}
		if strings.TrimSpace(line) == "" {
			p.text.breakBlock()
			continue
		}
		p.text.write([]byte(line))
	}
}

func (p *parser) finish() {
	p.links.end(len(p.text.out))
	p.headings.end(len(p.text.out))
	p.text.breakBlock()
	p.links.settle(p.text.breaks)
	pg := p.page
	pg.Text = string(p.text.out)
	pg.Title = string(p.title.out)
	if pg.Title == "" {
		pg.Title = p.social
	}
	pg.Headings = p.headings.lines(pg.Text)
	p.links.finish(pg.Text, p.headings.marks)
	pg.Links, pg.Skipped, pg.scripted = p.links.list, p.links.skipped, p.scripted
	pg.Unseen = max(0, len(p.scanner.page)-len(pg.Text)-len(pg.Title))
	pg.Scripts = p.scripts
	pg.Lang = languageOf(p.lang, pg.Text)
	pg.Checksum = pg.checksum()
	pg.menus = linkLines(pg.Text, p.links.marks)
	pg.Sketch, pg.Signature = sketches(pg.Text, pg.menus)
}
