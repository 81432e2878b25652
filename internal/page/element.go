package page

// startTag acts on a start tag. Elements not named here are inline and mean nothing.
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
	case "template", "svg", "select", "datalist": // text, but not prose that a reader sees
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
		p.text.space = true // the cells of a row are a line
		p.in.navStart(&p.scanner)
	default:
		p.blockStart()
	}
}

// shadowRoot says whether the tag is a template that browsers show in the place of the
// element around it. One begins a line.
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

// bodyStart handles <html> and <body>; neither can be a navigation region,
// though templates like to name them "has-menu".
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

// rawElement skips script, style and what stands in for frames.
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

// titleElement reads the page's title; a title in a picture is none.
func (p *parser) titleElement() {
	if p.in.hidden.inside() {
		return
	}
	if text, _ := p.content("title"); len(p.title.out) == 0 {
		p.title.write(decodeText(cut(text, maxAttrBytes)))
	}
}

// blockStart handles the elements that break lines.
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
		p.headings.end(len(p.text.out)) // its end tag was forgotten: these don't stand in headings
	}
	p.in.navStart(&p.scanner)
}

// literal reads an element whose content is text without tags, if it has an end.
func (p *parser) literal() {
	if string(p.name) == "plaintext" {
		p.words(p.rest())
		return
	}
	text, _ := p.content(string(p.name))
	if string(p.name) == "textarea" { // of the three, the one with entities
		text = decodeText(text)
	}
	p.words(text)
}

// endTag acts on an end tag.
func (p *parser) endTag() {
	if string(p.name) == "template" && !p.in.hidden.inside() { // a shadow root's
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
