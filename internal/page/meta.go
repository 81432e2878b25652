package page

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// immediateSeconds is the longest delay of a <meta http-equiv=refresh> that counts as a redirect.
const immediateSeconds = 1

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

// refresh reads "5; url=target" (HTML standard, "shared declarative refresh steps"); the first
// valid one counts. In <noscript> it is a link, not a redirect: the site may show less to readers
// without scripts.
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

// parseRefresh returns the delay and the target of a refresh; "" is the page itself.
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
	if p.alternate(rel, href) {
		return
	}
	if p.pageRel(rel) && p.addLink(Other, href) {
		link, mark := p.links.last()
		link.Nav, link.Lang = true, p.hreflang()
		if title, ok := p.get("title"); ok {
			mark.alt = attrText(title)
		}
	}
}

const maxFeeds = 4

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

// Kinds of alternative of a page besides feeds, the best first.
const (
	inMarkdown = iota
	forAMP
	forPrint
	numAlternates
)

// alternate notes the same page in another form, which is no page of its own.
func (p *parser) alternate(rel, href []byte) bool {
	kind := numAlternates
	if hasWord(rel, "amphtml") {
		kind = forAMP
	} else if hasWord(rel, "alternate") && !hasWord(rel, "stylesheet") {
		media, _ := p.get("type")
		medium, _ := p.get("media")
		switch {
		case equalFold(bytes.TrimSpace(media), "text/markdown"):
			kind = inMarkdown
		case equalFold(bytes.TrimSpace(medium), "print"):
			kind = forPrint
		}
	}
	if kind == numAlternates || p.in.hidden.inside() {
		return false
	}
	url, err := p.links.resolve(nil, cut(href, maxAttrBytes))
	if err == nil && p.page.alternates[kind] == "" && string(url) != p.page.URL {
		p.page.alternates[kind] = string(url)
	}
	return true
}

// readAlternates makes links of what stands for a page that is still thin: its best alternative,
// of which one is enough; and its feeds if it is a shell, for the pages that they name.
func (p *parser) readAlternates() {
	if !p.thin() {
		return
	}
	p.links.end(len(p.text.out))
	p.in = place{}
	for _, url := range p.page.alternates {
		if url != "" && p.addLink(Other, []byte(url)) {
			_, mark := p.links.last()
			mark.alt = string(p.title.out)
			break
		}
	}
	for _, url := range p.page.Feeds {
		if p.page.ScriptOnly && p.addLink(Other, []byte(url)) {
			link, _ := p.links.last()
			link.Nav = true
		}
	}
}

// pageRel reports a <link> to another page: a neighbour in a sequence, a part of a book (HTML 4),
// another language; not style sheets, icons, feeds and interfaces.
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

// robots applies the directives of <meta name=robots> or of the equivalent header.
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

// robotsHeader reads the X-Robots-Tag lines for all robots or fossick.
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

// takesValue reports whether a directive contains a colon itself.
func takesValue(directive string) bool {
	switch directive {
	case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return true
	}
	return false
}

const (
	maxRights      = 16  // statements kept per page
	maxRightsBytes = 300 // per statement
	maxDataBytes   = 64 << 10
)

// says keeps an owner's statement on the page's use, in the form of a Statement.
func (p *Page) says(where, name, value string) {
	value = strings.Join(strings.Fields(value), " ")
	s := where + ": " + name + " " + strings.ToValidUTF8(value[:min(len(value), maxRightsBytes)], "")
	if value != "" && len(p.Rights) < maxRights && !slices.Contains(p.Rights, s) {
		p.Rights = append(p.Rights, s)
	}
}

// onUse lists the robots directives about a page's use.
var onUse = []string{"noai", "noimageai", "noarchive"}

func (p *parser) licenceLink(rel, href []byte) {
	if !hasWord(rel, "license") {
		return
	}
	if url, err := p.links.resolve(nil, cut(href, maxAttrBytes)); err == nil {
		p.page.says("link", "license", string(url))
	}
}

// linkedData finds the first "license" with an address in JSON-LD; the rest is ignored.
func (p *parser) linkedData(data []byte) {
	data = data[:min(len(data), maxDataBytes)]
	for {
		_, rest, ok := bytes.Cut(data, []byte(`"license"`))
		if !ok {
			return
		}
		data = rest
		rest = bytes.TrimLeft(rest, ": \t\r\n{[")
		if !bytes.HasPrefix(rest, []byte(`"http`)) {
			if _, rest, ok = bytes.Cut(rest[:min(len(rest), 200)], []byte(`"@id"`)); !ok {
				continue
			}
			rest = bytes.TrimLeft(rest, ": \t\r\n")
		}
		url, _, ok := bytes.Cut(bytes.TrimPrefix(rest, []byte(`"`)), []byte(`"`))
		if ok && bytes.HasPrefix(url, []byte("http")) && len(url) <= maxRightsBytes {
			p.page.says("data", "license", strings.ReplaceAll(string(url), `\/`, "/"))
			return
		}
	}
}

const maxScriptBytes = 256 << 10

// script counts the URLs of a <script> that browsers run: its source, and those in its text.
func (p *parser) script(kind, text []byte) {
	if p.in.hidden.tag == "template" || !runs(kind) {
		return
	}
	p.scripts++
	if src, ok := p.get("src"); ok && len(src) > 0 {
		if _, err := p.links.urls.resolve(p.links.url[:0], p.links.base, cut(src, maxAttrBytes)); err == nil {
			p.scripted++
		}
	}
	p.scripted += scriptURLs(cut(text, maxScriptBytes))
}

func runs(kind []byte) bool {
	return len(kind) == 0 || equalFold(kind, "module") || bytes.Contains(bytes.ToLower(kind), []byte("script"))
}

// handlers counts the URLs in script attributes such as onclick, and in href="javascript:…".
func (p *parser) handlers() {
	if !mayHandle(p.scanner.page[p.start:p.pos]) || p.in.hidden.tag == "template" {
		return
	}
	for i := 0; i < len(p.attrs) || p.readAttr(); i++ {
		a := p.attrs[i]
		value := bytes.TrimSpace(cut(a.value, maxAttrBytes))
		const scheme = "javascript:"
		if bytes.HasPrefix(a.key, []byte("on")) || len(value) > len(scheme) && equalFold(value[:len(scheme)], scheme) {
			p.scripted += scriptURLs(value)
		}
	}
}

// mayHandle quickly rules out tags without a script attribute.
func mayHandle(tag []byte) bool {
	for i := 2; i < len(tag); i++ {
		switch tag[i] {
		case 'n', 'N':
			if tag[i-1]|0x20 == 'o' && (isSpace(tag[i-2]) || tag[i-2] == '"' || tag[i-2] == '\'') {
				return true
			}
		case ':':
			if tag[i-1]|0x20 == 't' && tag[i-2]|0x20 == 'p' { // javascript:
				return true
			}
		}
	}
	return false
}

// scriptURLs counts the URLs in a script's literals: absolute ones anywhere, relative ones that
// open a page (location, open) or are written as markup (href, src). Scripts are not parsed, so
// comments count too.
func scriptURLs(text []byte) (n int) {
	for at := range occurrences(text, "http") {
		rest := bytes.TrimPrefix(text[at+len("http"):], []byte("s"))
		if at > 0 && isQuote(text[at-1]) && len(rest) > 0 && rest[0] == ':' && afterSlashes(rest[1:]) {
			n++
		}
	}
	for at := range occurrences(text, "location") {
		rest := text[at+len("location"):]
		for _, member := range []string{".href", ".assign", ".replace"} {
			rest = bytes.TrimPrefix(rest, []byte(member))
		}
		n += relativeURL(text[:at], rest, true)
	}
	for at := range occurrences(text, "open") {
		if rest := text[at+len("open"):]; bytes.HasPrefix(rest, []byte("(")) && (!bytes.HasSuffix(text[:at], []byte(".")) || bytes.HasSuffix(text[:at], []byte("window."))) {
			n += relativeURL(text[:at], rest, true)
		}
	}
	for _, attribute := range []string{"href", "src"} {
		for at := range occurrences(text, attribute) {
			if !bytes.HasSuffix(text[:at], []byte("location.")) { // counted above
				n += relativeURL(text[:at], text[at+len(attribute):], false)
			}
		}
	}
	return n
}

func occurrences(text []byte, word string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for from := 0; ; {
			i := bytes.Index(text[from:], []byte(word))
			if i < 0 || !yield(from+i) {
				return
			}
			from += i + len(word)
		}
	}
}

// afterSlashes reports two slashes, perhaps escaped, followed by a host name.
func afterSlashes(rest []byte) bool {
	for range 2 {
		rest = bytes.TrimPrefix(rest, []byte(`\`))
		if len(rest) == 0 || rest[0] != '/' {
			return false
		}
		rest = rest[1:]
	}
	return len(rest) > 0 && (isLetter(rest[0]) || '0' <= rest[0] && rest[0] <= '9' || rest[0] == '[' || rest[0] >= 0x80)
}

// relativeURL returns 1 if a word of a script that ends before rest is given a literal that may be
// a relative URL: by "=" or, if call, as an argument.
func relativeURL(before, rest []byte, call bool) int {
	if len(before) > 0 {
		if c := before[len(before)-1]; isLetter(c) || c == '_' || c == '$' || c == '-' || '0' <= c && c <= '9' {
			return 0 // a part of another word, as in geolocation
		}
	}
	rest = bytes.TrimLeft(rest, " \t\r\n")
	if len(rest) == 0 || rest[0] != '=' && (rest[0] != '(' || !call) {
		return 0
	}
	rest = bytes.TrimPrefix(bytes.TrimLeft(rest[1:], " \t\r\n"), []byte(`\`))
	if len(rest) == 0 || !isQuote(rest[0]) {
		return 0
	}
	literal := rest[1:]
	if end := bytes.IndexAny(literal, "'\"`\\\n"); end >= 0 {
		literal = literal[:end]
	}
	if len(literal) == 0 || literal[0] == '#' || !bytes.ContainsAny(literal, "/.?") {
		return 0
	}
	if i := bytes.IndexAny(literal, ":/?"); i > 0 && literal[i] == ':' {
		return 0
	}
	return 1
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }
