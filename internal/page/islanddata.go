package page

import (
	"bytes"
	"encoding/json"
	stdhtml "html"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// frame is an open object or array of an island.
type frame struct {
	array bool
	key   string // of an object: the next value's; of an array: its own
	named bool   // key is read, its value is not
	skip  bool   // nothing in it is for readers

	title, lent int      // block with the object's title, and with that of an object in it; -1: none
	urls        []string // addresses of the object
	run         []byte   // of an array: text of its objects so far
	spans       int      // number of these
}

// data reads one island of JSON as a stream, up to its end or first error.
func (s *islands) data(text []byte, nesting int) {
	if nesting == 0 {
		text = cut(text, max(0, maxIslandBytes-s.bytes))
	}
	if s.bytes += len(text); s.bytes > maxIslandNesting*maxIslandBytes {
		return
	}
	if s.name == "__NUXT_DATA__" {
		s.flat = flatStrings(text)
		defer func() { s.flat = nil }()
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var open []frame
	for s.strings < maxIslandStrings && s.text < maxIslandText && len(open) <= maxIslandDepth && !s.halt.due() {
		t, err := d.Token()
		if err != nil {
			break
		}
		open = s.token(open, t, nesting)
		if len(open) == 0 {
			return
		}
	}
	for len(open) > 0 {
		open = s.close(open)
	}
}

// token takes one token; open are the objects and arrays around it.
func (s *islands) token(open []frame, t json.Token, nesting int) []frame {
	var top *frame
	if len(open) > 0 {
		top = &open[len(open)-1]
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '}' || t == ']' {
			return s.close(open)
		}
		f := frame{array: t == '[', title: -1, lent: -1}
		if top != nil {
			f.skip, top.named = top.skip || !top.array && skipKey(top.key, f.array), false
			if f.array {
				f.key = top.key
			}
		}
		return append(open, f)
	case string:
		switch {
		case top == nil:
		case !top.array && !top.named:
			top.key, top.named = strings.ToLower(t), true
			return open
		case s.flat != nil && len(open) == 1 && top.array: // it comes again by its number, under its key
		default:
			s.strings++
			s.take(open, top.key, t, nesting)
		}
	case json.Number:
		if i, err := strconv.Atoi(string(t)); err == nil && top != nil && 0 <= i && i < len(s.flat) {
			if s.bytes += len(s.flat[i]); s.bytes > maxIslandNesting*maxIslandBytes {
				break
			}
			s.strings++
			s.take(open, top.key, s.flat[i], nesting)
		}
	}
	if top != nil {
		top.named = false
	}
	return open
}

// close ends the innermost object or array. The object's addresses become links with its title. An
// object without one lends its addresses to the object around it, and lends its title likewise, as
// in {"slug": {"current": "/a"}, "fields": {"title": "A"}}.
func (s *islands) close(open []frame) []frame {
	f := &open[len(open)-1]
	open = open[:len(open)-1]
	s.endRun(f)
	if f.array {
		return open
	}
	title := f.title
	if title < 0 {
		title = f.lent
	}
	var around *frame
	if len(open) > 0 && !open[len(open)-1].array {
		around = &open[len(open)-1]
	}
	switch {
	case len(f.urls) == 0:
		if around != nil && around.lent < 0 {
			around.lent = f.title
		}
	case title < 0 && around != nil && len(around.urls) == 0:
		around.urls = f.urls
	default:
		for _, url := range f.urls {
			s.link(url, title)
			title = -1
		}
	}
	return open
}

func (s *islands) link(url string, title int) {
	if s.links >= maxIslandLinks {
		return
	}
	if title >= 0 && s.blocks[title].href == "" {
		s.blocks[title].href = url
	} else if s.seen["link "+url] {
		return
	} else {
		s.add(islandBlock{tag: "p", href: url})
	}
	s.seen["link "+url] = true
	s.links++
}

func (s *islands) add(b islandBlock) int {
	if s.from == "" && !b.weak {
		s.from = s.name
	}
	s.blocks = append(s.blocks, b)
	s.text += len(b.html)
	return len(s.blocks) - 1
}

// take takes a string: an address, JSON, a title, a span of a text, or prose.
func (s *islands) take(open []frame, key, v string, nesting int) {
	f := &open[len(open)-1]
	v = strings.TrimSpace(v)
	if f.skip || v == "" || skipKey(key, true) {
		return
	}
	if isAddress(key, v) {
		if f.array && len(open) > 1 && !open[len(open)-2].array {
			f = &open[len(open)-2] // the object whose addresses the array lists
		}
		if f.array || len(f.urls) >= maxIslandLinks {
			s.link(v, -1)
		} else {
			f.urls = append(f.urls, v)
		}
		return
	}
	if (v[0] == '{' || v[0] == '[') && nesting < maxIslandNesting && json.Valid([]byte(v)) {
		flat := s.flat
		s.flat = nil
		s.data([]byte(v), nesting+1)
		s.flat = flat
		return
	}
	switch {
	case !f.array && isTitleKey(key) && len(v) <= 300:
		s.title(f, v)
	case !f.array && (key == "text" || key == "value") && len(open) > 1 && open[len(open)-2].array:
		open[len(open)-2].span(v)
	case s.elements && key == "children" && !f.array && len(f.urls) > 0:
		s.title(f, v)
	case s.elements && key == "children":
		s.prose("text", v)
	default:
		s.prose(key, v)
	}
}

// title takes a name: a heading if it has words, else only a link's text.
func (s *islands) title(f *frame, v string) {
	html, text := cleaned(v)
	if len(bytes.TrimSpace(text)) == 0 || codeLike(string(text)) || s.seen[string(text)] && f.title >= 0 {
		return
	}
	words := len(bytes.Fields(text))
	b := islandBlock{tag: "h2", html: html, weak: words < 2 && wideLetters(string(text)) < 4 || s.seen[string(text)]}
	s.seen[string(text)] = true
	if i := s.add(b); f.title < 0 {
		f.title = i
	}
}

// span adds a piece of rich text to the array that it is in.
func (f *frame) span(v string) {
	if f.skip || len(f.run) > maxIslandText {
		return
	}
	if n := len(f.run); n > 0 && f.run[n-1] != ' ' {
		f.run = append(f.run, ' ')
	}
	f.run, f.spans = append(f.run, v...), f.spans+1
}

// endRun writes the text of an array, unless it lists words, such as those of a choice.
func (s *islands) endRun(f *frame) {
	if f.spans > 0 && len(bytes.Fields(f.run)) >= 2*f.spans {
		s.prose("text", string(f.run))
	}
}

// prose writes a string if it is written for readers.
func (s *islands) prose(key, v string) {
	if s.seen[v] || strings.IndexByte(v, ' ') < 0 && wideLetters(v) < 8 {
		return
	}
	html, text := cleaned(v)
	if !isProse(string(text), isTextKey(key)) {
		return
	}
	s.seen[v] = true
	s.add(islandBlock{tag: "div", html: html})
}

// cleaned returns a string as HTML, with its own elements of text if it has any, and as text.
func cleaned(v string) (html, text []byte) {
	if i := strings.IndexByte(v, '<'); i >= 0 && strings.IndexByte(v[i:], '>') > 0 {
		return cleanHTML([]byte(v))
	}
	v = stdhtml.UnescapeString(v)
	if strings.Contains(v, "</") { // escaped twice
		return cleanHTML([]byte(v))
	}
	for i, line := range strings.Split(v, "\n") {
		if i > 0 {
			html = append(html, "<br>"...)
		}
		html = append(html, stdhtml.EscapeString(line)...)
	}
	return html, []byte(v)
}

// skipKey reports keys under which there is nothing for readers. The messages of a program are an
// object, those of people an array.
func skipKey(key string, array bool) bool {
	switch key {
	case "class", "classname", "classes", "style", "styles", "css", "id", "sku", "token", "hash", "query", "@context", "@type", "type", "__typename", "_type",
		"svg", "icon", "icons", "integrity", "buildid", "locale", "locales", "i18n", "translations", "_nexti18next", "initiali18nstore", "dictionary",
		"consent", "cookieconsent", "runtimeconfig", "publicruntimeconfig", "config", "settings", "theme", "env", "featureflags", "fontfamily", "statustext",
		"regex", "pattern", "scripts", "stylesheets", "script", "errors", "user-agent", "useragent", "headers":
		return true
	case "messages":
		return !array
	}
	return false
}

func isTitleKey(key string) bool {
	switch key {
	case "title", "headline", "name", "heading", "label", "displayname", "pagetitle", "posttitle", "linktext", "anchortext":
		return true
	}
	return false
}

// isTextKey reports keys whose values are mostly written for readers.
func isTextKey(key string) bool {
	for _, end := range []string{"text", "body", "content", "description", "html", "summary", "title", "heading", "headline", "markdown",
		"excerpt", "abstract", "caption", "paragraph", "paragraphs", "rendered", "value", "intro", "lead", "teaser", "bio", "answer", "question",
		"comment", "quote", "name", "message", "copy", "synopsis", "blurb"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}

// isAddress reports an absolute URL, or a path under a key of addresses, that may be a page.
func isAddress(key, v string) bool {
	if len(v) > 2083 || strings.ContainsAny(v, " \t\r\n<>{}[]*|\"`") {
		return false
	}
	for _, asset := range []string{"image", "img", "icon", "logo", "src", "thumb", "avatar", "photo", "video", "audio", "font", "asset", "media", "picture",
		"poster", "embed", "endpoint"} {
		if strings.Contains(key, asset) {
			return false
		}
	}
	for _, part := range []string{"api", "baseur", "basepath", "publicpath", "publicur", "static", "cdn", "script", "style", "schema", "xmlns"} {
		if strings.HasPrefix(key, part) {
			return false
		}
	}
	whole := strings.HasPrefix(v, "https://") || strings.HasPrefix(v, "http://")
	path := (v[0] == '/' || v[0] == '.') && !strings.HasPrefix(v, "//") && !strings.Contains(v, "/:") // that is a pattern
	return (whole || path && isAddressKey(key)) && !isAsset(v)
}

func isAddressKey(key string) bool {
	switch key {
	case "@id", "to", "as", "canonical", "pathname", "sameas", "mainentityofpage", "route":
		return true
	}
	for _, end := range []string{"url", "href", "link", "path", "uri", "slug", "links", "urls"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}

// isAsset reports an address whose ending names what no reader reads by itself.
func isAsset(url string) bool {
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	switch strings.ToLower(path.Ext(url)) {
	case ".js", ".mjs", ".css", ".json", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif", ".ico", ".woff", ".woff2", ".ttf", ".mp3", ".mp4", ".webm", ".map":
		return true
	}
	return false
}

// isProse reports a text that a reader reads: words, mostly of letters, that are neither code nor a
// list of names. Under a key that promises no text it must look like a sentence.
func isProse(text string, promised bool) bool {
	if codeLike(text) {
		return false
	}
	if wideLetters(text) >= 8 {
		return true
	}
	words := strings.Fields(text)
	if promised {
		return len(words) >= 2
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, " \t\r\n\"”’»)"))
	ends := strings.ContainsRune(".!?…:", last)
	inside := strings.Contains(text, ". ") || strings.Contains(text, "? ") || strings.Contains(text, "! ")
	return len(words) >= 4 && (ends || inside) || len(words) >= 12
}

// codeLike reports code, names of classes, lists of keys and the like.
func codeLike(text string) bool {
	letters, others, signs := 0, 0, 0
	for _, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r):
			letters++
		case unicode.IsSpace(r):
		default:
			others++
			if strings.ContainsRune("{}[]=<>;|\\$_@", r) {
				signs++
			}
		}
	}
	if letters*10 < 6*(letters+others) || signs*25 > len(text) {
		return true
	}
	words, joined := strings.Fields(text), 0
	for _, w := range words {
		if inner := strings.Trim(w, "-–—_:/.,;"); strings.ContainsAny(inner, "-_:/") {
			joined++
		}
	}
	return len(words) > 1 && joined*3 > len(words)
}

// wideLetters counts the letters of scripts that are written without spaces.
func wideLetters(text string) (n int) {
	for _, r := range text {
		if r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer) {
			n++
		}
	}
	return n
}

// nested reads a literal of JSON whose value is JSON.
func (s *islands) nested(literal []byte) {
	var inner string
	if json.Unmarshal(literal, &inner) == nil {
		s.data([]byte(inner), 0)
	}
}

// flatStrings returns the strings of an array by their indexes, "" for other values. Objects in it
// name their values by these indexes (Nuxt 3).
func flatStrings(text []byte) (all []string) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for depth := 0; len(all) < maxIslandStrings && depth <= maxIslandDepth; {
		t, err := d.Token()
		if err != nil {
			break
		}
		v, value := "", depth == 1
		switch t := t.(type) {
		case json.Delim:
			if t == '[' || t == '{' {
				depth++
			} else {
				depth--
				value = false
			}
			if depth == 0 {
				return all
			}
		case string:
			v = t
		}
		if value {
			all = append(all, v)
		}
	}
	return all
}
