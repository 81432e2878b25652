package page

import "bytes"

// maxScriptBytes bounds what is read of a script in search of URLs.
const maxScriptBytes = 256 << 10

// script counts the URLs of a <script>: the one it is loaded from, and those in its text.
// Scripts of a type that no browser runs are data.
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

// runs says whether browsers run scripts of a type.
func runs(kind []byte) bool {
	return len(kind) == 0 || equalFold(kind, "module") || bytes.Contains(bytes.ToLower(kind), []byte("script"))
}

// handlers counts the URLs in the scripts that the attributes of a start tag hold, as
// onclick="location='/next'" and href="javascript:open('/next')".
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

// mayHandle says, by a quick look at a tag, whether an attribute of it may hold a script.
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

// scriptURLs counts the URLs that a script names by literals: absolute ones anywhere, and
// relative ones where a page is opened (location, open) or markup is written (href, src).
// Scripts are not parsed: what looks so in a comment counts too.
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

// occurrences yields where a word stands in a text.
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

// afterSlashes says whether two slashes, each perhaps escaped, and a host's name follow.
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

// relativeURL is 1 where a word of a script, which ends before rest, is given a literal that
// may be a URL: by "=" or, where call says so, as an argument. Absolute URLs are counted
// elsewhere, other schemes not at all.
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
