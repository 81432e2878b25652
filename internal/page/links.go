package page

import "bytes"

// anchorStart handles <a>, which also ends an anchor that is still open.
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

// hreflang returns the language that a tag gives its target.
func (p *parser) hreflang() string {
	lang, ok := p.get("hreflang")
	if !ok {
		return ""
	}
	return LangCode(string(cut(lang, 35)))
}

// image takes the alternative text of an image in a link.
func (p *parser) image() {
	p.in.body()
	if p.links.wantsAlt() {
		if alt, ok := p.get("alt"); ok {
			p.links.alt = append(p.links.alt, attrText(alt)...)
		}
	}
}

// areaOrFrame handles the links that have no text of their own.
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

// addLink appends a link to target, which is an attribute's value, and says
// whether it did. Nothing in a template is a link.
func (p *parser) addLink(kind Kind, target []byte) bool {
	return p.in.hidden.tag != "template" && p.links.add(kind, target, p.text.mark(), p.in.nav.inside())
}

// attrText returns an attribute that holds text, folded to one line.
func attrText(v []byte) string {
	f := folder{limit: maxAnchorBytes}
	f.write(cut(v, maxAttrBytes))
	return string(f.out)
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
