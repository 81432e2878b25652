package page

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
		p.content("iframe")
	case "noembed":
		p.content("noembed")
	default:
		if _, ok := p.content(string(p.name)); !ok && !p.empty {
			p.rest()
		}
	}
}

// titleElement reads the page's title; a title in a picture is none.
func (p *parser) titleElement() {
	if p.hidden.inside() {
		return
	}
	if text, _ := p.content("title"); len(p.title.out) == 0 {
		p.title.write(decodeText(cut(text, maxAttrBytes)))
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
