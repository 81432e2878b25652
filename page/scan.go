package page

import "bytes"

// token is what the scanner found.
type token byte

const (
	endOfPage token = iota
	textToken       // s.text, entities not decoded
	rawToken        // s.text of script, style and the like: entities mean nothing there
	startTag        // s.name, s.attrs
	endTag          // s.name
)

// maxAttrs bounds the attributes of a tag that are looked at.
const maxAttrs = 64

// scanner cuts a page into tags and text, in one pass and without copying. It
// follows the HTML standard's tokenizer (the fuzz test compares it with that of
// x/net/html), but where the standard lets a forgotten end swallow the rest of
// the page (a comment, a quote, a title) it goes on behind the tag. Each search
// for an end that is not there happens once a page, so time stays linear.
type scanner struct {
	page []byte
	pos  int

	text  []byte
	name  []byte // lower case, valid until the next token
	attrs []attr
	empty bool // the start tag ends in "/>"

	within  string         // name of the raw element whose content comes next, or ""
	ends    map[string]int // of raw elements: where the next end tag stands; len(page) for nowhere
	missing [3]bool        // no further `"`, `'`, `-->` on the page
	nameBuf [16]byte
}

// attr is an attribute as it stands on the page.
type attr struct{ key, value []byte }

const (
	missingDouble = iota
	missingSingle
	missingComment
)

// next finds the next token.
func (s *scanner) next() token {
	if s.within != "" {
		if s.rawText() {
			return rawToken
		}
	}
	start := s.pos
	for i := s.pos; ; {
		lt := bytes.IndexByte(s.page[i:], '<')
		if lt < 0 || i+lt+1 >= len(s.page) {
			return s.textUpTo(start, len(s.page))
		}
		i += lt
		c := s.page[i+1]
		if !isLetter(c) && c != '/' && c != '!' && c != '?' {
			i++
			continue
		}
		if i > start {
			return s.textUpTo(start, i)
		}
		switch {
		case isLetter(c):
			if !s.tag(i + 1) {
				return endOfPage
			}
			return startTag
		case c == '/' && i+2 < len(s.page) && isLetter(s.page[i+2]):
			if !s.tag(i + 2) {
				return endOfPage
			}
			return endTag
		case c == '/' && i+2 >= len(s.page):
			return s.textUpTo(i, len(s.page))
		default:
			s.comment(i + 1)
			i, start = s.pos, s.pos
		}
	}
}

// textUpTo makes page[start:end] the token, or ends the page.
func (s *scanner) textUpTo(start, end int) token {
	s.pos = end
	if start >= end {
		return endOfPage
	}
	s.text = s.page[start:end]
	return textToken
}

// comment skips a comment, declaration or processing instruction; i is behind "<".
func (s *scanner) comment(i int) {
	rest := s.page[i:]
	if bytes.HasPrefix(rest, []byte("!--")) && !s.missing[missingComment] {
		// "<!-->" and "<!--->" are whole comments.
		if n := bytes.IndexByte(rest, '>'); n == 3 || n == 4 && rest[3] == '-' {
			s.pos = i + n + 1
			return
		}
		for at := 3; ; {
			n := bytes.Index(rest[at:], []byte("--"))
			if n < 0 {
				s.missing[missingComment] = true
				break
			}
			at += n + 2
			for at < len(rest) && rest[at] == '-' {
				at++
			}
			tail := rest[at:]
			if len(tail) > 0 && tail[0] == '>' {
				s.pos = i + at + 1
				return
			}
			if len(tail) > 1 && tail[0] == '!' && tail[1] == '>' {
				s.pos = i + at + 2
				return
			}
		}
	}
	if n := bytes.IndexByte(rest, '>'); n >= 0 {
		s.pos = i + n + 1
	} else {
		s.pos = len(s.page)
	}
}

// tag reads a tag whose name starts at i, and says whether it has an end.
func (s *scanner) tag(i int) bool {
	p := s.page
	from := i
	for i < len(p) && !isSpace(p[i]) && p[i] != '/' && p[i] != '>' {
		i++
	}
	s.name = appendLower(s.nameBuf[:0], p[from:min(i, from+len(s.nameBuf))])
	s.attrs, s.empty = s.attrs[:0], false
	for {
		for i < len(p) && (isSpace(p[i]) || p[i] == '/') {
			s.empty = p[i] == '/'
			i++
		}
		if i >= len(p) {
			return false
		}
		if p[i] == '>' {
			s.pos = i + 1
			return true
		}
		var a attr
		a, i = s.attribute(i)
		s.empty = false
		if len(s.attrs) < maxAttrs {
			s.attrs = append(s.attrs, a)
		}
	}
}

// attribute reads the attribute at i and returns where it ends.
func (s *scanner) attribute(i int) (attr, int) {
	p := s.page
	from := i
	i++ // "=" may start a key
	for i < len(p) && p[i] != '=' && p[i] != '/' && p[i] != '>' && !isSpace(p[i]) {
		i++
	}
	a := attr{key: p[from:i]}
	eq := i
	for eq < len(p) && isSpace(p[eq]) {
		eq++
	}
	if eq >= len(p) || p[eq] != '=' {
		return a, i
	}
	i = eq + 1
	for i < len(p) && isSpace(p[i]) {
		i++
	}
	if i < len(p) && (p[i] == '"' || p[i] == '\'') {
		kind := missingDouble
		if p[i] == '\'' {
			kind = missingSingle
		}
		if !s.missing[kind] {
			if n := bytes.IndexByte(p[i+1:], p[i]); n >= 0 {
				a.value = p[i+1 : i+1+n]
				return a, i + 2 + n
			}
			s.missing[kind] = true
		}
		i++ // a quote without an end is none
	}
	from = i
	for i < len(p) && p[i] != '>' && !isSpace(p[i]) {
		i++
	}
	a.value = p[from:i]
	return a, i
}

// enter tells the scanner that the element whose start tag it just read has no
// markup inside. optional: when its end tag is missing, it has.
func (s *scanner) enter(name string, optional bool) {
	if optional && s.findEnd(name) == len(s.page) {
		return
	}
	s.within = name
}

// rawText makes the content of a raw element the token; false if it is empty.
func (s *scanner) rawText() bool {
	end := s.findEnd(s.within)
	s.within = ""
	return s.textUpTo(s.pos, end) == textToken
}

// findEnd returns where the next end tag of name stands.
func (s *scanner) findEnd(name string) int {
	if end, ok := s.ends[name]; ok && end >= s.pos {
		return end
	}
	end := len(s.page)
	for i := s.pos; ; {
		n := bytes.Index(s.page[i:], []byte("</"))
		if n < 0 {
			break
		}
		i += n + 2
		after := i + len(name)
		if after < len(s.page) && equalFold(s.page[i:after], name) &&
			(isSpace(s.page[after]) || s.page[after] == '>' || s.page[after] == '/') {
			end = i - 2
			break
		}
	}
	if s.ends == nil {
		s.ends = map[string]int{}
	}
	s.ends[name] = end
	return end
}

// get returns the value of the first attribute named key, entities not decoded.
func (s *scanner) get(key string) ([]byte, bool) {
	for _, a := range s.attrs {
		if equalFold(a.key, key) {
			return a.value, true
		}
	}
	return nil, false
}

// isSpace says whether c is white space to HTML.
func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'
}
