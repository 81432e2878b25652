package page

import (
	"bytes"
	"encoding/json"
	stdhtml "html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of what is read of a page's data islands.
const (
	maxIslandBytes   = 4 << 20 // of data, all islands of a page together
	maxIslandStrings = 20_000
	maxIslandLinks   = 1000
	maxIslandDepth   = 64
	maxIslandNesting = 3   // JSON in strings of JSON
	maxIslandOpen    = 64  // elements in HTML of data
	maxIslandStates  = 256 // states that scripts assign
	maxFactoryBytes  = 16 << 10
	maxIslandText    = maxTextBytes
)

// thin reports that a page has almost no text for a reader without scripts. The shell of an
// application, a page whose data islands are read and one whose alternatives are followed are all
// told by this. It ignores <noscript>, whose text often only asks for JavaScript.
func (p *parser) thin() bool { return len(p.outside.out) <= maxShellText }

// thinFolder collects so much text that thin can tell, even if its last character is cut off.
func thinFolder() folder { return folder{limit: maxShellText + utf8.UTFMax} }

// readIslands adds the text and the links of a thin page's data islands. Enough text makes the
// page more than a shell; with less, only its links are of use.
func (p *parser) readIslands() {
	data := islandsOf(p.scanner.page, &p.halt)
	if len(data.blocks) == 0 {
		return
	}
	p.links.end(len(p.text.out))
	p.headings.end(len(p.text.out))
	p.text.breakBlock()
	own, links := p.scanner.page, len(p.links.list)
	p.scanner, p.in = scanner{page: data.html()}, place{}
	p.outside = thinFolder()
	p.html()
	for i := range p.links.list[links:] {
		p.links.list[links+i].Kind = Other
	}
	p.scanner = scanner{page: own}
	if len(p.outside.out) > 0 {
		p.page.Island = data.from
	}
	p.page.ScriptOnly = p.page.ScriptOnly && p.thin()
}

// WithIslands returns a page for those who look for its main text: if it is thin, what its islands
// say stands before it, and so does a <noscript> that is written for readers.
func WithIslands(page []byte) []byte {
	p := &parser{page: &Page{}, links: linkSet{urls: standard}, scanner: scanner{page: page}}
	p.begin(ParseOptions{})
	for p.thin() {
		if !p.step() {
			data := islandsOf(page, &p.halt)
			if len(data.fallback) > maxFallback {
				data.blocks = append(data.blocks, islandBlock{tag: "div", html: data.fallback})
			}
			if len(data.blocks) > 0 {
				return append(data.html(), page...)
			}
			break
		}
	}
	return page
}

// islands collects what the data in a page's scripts and attributes says to a reader.
type islands struct {
	scanner
	halt     *halt
	blocks   []islandBlock
	fallback []byte          // HTML of noscript
	from     string          // name of the first island that gave a block
	name     string          // of the island being read
	seen     map[string]bool // texts and addresses
	flat     []string        // strings by index, of an island whose objects refer to them
	flight   []byte          // rows of React's Flight format so far
	elements bool            // the island being read is of these

	bytes, strings, links, text, states int
}

// islandBlock is a heading, a paragraph or a link.
type islandBlock struct {
	tag  string
	html []byte // clean
	href string
	weak bool // shown only as the text of a link
}

// islandsOf reads all islands of a page in order.
func islandsOf(page []byte, halt *halt) *islands {
	s := &islands{scanner: scanner{page: page}, halt: halt, seen: map[string]bool{}}
	for kind := s.next(); kind != endOfPage && !halt.due(); kind = s.next() {
		if kind != startTag {
			continue
		}
		switch name := string(s.scanner.name); name {
		case "script":
			s.script()
		case "noscript":
			if text, ok := s.content(name); ok {
				fragment, _ := cleanHTML(text)
				s.fallback = append(s.fallback, fragment...)
			}
		case "style", "title", "textarea", "iframe", "noembed", "xmp":
			s.content(name)
		default:
			s.attributes()
		}
	}
	s.readFlight()
	s.blocks = slices.DeleteFunc(s.blocks, func(b islandBlock) bool { return b.weak && b.href == "" })
	return s
}

// html returns the blocks as HTML that has no scripts and no open elements.
func (s *islands) html() []byte {
	out := []byte("<article>")
	for _, b := range s.blocks {
		out = append(append(append(out, '<'), b.tag...), '>')
		if b.href != "" {
			out = append(append(append(out, `<a href="`...), stdhtml.EscapeString(b.href)...), `">`...)
		}
		out = append(out, b.html...)
		if b.href != "" {
			out = append(out, "</a>"...)
		}
		out = append(append(append(out, "</"...), b.tag...), '>')
	}
	return append(out, "</article>"...)
}

// state finds the name under which a script keeps data of the page, and where its value begins.
var state = regexp.MustCompile(`(?:\b(?:window|self|globalThis)\s*(?:\.\s*|\[\s*["'])|\b(?:var|let|const)\s+)` +
	`(__\w{2,60}|\w{0,40}(?i:state|props|context|redux|apollo|pagedata|initialdata|preload)\w{0,20})(?:["']\s*\])?\s*=\s*` +
	`|\b(kit\.start)\(\s*\w+\s*,\s*\w+\s*,\s*`)

// factory begins a value that a function returns (Nuxt 2).
var factory = regexp.MustCompile(`^\(?\s*function\s*\([^)]*\)\s*\{\s*return\s*`)

// script reads a script of JSON, or the states that a running script assigns.
func (s *islands) script() {
	kind, _ := s.get("type")
	id, _ := s.get("id")
	kind, id = bytes.Clone(kind), bytes.Clone(id)
	text, _ := s.content("script")
	media := MediaEssence(string(cut(kind, 128)))
	switch {
	case media == "application/ld+json":
		s.name = "JSON-LD"
		s.data(uncommented(text), 0)
	case media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json"):
		s.name = islandName(id, media)
		s.data(uncommented(text), 0)
	case runs(kind):
		s.assigned(text)
		s.addFlight(text)
	}
}

func islandName(name []byte, other string) string {
	if len(name) == 0 {
		return other
	}
	return attrText(cut(name, 64))
}

// uncommented returns data without the start of the comment that some frameworks write around it.
// What follows the data is not read.
func uncommented(text []byte) []byte { return bytes.TrimPrefix(bytes.TrimSpace(text), []byte("<!--")) }

// assigned reads the states that a script assigns.
func (s *islands) assigned(text []byte) {
	text = cut(text, maxIslandBytes)
	for ; s.states < maxIslandStates && !s.halt.due(); s.states++ {
		at := state.FindSubmatchIndex(text)
		if at == nil {
			return
		}
		name := at[2:4]
		if name[0] < 0 {
			name = at[4:6]
		}
		s.name = string(text[name[0]:name[1]])
		text = text[at[1]:]
		text = text[s.value(text):]
	}
}

// flightPush begins a part of the rows of a page of Next.js (app router).
var flightPush = []byte("__next_f.push([1,")

// addFlight keeps the parts of Flight rows that a script pushes. A row may go on in the next script.
func (s *islands) addFlight(text []byte) {
	for {
		_, rest, ok := bytes.Cut(text, flightPush)
		literal, n := jsString(rest)
		var part string
		if !ok || n == 0 || json.Unmarshal(literal, &part) != nil || len(s.flight)+len(part) > maxIslandBytes {
			return
		}
		s.flight, text = append(s.flight, part...), rest[n:]
	}
}

// readFlight reads rows ID:VALUE, one a line: JSON, in which ["$","a",null,{"href":…,"children":…}] is an
// element; or T, a length in hexadecimal digits, a comma and so many bytes of text. Others name modules.
func (s *islands) readFlight() {
	s.name, s.elements = "__next_f", true
	s.seen["This page could not be found."], s.seen["404: This page could not be found."] = true, true // part of each page
	for rows := s.flight; len(rows) > 0 && !s.halt.due(); {
		_, row, ok := bytes.Cut(rows, []byte(":"))
		if !ok || len(row) == 0 {
			return
		}
		if row[0] == 'T' {
			size, text, _ := bytes.Cut(row[1:], []byte(","))
			n, err := strconv.ParseUint(string(cut(size, 16)), 16, 31)
			if err != nil || n > uint64(len(text)) {
				return
			}
			s.take([]frame{{title: -1, lent: -1}}, "html", string(text[:n]), 0)
			rows = text[n:]
			continue
		}
		row, rows, _ = bytes.Cut(row, []byte("\n"))
		if len(row) > 0 && (row[0] == '[' || row[0] == '{') {
			s.data(row, 0)
		}
	}
}

// value reads the value of a state and returns its length.
func (s *islands) value(text []byte) int {
	start := len(factory.Find(text[:min(len(text), maxFactoryBytes)]))
	if rest, ok := bytes.CutPrefix(text, []byte("JSON.parse(")); ok {
		literal, n := jsString(rest)
		if n == 0 {
			return len(text)
		}
		s.nested(literal)
		return len(text) - len(rest) + n
	}
	if start == len(text) || text[start] != '{' && text[start] != '[' {
		return start
	}
	data, n := jsLiteral(text[start:])
	s.data(data, 0)
	return start + n
}

// attributes reads the JSON of attributes like data-page and props, by which some frameworks hand
// data to an element.
func (s *islands) attributes() {
	if bytes.IndexByte(s.page[s.start:s.pos], '{') < 0 {
		return
	}
	for i := 0; i < len(s.attrs) || s.readAttr(); i++ {
		a := s.attrs[i]
		if string(a.key) != "props" && !bytes.HasPrefix(a.key, []byte("data-")) {
			continue
		}
		if v := bytes.TrimSpace(a.value); len(v) > 2 && (v[0] == '{' || v[0] == '[') {
			s.name = islandName(a.key, "")
			s.data(bytes.Clone(v), 0)
		}
	}
}

// kept lists the elements that remain of HTML in data.
var kept = map[string]bool{
	"p": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true, "h6": true, "ul": true, "ol": true, "li": true,
	"dl": true, "dt": true, "dd": true, "blockquote": true, "pre": true, "table": true, "tr": true, "td": true, "th": true,
	"div": true, "section": true, "figure": true, "figcaption": true, "b": true, "strong": true, "i": true, "em": true,
	"code": true, "a": true,
}

// cleanHTML returns the text, elements of text and links of an HTML fragment, with every element
// closed, and its text alone.
func cleanHTML(fragment []byte) (html, text []byte) {
	s := scanner{page: fragment}
	var hidden region
	var open []string
	for kind := s.next(); kind != endOfPage; kind = s.next() {
		switch kind {
		case textToken:
			if !hidden.inside() {
				words := stdhtml.UnescapeString(string(s.text))
				html, text = append(html, stdhtml.EscapeString(words)...), append(text, words...)
			}
		case startTag:
			hidden.start(s.name)
			switch name := string(s.name); {
			case name == "script" || name == "style" || name == "iframe" || name == "textarea" || name == "noembed" || name == "xmp":
				s.content(name)
			case name == "template" || name == "svg" || name == "select" || name == "noscript" || name == "title":
				if !s.empty {
					hidden.open(s.name)
				}
			case name == "br":
				html, text = append(html, "<br>"...), append(text, '\n')
			case kept[name] && !hidden.inside() && len(open) < maxIslandOpen && !s.empty:
				html, open = append(html, openTag(&s)...), append(open, name)
				text = append(text, ' ')
			}
		case endTag:
			hidden.end(s.name)
			i := len(open) - 1
			for i >= 0 && open[i] != string(s.name) {
				i--
			}
			if i >= 0 {
				html, open = closeTags(html, open[i:]), open[:i]
				text = append(text, ' ')
			}
		}
	}
	return closeTags(html, open), text
}

// openTag returns a start tag without attributes but the target of a link.
func openTag(s *scanner) string {
	name := string(s.name)
	if name == "a" {
		if href, ok := s.get("href"); ok {
			return `<a href="` + stdhtml.EscapeString(string(href)) + `">`
		}
	}
	return "<" + name + ">"
}

func closeTags(html []byte, open []string) []byte {
	for _, name := range slices.Backward(open) {
		html = append(append(append(html, "</"...), name...), '>')
	}
	return html
}
