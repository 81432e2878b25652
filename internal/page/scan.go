package page

import (
	"bytes"
	"io"
	"slices"

	"golang.org/x/net/html"
)

const (
	// maxTokenBytes bounds what the tokenizer holds: a longer comment is read
	// past it, a longer tag is skipped.
	maxTokenBytes = 256 << 10

	// longTokenBytes is the length of a token that is its tokenizer's last, as
	// that one clears a table for the most attributes it has seen at each tag.
	longTokenBytes = 4096

	// maxAttrs bounds the attributes of a tag that are looked at.
	maxAttrs = 64
)

// token is what the scanner found.
type token byte

const (
	endOfPage token = iota
	textToken       // s.text
	startTag        // s.name, s.empty, s.get, s.content
	endTag          // s.name
)

// scanner cuts a page into text and tags. Tags and comments are the tokenizer's of
// x/net/html. It never sees text, nor what elements like script hold: it takes 3 ns a
// byte, while finding the next bracket takes next to nothing. That works because it is
// fed up to the next ">" at a time (source). When a token is complete, it holds nothing
// beyond, and can be fed from anywhere.
type scanner struct {
	page  []byte
	start int // where the last token begins
	pos   int // where the next one begins

	text  []byte // entities not decoded
	name  []byte // lower case
	empty bool   // the start tag ends in "/>"

	z         *html.Tokenizer // reads feed; nil when the next token needs another
	feed      source
	attrs     []attr // of the last start tag, those that were asked for
	moreAttrs bool   // z has more of them
	endless          // what has no end on the rest of the page
}

// attr is an attribute: its key in lower case, its value with entities decoded.
type attr struct{ key, value []byte }

// next finds the next token. What the last one gave is no longer valid then.
func (s *scanner) next() token {
	for s.pos < len(s.page) {
		if s.z != nil && (s.pos-s.start >= longTokenBytes || len(s.z.Buffered()) > 0) {
			s.z = nil
		}
		s.start, s.pos = s.pos, s.markup()
		if s.pos > s.start {
			s.text = s.page[s.start:s.pos]
			return textToken
		}
		if s.skipComment() {
			continue
		}
		switch s.tokenize() {
		case html.StartTagToken:
			s.empty = false
			return startTag
		case html.SelfClosingTagToken:
			s.empty = true
			return startTag
		case html.EndTagToken:
			return endTag
		case html.TextToken: // "</" at the end of the page
			s.text = s.page[s.start:s.pos]
			return textToken
		case html.ErrorToken:
			s.mendTag()
		default: // comment, declaration, processing instruction
			s.mendComment()
		}
	}
	return endOfPage
}

// markup returns where the next tag, comment or declaration begins.
func (s *scanner) markup() int {
	for i := s.pos; ; i++ {
		n := bytes.IndexByte(s.page[i:], '<')
		if n < 0 || i+n+1 == len(s.page) {
			return len(s.page)
		}
		i += n
		if c := s.page[i+1]; isLetter(c) || c == '/' || c == '!' || c == '?' {
			return i
		}
	}
}

// tokenize has the tokenizer read the token at s.pos.
func (s *scanner) tokenize() html.TokenType {
	s.feed = source{page: s.page, start: s.pos, at: s.pos, quotes: s.quotes}
	if s.z == nil {
		s.z = html.NewTokenizer(&s.feed)
		s.z.SetMaxBuf(maxTokenBytes)
	}
	s.z.NextIsNotRawText() // content sees to that
	kind := s.z.Next()
	s.pos = s.feed.at - len(s.z.Buffered())
	s.name = s.tagName(kind)
	s.attrs, s.moreAttrs = s.attrs[:0], kind == html.StartTagToken || kind == html.SelfClosingTagToken
	return kind
}

// tagName returns the name of the tag that the tokenizer has just read, in lower case.
// Names that are so already, nearly all, are taken from where they stand: the
// tokenizer would copy each.
func (s *scanner) tagName(kind html.TokenType) []byte {
	raw := s.z.Raw()
	switch kind {
	case html.StartTagToken, html.SelfClosingTagToken:
		raw = raw[1:]
	case html.EndTagToken:
		raw = raw[2:]
	default:
		return nil
	}
	for i, c := range raw {
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		case c == '>' || c == '/' || isSpace(c):
			return raw[:i]
		default:
			name, _ := s.z.TagName()
			return name
		}
	}
	return raw
}

// source is what the tokenizer reads: the page from at on, up to the next ">" at
// a time. In a token of longTokenBytes it no longer stops there, as the tokenizer
// moves what it has of a token at each read.
type source struct {
	page      []byte
	start, at int
	quotes    []int // places of which it makes blanks
}

// Read implements io.Reader.
func (r *source) Read(b []byte) (int, error) {
	if r.at >= len(r.page) {
		return 0, io.EOF
	}
	next := r.page[r.at:min(r.at+len(b), len(r.page))]
	if r.at-r.start < longTokenBytes {
		if n := bytes.IndexByte(next, '>'); n >= 0 {
			next = next[:n+1]
		}
	}
	n := copy(b, next)
	for _, q := range r.quotes {
		if r.at <= q && q < r.at+n {
			b[q-r.at] = ' '
		}
	}
	r.at += n
	return n, nil
}

// get returns the value of the last start tag's attribute key.
func (s *scanner) get(key string) ([]byte, bool) {
	for i := 0; i < len(s.attrs) || s.readAttr(); i++ {
		if a := s.attrs[i]; string(a.key) == key {
			return a.value, true
		}
	}
	return nil, false
}

// readAttr reads one more attribute of the last start tag, where it has one.
func (s *scanner) readAttr() bool {
	if !s.moreAttrs || len(s.attrs) == maxAttrs {
		return false
	}
	var a attr
	if a.key, a.value, s.moreAttrs = s.z.TagAttr(); a.key == nil { // the tag has none
		return false
	}
	s.attrs = append(s.attrs, a)
	return true
}

// content returns what stands before the next end tag of name, the element whose
// start tag was the last token, and goes on there. It is for elements whose
// content has no markup. Where the end tag is missing, ok is false and the scanner
// stays where it is.
func (s *scanner) content(name string) (text []byte, ok bool) {
	n := s.endTagOf(name)
	if n < 0 {
		return nil, false
	}
	text = s.page[s.pos : s.pos+n]
	s.pos += n
	return text, true
}

// rest returns all that is left of the page, and ends it.
func (s *scanner) rest() []byte {
	rest := s.page[s.pos:]
	s.pos = len(s.page)
	return rest
}

// endTagOf returns how far from here the next end tag of name begins, or -1.
func (s *scanner) endTagOf(name string) int {
	if slices.Contains(s.tags, name) {
		return -1
	}
	rest := s.page[s.pos:]
	for i := 0; ; {
		n := bytes.Index(rest[i:], []byte("</"))
		if n < 0 {
			s.tags = append(s.tags, name)
			return -1
		}
		i += n + len("</")
		after := i + len(name)
		if after < len(rest) && equalFold(rest[i:after], name) &&
			(isSpace(rest[after]) || rest[after] == '>' || rest[after] == '/') {
			return i - len("</")
		}
	}
}

// isSpace says whether c is white space to HTML.
func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'
}
