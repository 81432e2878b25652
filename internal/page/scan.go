package page

import (
	"bytes"
	"encoding/binary"
	stdhtml "html"
	"io"
	"slices"
	"unicode/utf8"

	"golang.org/x/net/html"
)

const (
	// maxTokenBytes bounds the tokenizer's buffer. It skips longer tags and reads past longer comments.
	maxTokenBytes = 256 << 10

	// longTokenBytes is the length at which a tokenizer is replaced after the token: at each tag it
	// clears a table as large as the most attributes it has seen.
	longTokenBytes = 4096

	maxAttrs = 64
)

type token byte

const (
	endOfPage token = iota
	textToken       // s.text
	startTag        // s.name, s.empty, s.get, s.content
	endTag          // s.name
)

// scanner splits a page into text and tags. x/net/html's tokenizer reads tags and comments, but
// neither text nor the content of elements like script: it takes 3 ns per byte, finding the next
// bracket almost nothing. It is fed up to the next ">" at a time (source), so that after a complete
// token its buffer is empty and it can continue anywhere.
type scanner struct {
	page  []byte
	start int // start of the last token
	pos   int // start of the next token

	text  []byte // with undecoded entities
	name  []byte // lower case
	empty bool   // the start tag ends in "/>"

	z         *html.Tokenizer // reads feed; nil if the next token needs a new one
	feed      source
	attrs     []attr // of the last start tag, as far as requested
	moreAttrs bool   // z has further attributes
	endless          // constructs without an end in the rest of the page
}

type attr struct{ key, value []byte }

// next finds the next token and invalidates the last one.
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

func (s *scanner) tokenize() html.TokenType {
	s.feed = source{page: s.page, start: s.pos, at: s.pos, quotes: s.quotes}
	if s.z == nil {
		s.z = html.NewTokenizer(&s.feed)
		s.z.SetMaxBuf(maxTokenBytes)
	}
	s.z.NextIsNotRawText() // content handles it
	kind := s.z.Next()
	s.pos = s.feed.at - len(s.z.Buffered())
	s.name = s.tagName(kind)
	s.attrs, s.moreAttrs = s.attrs[:0], kind == html.StartTagToken || kind == html.SelfClosingTagToken
	return kind
}

// tagName returns the last tag's name in lower case, mostly without the tokenizer's copy.
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

// source feeds the page to the tokenizer, up to the next ">" at a time. After longTokenBytes of a
// token it no longer stops there, because each read makes the tokenizer move the token.
type source struct {
	page      []byte
	start, at int
	quotes    []int // positions of quotes to replace by blanks
}

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

func (s *scanner) get(key string) ([]byte, bool) {
	for i := 0; i < len(s.attrs) || s.readAttr(); i++ {
		if a := s.attrs[i]; string(a.key) == key {
			return a.value, true
		}
	}
	return nil, false
}

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

// content returns the text up to the next end tag of name, whose start tag was the last token, and
// continues there. It is for elements without markup inside. Without an end tag it returns false
// and does not move.
func (s *scanner) content(name string) (text []byte, ok bool) {
	n := s.endTagOf(name)
	if n < 0 {
		return nil, false
	}
	text = s.page[s.pos : s.pos+n]
	s.pos += n
	return text, true
}

func (s *scanner) rest() []byte {
	rest := s.page[s.pos:]
	s.pos = len(s.page)
	return rest
}

// endTagOf returns the distance to the next end tag of name, or -1.
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

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'
}

// endless records constructs without an end, each detected only once, so that time stays linear.
type endless struct {
	quotes   []int    // the last " and the last ' of the page, if they open a value
	comments bool     // there is no further "-->"
	tags     []string // elements without a further end tag
}

// skipComment skips an endless comment, and "<!>", after which the tokenizer looks for dashes.
func (s *scanner) skipComment() bool {
	rest := s.page[s.pos:]
	if !bytes.HasPrefix(rest, []byte("<!>")) && !(s.comments && bytes.HasPrefix(rest, []byte("<!--"))) {
		return false
	}
	s.goBehind(">")
	return true
}

// goBehind moves past the next mark; without one it moves to the end of the page and returns false.
func (s *scanner) goBehind(mark string) bool {
	n := bytes.Index(s.page[s.pos:], []byte(mark))
	if n < 0 {
		s.pos = len(s.page)
		return false
	}
	s.pos += n + len(mark)
	return true
}

// mendComment continues after a comment or declaration that the tokenizer left unfinished.
func (s *scanner) mendComment() {
	raw := s.page[s.start:s.pos]
	switch {
	case s.pos < len(s.page) && len(raw) < maxTokenBytes:
		return
	case !bytes.HasPrefix(raw, []byte("<!--")):
		s.pos-- // it may be finished
		s.goBehind(">")
	case !bytes.HasSuffix(raw, []byte("-->")) && !bytes.HasSuffix(raw, []byte("--!>")):
		s.pos -= len("--") // its end may be split
		if !s.goBehind("-->") {
			s.comments, s.pos = true, s.start
		}
	}
	s.z = nil
}

// mendTag continues at an unfinished tag: without an unclosed quote, or after a tag too long.
func (s *scanner) mendTag() {
	end, quote := s.tagEnd()
	if quote >= 0 && len(s.quotes) < 2 {
		s.quotes = append(s.quotes, quote)
		end = s.start
	}
	s.pos, s.z = end, nil
}

// tagEnd returns the end of the tag at s.start, or the position of a quote that opens a value and
// is never closed (-1: none). Every quote after "=" counts. If the tokenizer differs ("/=" begins a
// name), the tag may be lost.
func (s *scanner) tagEnd() (end, quote int) {
	p := s.page
	for i := s.start; ; i++ {
		n := bytes.IndexAny(p[i:], `>"'`)
		if n < 0 {
			return len(p), -1
		}
		i += n
		if p[i] == '>' {
			return i + 1, -1
		}
		before := bytes.TrimRight(p[s.start:i], " \t\r\n\f")
		if before[len(before)-1] != '=' || slices.Contains(s.quotes, i) {
			continue // not the start of a value
		}
		second := bytes.IndexByte(p[i+1:], p[i])
		if second < 0 {
			return len(p), i
		}
		i += second + 1
	}
}

// folder collects text with folded white space: single spaces, one line end between blocks.
type folder struct {
	out   []byte
	limit int // length from which out no longer grows
	space bool
	block bool

	breaks int // calls of breakBlock
}

// Classes of a byte in running text.
const (
	foldPlain = iota
	foldSpace
	foldDrop // control characters
	foldLead // first byte of characters some of which are space or invisible
)

var foldClass = func() (class [256]byte) {
	for c := range 0x20 {
		class[c] = foldDrop
	}
	class[0x7f] = foldDrop
	for _, c := range " \t\n\r\f\v" {
		class[c] = foldSpace
	}
	class[0xC2], class[0xE2], class[0xE3], class[0xEF] = foldLead, foldLead, foldLead, foldLead
	return class
}()

// breakBlock ends the line if it has text.
func (f *folder) breakBlock() {
	f.block = true
	f.breaks++
}

// write adds s, which is valid UTF-8 without entities.
func (f *folder) write(s []byte) {
	out := f.out
	for i := 0; i < len(s) && len(out) < f.limit; {
		// A run of characters with single spaces in it.
		from := i
		for i < len(s) {
			if n := plainRun(s[i:], i > from); n > 0 {
				i += n
			} else if foldClass[s[i]] == foldPlain ||
				s[i] == ' ' && i > from && i+1 < len(s) && foldClass[s[i+1]] == foldPlain {
				i++
			} else {
				break
			}
		}
		if i > from {
			out = f.add(out, s[from:i])
			continue
		}
		switch foldClass[s[i]] {
		case foldSpace:
			f.space = true
			i++
		case foldDrop:
			i++
		default:
			r, size := utf8.DecodeRune(s[i:])
			switch foldRune(r) {
			case foldPlain:
				out = f.add(out, s[i:i+size])
			case foldSpace:
				f.space = true
			}
			i += size
		}
	}
	f.out = out
}

// plainRun returns 8 or 7 if the first 8 or 7 bytes of s are printable ASCII with single spaces
// between them, and none at the ends unless inside, where s continues a run. Otherwise, or if
// unsure, it returns 0.
func plainRun(s []byte, inside bool) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	if len(s) < 8 {
		return 0
	}
	x := binary.LittleEndian.Uint64(s)
	spaces := x ^ ' '*ones
	spaces = (spaces - ones) &^ spaces & highs // exact up to the first space; a '!' after it may be marked too
	switch {
	case (x|(x+ones)|(x-' '*ones)&^x)&highs != 0: // non-ASCII, delete, control characters
		return 0
	case spaces&(spaces<<8) != 0, spaces&0x80 != 0 && !inside:
		return 0
	case spaces>>63 != 0:
		return 7
	}
	return 8
}

// add appends characters after the white space that is due.
func (f *folder) add(out, s []byte) []byte {
	if len(out) > 0 {
		if f.block {
			out = append(out, '\n')
		} else if f.space {
			out = append(out, ' ')
		}
	}
	f.space, f.block = false, false
	return append(out, cut(s, f.limit-len(out))...)
}

func foldRune(r rune) int {
	switch {
	case r == 0xA0, r == 0x85, r >= 0x2000 && r <= 0x200A, r == 0x2028, r == 0x2029, r == 0x202F, r == 0x205F, r == 0x3000:
		return foldSpace
	case r >= 0x80 && r < 0xA0, r == 0xAD, r == 0x200B, r == 0x200E, r == 0x200F, r == 0x2060, r == 0xFEFF:
		return foldDrop // the soft hyphen and the like inside words
	}
	return foldPlain
}

// cut returns the longest prefix of whole characters within n bytes.
func cut[T string | []byte](s T, n int) T {
	if len(s) <= n {
		return s
	}
	for n = max(n, 0); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n]
}

func decodeText(s []byte) []byte {
	if bytes.IndexByte(s, '&') < 0 {
		return s
	}
	return []byte(stdhtml.UnescapeString(string(s)))
}
