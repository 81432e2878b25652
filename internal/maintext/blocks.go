package maintext

import (
	"bytes"
	stdhtml "html"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Limits of a page.
const (
	maxNodes  = 100_000
	maxBlocks = 20_000
	maxOpen   = 256 // open elements; deeper ones count as part of these
)

type document struct {
	Title  string
	Text   []byte // of all blocks, white space folded, one per line
	Blocks []block
	Nodes  []node
	Marks  []mark // in text order
}

// block is a run of text without block-level elements inside: a paragraph, a heading, a cell.
type block struct {
	From, To int32 // in document.Text
	Node     int32 // innermost element around it, in document.Nodes
	Words    int32

	linkWords, links int32
	sentences        int32  // characters that end a sentence
	capitals         int32  // words with an initial capital
	digits, letters  int32  // counts of characters
	path             uint32 // hash of the elements above it and their first classes
}

type node struct {
	Parent int32 // -1 for the first node, the page's body
	Tag    tag
	Order  int32 // of an item, row or cell: index among its siblings, from 1

	depth                    int32
	own, all                 traits // own traits, and those of all elements above too
	path                     uint32
	blocks, words, linkWords int32 // directly in it
	children                 int32
}

// mark is the start or end of a link, emphasis or code in the text.
type mark struct {
	At    int32 // in document.Text
	Kind  markKind
	Start bool
	Href  string // of a link's start, as written
}

type markKind byte

const (
	aLink markKind = iota
	isStrong
	isEmphasis
	isCode
)

func (d *document) textOf(i int) []byte { return d.Text[d.Blocks[i].From:d.Blocks[i].To] }

// reader builds a document in one pass.
type reader struct {
	document
	open   []int32 // open nodes, outermost first
	now    block   // block being written
	inside bool    // now has begun
	space  bool    // a space is due before the next word
	word   bool    // the last character belongs to a word
	pre    int     // open elements that keep white space
	link   bool    // within a link
	anchor anchor  // of the open link
}

func readBlocks(page []byte) *document {
	s := newScanner(page)
	r := &reader{}
	r.Text = make([]byte, 0, len(page)/4)
	r.Nodes = append(make([]node, 0, 64), node{Parent: -1, Tag: bodyTag})
	r.open = append(r.open, 0)
	for {
		switch s.next() {
		case endOfPage:
			r.flush()
			return &r.document
		case textToken:
			r.write(s.text)
		case startTag:
			r.start(s)
		case endTag:
			r.end(s)
		}
	}
}

func (r *reader) write(text []byte) {
	if bytes.IndexByte(text, '&') >= 0 {
		text = []byte(stdhtml.UnescapeString(string(text)))
	}
	for i := 0; i < len(text); {
		c, n := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRune(text[i:])
		}
		if isSpace(c) {
			r.blank(text[i : i+n])
		} else if !invisible(c) {
			r.character(c, text[i:i+n])
		}
		i += n
	}
}

// blank notes that a space is due, unless the element keeps its white space.
func (r *reader) blank(raw []byte) {
	r.word = false
	switch {
	case !r.inside:
	case r.pre > 0:
		r.Text = append(r.Text, raw...)
	default:
		r.space = r.Text[len(r.Text)-1] != ' ' // a mark may have written it already
	}
}

func (r *reader) character(c rune, raw []byte) {
	r.begin()
	r.pay()
	r.count(c)
	r.Text = append(r.Text, raw...)
}

// pay writes the space that is due.
func (r *reader) pay() {
	if r.space {
		r.Text = append(r.Text, ' ')
		r.space = false
	}
}

func (r *reader) begin() {
	if r.inside {
		return
	}
	n := r.open[len(r.open)-1]
	r.now = block{From: int32(len(r.Text)), Node: n, path: r.Nodes[n].path}
	if r.link {
		r.now.links = 1
	}
	r.inside, r.space, r.word = true, false, false
}

func (r *reader) count(c rune) {
	letter := 'a' <= c && c <= 'z' || c >= 'A' && unicode.IsLetter(c)
	switch {
	case letter || unicode.IsDigit(c):
		if !r.word || letter && unspaced(c) {
			r.now.Words++
			if r.link {
				r.now.linkWords++
			}
			if letter && unicode.IsUpper(c) {
				r.now.capitals++
			}
		}
		if r.word = true; letter {
			r.now.letters++
		} else {
			r.now.digits++
		}
	case c == '\'' || c == '’' || c == '-': // within words
	default:
		r.word = false
		switch c {
		case '.', ',', '!', '?', ';', '。', '、', '，', '।':
			r.now.sentences++
		}
	}
}

// unspaced reports characters of scripts without spaces, each of which counts as a word.
func unspaced(c rune) bool {
	return c >= 0x0E00 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

func (r *reader) flush() {
	if !r.inside {
		return
	}
	r.inside, r.space = false, false
	r.now.To = r.now.From + int32(len(bytes.TrimRightFunc(r.Text[r.now.From:], isSpace))) // trailing white space may have been kept
	if r.now.Words == 0 && r.pre == 0 || len(r.Blocks) >= maxBlocks {
		return
	}
	r.Text = append(r.Text, '\n')
	n := &r.Nodes[r.now.Node]
	n.blocks++
	n.words += r.now.Words
	n.linkWords += r.now.linkWords
	r.Blocks = append(r.Blocks, r.now)
}

func isSpace(c rune) bool {
	return c <= ' ' && (c == ' ' || c >= '\t' && c <= '\r') || c >= 0xA0 && unicode.IsSpace(c)
}

// invisible reports control characters, soft hyphens and zero-width joiners.
func invisible(c rune) bool {
	return c < ' ' || c == 0xAD || c == 0x200B || c == 0xFEFF
}

type token byte

const (
	endOfPage token = iota
	textToken       // s.text
	startTag        // s.name, s.empty, s.get
	endTag          // s.name
)

type scanner struct {
	z     *html.Tokenizer
	text  []byte // with undecoded entities
	name  []byte // lower case
	empty bool   // the start tag ends in "/>"

	attrs []attr // relevant ones of the last start tag, once read is set
	more  bool   // unread attributes remain
	read  bool
}

type attr struct{ key, value string }

const maxAttrs = 64

func newScanner(page []byte) *scanner {
	return &scanner{z: html.NewTokenizer(bytes.NewReader(page))}
}

// next finds the next token and invalidates the last one.
func (s *scanner) next() token {
	for {
		switch kind := s.z.Next(); kind {
		case html.ErrorToken:
			return endOfPage
		case html.TextToken:
			s.text = s.z.Raw()
			return textToken
		case html.StartTagToken, html.SelfClosingTagToken:
			s.empty = kind == html.SelfClosingTagToken
			s.name, s.more = s.z.TagName()
			s.attrs, s.read = s.attrs[:0], false
			return startTag
		case html.EndTagToken:
			s.name, _ = s.z.TagName()
			return endTag
		}
	}
}

func (s *scanner) get(key string) string {
	a := s.find(key)
	if a == nil {
		return ""
	}
	return a.value
}

func (s *scanner) has(key string) bool { return s.find(key) != nil }

// find reads the attributes on first use, since most tags are never asked.
func (s *scanner) find(key string) *attr {
	for n := 0; !s.read && s.more && n < maxAttrs; n++ {
		var k, v []byte
		k, v, s.more = s.z.TagAttr()
		switch string(k) {
		case "class", "id", "href", "style", "role", "itemprop", "hidden", "aria-hidden":
			s.attrs = append(s.attrs, attr{string(k), string(v)})
		}
	}
	s.read = true
	for i := range s.attrs {
		if s.attrs[i].key == key {
			return &s.attrs[i]
		}
	}
	return nil
}

// content skips to the element's end and returns its text.
func (s *scanner) content(name string) (text []byte) {
	depth := 1
	for {
		switch s.z.Next() {
		case html.ErrorToken:
			return text
		case html.TextToken:
			text = append(text, s.z.Text()...)
		case html.StartTagToken:
			if n, _ := s.z.TagName(); string(n) == name {
				depth++
			}
		case html.EndTagToken:
			if n, _ := s.z.TagName(); string(n) == name {
				if depth--; depth == 0 {
					return text
				}
			}
		}
	}
}

// tag is an element that begins and ends blocks.
type tag byte

const (
	noTag tag = iota
	bodyTag
	divTag
	pTag
	h1Tag
	h2Tag
	h3Tag
	h4Tag
	h5Tag
	h6Tag
	ulTag
	olTag
	itemTag
	dlTag
	dtTag
	ddTag
	tableTag
	rowTag
	cellTag
	headCellTag
	preTag
	quoteTag
	figure
	caption
	article
	mainElement
	section
	nav
	header
	footer
	aside
	form
	details
	address
	other
	numTags
)

func (t tag) heading() bool { return t >= h1Tag && t <= h6Tag }

var tags = map[string]tag{
	"div": divTag, "p": pTag, "h1": h1Tag, "h2": h2Tag, "h3": h3Tag, "h4": h4Tag, "h5": h5Tag, "h6": h6Tag,
	"ul": ulTag, "menu": ulTag, "dir": ulTag, "ol": olTag, "li": itemTag, "dl": dlTag, "dt": dtTag, "dd": ddTag,
	"table": tableTag, "tr": rowTag, "td": cellTag, "th": headCellTag, "caption": caption, "thead": other, "tbody": other, "tfoot": other,
	"pre": preTag, "listing": preTag, "xmp": preTag, "blockquote": quoteTag, "figure": figure, "figcaption": caption,
	"article": article, "main": mainElement, "section": section, "nav": nav, "header": header, "footer": footer, "aside": aside,
	"form": form, "fieldset": form, "search": form, "details": details, "summary": other, "address": address, "center": divTag,
	"hgroup": other, "dialog": aside, "legend": other, "button": other, "label": other,
}

var breaks = map[string]bool{"br": true, "hr": true, "option": true}

// unseen lists elements whose content is not shown as text.
var unseen = map[string]bool{
	"script": true, "style": true, "noscript": true, "template": true, "svg": true, "math": true, "iframe": true, "select": true,
	"textarea": true, "object": true, "audio": true, "video": true, "canvas": true, "datalist": true, "noembed": true, "noframes": true, "map": true,
}

var marks = map[string]markKind{
	"a": aLink, "b": isStrong, "strong": isStrong, "i": isEmphasis, "em": isEmphasis, "code": isCode, "kbd": isCode, "samp": isCode, "tt": isCode,
}

// start handles a start tag. Elements not listed are inline and have no effect.
func (r *reader) start(s *scanner) {
	if kind, ok := marks[string(s.name)]; ok {
		m := mark{Kind: kind, Start: true}
		if kind == aLink {
			m.Href = s.get("href")
		}
		r.mark(m)
		return
	}
	if t, ok := tags[string(s.name)]; ok {
		r.flush()
		for len(r.open) > 1 && ends(t, r.Nodes[r.open[len(r.open)-1]].Tag) {
			r.pop()
		}
		r.push(t, s)
		return
	}
	switch name := string(s.name); {
	case name == "br" && r.pre > 0:
		r.blank([]byte("\n"))
	case breaks[name]:
		r.flush()
	case name == "title":
		if text := s.content(name); r.Title == "" {
			r.Title = fold(text)
		}
	case unseen[name] && !s.empty:
		s.content(name)
	}
}

// ends reports whether the start of t ends open: a block ends a paragraph, a cell the previous one.
func ends(t, open tag) bool {
	if open == pTag {
		return true
	}
	switch t {
	case itemTag:
		return open == itemTag
	case dtTag, ddTag:
		return open == dtTag || open == ddTag
	case cellTag, headCellTag:
		return open == cellTag || open == headCellTag
	case rowTag:
		return open == rowTag || open == cellTag || open == headCellTag
	}
	return false
}

func (r *reader) push(t tag, s *scanner) {
	if len(r.Nodes) >= maxNodes || len(r.open) >= maxOpen {
		return
	}
	parent := r.open[len(r.open)-1]
	above := &r.Nodes[parent]
	above.children++
	class := s.get("class")
	own := traitsOf(t, class, s)
	if t == preTag {
		r.pre++
	}
	r.open = append(r.open, int32(len(r.Nodes)))
	r.Nodes = append(r.Nodes, node{
		Parent: parent, Tag: t, Order: above.children, depth: above.depth + 1,
		own: own, all: above.all | own, path: (above.path^uint32(t))*16777619 ^ firstName(class),
	})
}

// firstName hashes the first name of a class without digits, which often number siblings.
func firstName(class string) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(class) && class[i] != ' '; i++ {
		if c := class[i]; c < '0' || c > '9' {
			h = (h ^ uint32(c)) * 16777619
		}
	}
	return h
}

func (r *reader) pop() {
	last := len(r.open) - 1
	if r.Nodes[r.open[last]].Tag == preTag {
		r.pre--
	}
	r.open = r.open[:last]
}

func (r *reader) end(s *scanner) {
	if kind, ok := marks[string(s.name)]; ok {
		r.mark(mark{Kind: kind})
		return
	}
	t, ok := tags[string(s.name)]
	if !ok {
		return
	}
	r.flush()
	for i := len(r.open) - 1; i > 0; i-- {
		open := r.Nodes[r.open[i]].Tag
		if open == t {
			for len(r.open) > i {
				r.pop()
			}
			return
		}
		if t == pTag || (open == cellTag || open == headCellTag) && t != tableTag && t != rowTag && t != other {
			return // an end tag without a start tag
		}
	}
}

func (r *reader) mark(m mark) {
	if m.Start && r.inside {
		r.pay()
	}
	if m.Kind == aLink {
		r.linkMark(m)
	}
	m.At = int32(len(r.Text))
	r.Marks = append(r.Marks, m)
}

// linkMark begins or ends a link; a new link ends the previous one. A link without words, such as a
// heading's link to itself, leaves no text.
func (r *reader) linkMark(m mark) {
	if r.link && r.anchor.of == int32(len(r.Blocks)) && r.inside && r.anchor.words == r.now.Words {
		r.Text, r.Marks = r.Text[:r.anchor.text], r.Marks[:r.anchor.marks]
	}
	r.link, r.anchor = m.Start && m.Href != "", anchor{of: -1}
	if r.link && r.inside {
		r.now.links++
		if m.Href[0] == '#' {
			r.anchor = anchor{of: int32(len(r.Blocks)), words: r.now.Words, text: len(r.Text), marks: len(r.Marks)}
		}
	}
}

type anchor struct {
	of, words   int32 // its block, and the number of words before it
	text, marks int   // lengths before it
}

func fold(text []byte) string {
	return string(bytes.Join(bytes.Fields(text), []byte(" ")))
}
