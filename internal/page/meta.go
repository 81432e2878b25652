package page

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// immediateSeconds is the longest wait of a <meta http-equiv=refresh> that is a
// redirect; a longer one lets the reader read.
const immediateSeconds = 1

// meta handles <meta>.
func (p *parser) meta() {
	content, ok := p.get("content")
	if !ok {
		return
	}
	name, _ := p.get("name")
	if len(name) == 0 {
		name, _ = p.get("property")
	}
	if len(name) == 0 {
		name, _ = p.get("http-equiv")
	}
	switch {
	case equalFold(name, "description"):
		p.page.Description = description(content)
	case equalFold(name, "og:description") && p.page.Description == "":
		p.page.Description = description(content)
	case equalFold(name, "og:title") && p.social == "":
		p.social = attrText(content)
	case equalFold(name, "robots"), equalFold(name, "fossick"):
		p.page.robots("meta", "robots", string(cut(content, 1024)))
	case equalFold(name, "tdm-reservation"), equalFold(name, "tdm-policy"):
		p.page.says("meta", strings.ToLower(string(name)), string(cut(content, 1024)))
	case equalFold(name, "refresh"):
		p.refresh(content)
	case equalFold(name, "content-language") && p.lang == "":
		p.lang = string(cut(content, 35))
	}
}

func description(content []byte) string {
	f := folder{limit: 4096}
	f.write(cut(content, maxAttrBytes))
	return string(f.out)
}

// refresh reads "5; url=target" (HTML standard, "shared declarative refresh steps"). The
// first that can be read counts. One in <noscript> is for readers without JavaScript, to whom
// the site may show less: a link, not a redirect.
func (p *parser) refresh(content []byte) {
	seconds, target, ok := parseRefresh(cut(content, maxAttrBytes))
	if !ok || p.refreshed && !p.in.noscript.inside() {
		return
	}
	p.refreshed = p.refreshed || !p.in.noscript.inside()
	if len(target) == 0 || !p.addLink(Other, target) {
		return
	}
	link, _ := p.links.last()
	if seconds <= immediateSeconds && link.URL != p.page.URL && !p.in.noscript.inside() {
		p.page.Refresh = link.URL
	}
}

// parseRefresh returns after how many seconds a page leads to target; "" is the page itself.
func parseRefresh(s []byte) (seconds int, target []byte, ok bool) {
	const digits, blanks = "0123456789", "\t\n\f\r "
	s = bytes.TrimLeft(s, blanks)
	rest := bytes.TrimLeft(s, digits)
	number := s[:len(s)-len(rest)]
	if len(number) == 0 && !bytes.HasPrefix(rest, []byte{'.'}) {
		return 0, nil, false
	}
	seconds, err := strconv.Atoi(string(cut(number, 9)))
	if err != nil { // only a fraction
		seconds = 0
	}
	rest = bytes.TrimLeft(rest, digits+".")
	if len(rest) == 0 {
		return seconds, nil, true
	}
	if !bytes.ContainsAny(rest[:1], ";,"+blanks) {
		return 0, nil, false
	}
	rest = bytes.TrimLeft(rest, blanks)
	if len(rest) > 0 && (rest[0] == ';' || rest[0] == ',') {
		rest = bytes.TrimLeft(rest[1:], blanks)
	}
	if len(rest) >= 3 && equalFold(rest[:3], "url") {
		if after := bytes.TrimLeft(rest[3:], blanks); len(after) > 0 && after[0] == '=' {
			rest = bytes.TrimLeft(after[1:], blanks)
		}
	}
	if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
		rest, _, _ = bytes.Cut(rest[1:], rest[:1])
	}
	return seconds, rest, true
}

// linkElement handles <link>: the canonical address, and links between pages.
func (p *parser) linkElement() {
	href, ok := p.get("href")
	if !ok {
		return
	}
	rel, _ := p.get("rel")
	p.licenceLink(rel, href)
	if hasWord(rel, "canonical") && p.page.Canonical == "" {
		url, err := p.links.resolve(nil, cut(href, maxAttrBytes))
		if err == nil {
			p.page.Canonical = string(url)
		}
		return
	}
	p.feed(rel, href)
	if p.pageRel(rel) && p.addLink(Other, href) {
		link, mark := p.links.last()
		link.Nav, link.Lang = true, p.hreflang()
		if title, ok := p.get("title"); ok {
			mark.alt = attrText(title)
		}
	}
}

// maxFeeds is how many feeds of a page are kept.
const maxFeeds = 4

// feed takes in a feed of the site.
func (p *parser) feed(rel, href []byte) {
	if !hasWord(rel, "alternate") || len(p.page.Feeds) >= maxFeeds {
		return
	}
	media, _ := p.get("type")
	if media = bytes.TrimSpace(media); !equalFold(media, "application/rss+xml") && !equalFold(media, "application/atom+xml") {
		return
	}
	url, err := p.links.resolve(nil, cut(href, maxAttrBytes))
	if err == nil && !slices.Contains(p.page.Feeds, string(url)) {
		p.page.Feeds = append(p.page.Feeds, string(url))
	}
}

// pageRel says whether a <link> leads to another page: its neighbours in a
// sequence, parts of a book (HTML 4), the page in another language. Style sheets,
// icons, feeds and interfaces are no pages.
func (s *scanner) pageRel(rel []byte) bool {
	for _, r := range []string{"next", "prev", "previous", "first", "last", "start", "begin", "up", "top", "home",
		"contents", "toc", "index", "chapter", "section", "subsection", "appendix", "glossary", "help", "copyright",
		"bookmark", "author", "made"} {
		if hasWord(rel, r) {
			return true
		}
	}
	if !hasWord(rel, "alternate") || hasWord(rel, "stylesheet") {
		return false
	}
	media, ok := s.get("type")
	return !ok || equalFold(bytes.TrimSpace(media), "text/html")
}

// robots takes the directives of <meta name=robots>, or of the header that says the same.
func (p *Page) robots(where, name, content string) {
	for d := range strings.FieldsFuncSeq(content, func(r rune) bool { return r == ',' || r == ';' || unicode.IsSpace(r) }) {
		switch d = strings.ToLower(d); d {
		case "noindex":
			p.NoIndex = true
		case "nofollow":
			p.NoFollow = true
		case "none":
			p.NoIndex, p.NoFollow = true, true
		default:
			if slices.Contains(onUse, d) {
				p.says(where, name, d)
			}
		}
	}
}

// robotsHeader takes the lines of X-Robots-Tag; those for a robot by name
// ("otherbot: noindex") are not for us.
func (p *Page) robotsHeader(lines string) {
	for line := range strings.SplitSeq(lines, "\n") {
		if before, _, ok := strings.Cut(line, ":"); ok {
			agent := strings.ToLower(strings.TrimSpace(before))
			if !strings.ContainsAny(agent, ", ") && agent != "fossick" && agent != "*" && !takesValue(agent) {
				continue
			}
			line = line[len(before):]
			if takesValue(agent) || strings.ContainsAny(agent, ", ") {
				line = before + line
			}
		}
		p.robots("header", "x-robots-tag", strings.TrimLeft(line, ": "))
	}
}

// takesValue says whether a directive has a colon of its own.
func takesValue(directive string) bool {
	switch directive {
	case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return true
	}
	return false
}
