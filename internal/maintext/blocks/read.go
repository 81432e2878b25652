package blocks

import (
	"bytes"
	"html"
	"unicode"
	"unicode/utf8"
)

// reader builds a document in one pass.
type reader struct {
	Document
	open   []int32 // the nodes that are open, outermost first
	now    Block   // being written
	inside bool    // now has begun
	space  bool    // white space is owed before the next word
	word   bool    // the last character belongs to a word
	pre    int     // elements around that keep white space
	link   bool    // within a link
	anchor anchor  // of that link
}

// Read cuts a page, in UTF-8, into blocks.
func Read(page []byte) *Document {
	s := newScanner(page)
	r := &reader{}
	r.Text = make([]byte, 0, len(page)/4)
	r.Nodes = append(make([]Node, 0, 64), Node{Parent: -1, Tag: Body})
	r.open = append(r.open, 0)
	for {
		switch s.next() {
		case endOfPage:
			r.flush()
			return &r.Document
		case textToken:
			r.write(s.text)
		case startTag:
			r.start(s)
		case endTag:
			r.end(s)
		}
	}
}

// write adds text.
func (r *reader) write(text []byte) {
	if bytes.IndexByte(text, '&') >= 0 {
		text = []byte(html.UnescapeString(string(text)))
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

// blank owes a space, unless the element keeps its white space.
func (r *reader) blank(raw []byte) {
	r.word = false
	switch {
	case !r.inside:
	case r.pre > 0:
		r.Text = append(r.Text, raw...)
	default:
		r.space = r.Text[len(r.Text)-1] != ' ' // a mark may have had it written
	}
}

func (r *reader) character(c rune, raw []byte) {
	r.begin()
	r.pay()
	r.count(c)
	r.Text = append(r.Text, raw...)
}

// pay writes the space that is owed.
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
	r.now = Block{From: int32(len(r.Text)), Node: n, path: r.Nodes[n].path}
	if r.link {
		r.now.links = 1
	}
	r.inside, r.space, r.word = true, false, false
}

// count keeps the counts of the block that is being written.
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

// unspaced says whether each character of a script counts as a word, as its words have no
// spaces between them.
func unspaced(c rune) bool {
	return c >= 0x0E00 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

// flush ends the block that is being written.
func (r *reader) flush() {
	if !r.inside {
		return
	}
	r.inside, r.space = false, false
	r.now.To = r.now.From + int32(len(bytes.TrimRightFunc(r.Text[r.now.From:], isSpace))) // white space may have been kept
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

// invisible are characters that show nothing: controls, soft hyphens, joiners of no width.
func invisible(c rune) bool {
	return c < ' ' || c == 0xAD || c == 0x200B || c == 0xFEFF
}
