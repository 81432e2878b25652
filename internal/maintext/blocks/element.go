package blocks

import "bytes"

// Tag is an element that begins and ends blocks.
type Tag byte

const (
	noTag Tag = iota
	Body
	Div
	P
	H1
	H2
	H3
	H4
	H5
	H6
	UL
	OL
	Item
	DL
	DT
	DD
	Table
	Row
	Cell
	HeadCell
	Pre
	Quote
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

// Heading says whether t is h1 … h6.
func (t Tag) Heading() bool { return t >= H1 && t <= H6 }

var tags = map[string]Tag{
	"div": Div, "p": P, "h1": H1, "h2": H2, "h3": H3, "h4": H4, "h5": H5, "h6": H6,
	"ul": UL, "menu": UL, "dir": UL, "ol": OL, "li": Item, "dl": DL, "dt": DT, "dd": DD,
	"table": Table, "tr": Row, "td": Cell, "th": HeadCell, "caption": caption, "thead": other, "tbody": other, "tfoot": other,
	"pre": Pre, "listing": Pre, "xmp": Pre, "blockquote": Quote, "figure": figure, "figcaption": caption,
	"article": article, "main": mainElement, "section": section, "nav": nav, "header": header, "footer": footer, "aside": aside,
	"form": form, "fieldset": form, "search": form, "details": details, "summary": other, "address": address, "center": Div,
	"hgroup": other, "dialog": aside, "legend": other, "button": other, "label": other,
}

// breaks are the elements that end a block and hold none.
var breaks = map[string]bool{"br": true, "hr": true, "option": true}

// unseen are the elements whose content no reader sees as text.
var unseen = map[string]bool{
	"script": true, "style": true, "noscript": true, "template": true, "svg": true, "math": true, "iframe": true, "select": true,
	"textarea": true, "object": true, "audio": true, "video": true, "canvas": true, "datalist": true, "noembed": true, "noframes": true, "map": true,
}

var marks = map[string]MarkKind{
	"a": Link, "b": Strong, "strong": Strong, "i": Emphasis, "em": Emphasis, "code": Code, "kbd": Code, "samp": Code, "tt": Code,
}

// start acts on a start tag. Elements not named here are inline and mean nothing.
func (r *reader) start(s *scanner) {
	if kind, ok := marks[string(s.name)]; ok {
		m := Mark{Kind: kind, Start: true}
		if kind == Link {
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

// ends says whether the start of t ends an open element without an end tag: a paragraph by
// any block, an item by the next one, a cell by the next one.
func ends(t, open Tag) bool {
	if open == P {
		return true
	}
	switch t {
	case Item:
		return open == Item
	case DT, DD:
		return open == DT || open == DD
	case Cell, HeadCell:
		return open == Cell || open == HeadCell
	case Row:
		return open == Row || open == Cell || open == HeadCell
	}
	return false
}

func (r *reader) push(t Tag, s *scanner) {
	if len(r.Nodes) >= maxNodes || len(r.open) >= maxOpen {
		return
	}
	parent := r.open[len(r.open)-1]
	above := &r.Nodes[parent]
	above.children++
	class := s.get("class")
	own := traitsOf(t, class, s)
	if t == Pre {
		r.pre++
	}
	r.open = append(r.open, int32(len(r.Nodes)))
	r.Nodes = append(r.Nodes, Node{
		Parent: parent, Tag: t, Order: above.children, depth: above.depth + 1,
		own: own, all: above.all | own, path: (above.path^uint32(t))*16777619 ^ firstName(class),
	})
}

// firstName hashes the first name of a class attribute, without its digits, as numbers
// there tell one sibling from another.
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
	if r.Nodes[r.open[last]].Tag == Pre {
		r.pre--
	}
	r.open = r.open[:last]
}

// end acts on an end tag.
func (r *reader) end(s *scanner) {
	if kind, ok := marks[string(s.name)]; ok {
		r.mark(Mark{Kind: kind})
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
		if t == P || (open == Cell || open == HeadCell) && t != Table && t != Row && t != other {
			return // an end without its start
		}
	}
}

func (r *reader) mark(m Mark) {
	if m.Start && r.inside {
		r.pay()
	}
	if m.Kind == Link {
		r.linkMark(m)
	}
	m.At = int32(len(r.Text))
	r.Marks = append(r.Marks, m)
}

// linkMark begins or ends a link; one that begins ends the one before. A link to its own
// place that has no words, as headings have, leaves no text.
func (r *reader) linkMark(m Mark) {
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

// anchor is where a link to its own page began.
type anchor struct {
	of, words   int32 // the block, and its words until then
	text, marks int   // lengths
}

// fold trims text and makes each run of white space one space.
func fold(text []byte) string {
	return string(bytes.Join(bytes.Fields(text), []byte(" ")))
}
