package page

// region is an element of which the scanner has seen the start and not the
// end. It counts only elements of its own name, so it costs the same at any
// nesting, and a forgotten end tag of another element does no harm.
type region struct {
	tag   string // "" when outside
	depth int
}

// open enters the region of an element, unless it is in one already.
func (r *region) open(name []byte) {
	if r.tag == "" {
		r.tag, r.depth = string(name), 1
	}
}

func (r *region) inside() bool { return r.tag != "" }

// start takes note of a start tag.
func (r *region) start(name []byte) {
	switch {
	case r.tag == "":
	case r.tag == "td":
		switch string(name) {
		case "table":
			r.depth++
		case "td", "th", "tr":
			if r.depth == 1 { // ends are optional in a table
				r.tag = ""
			}
		}
	case r.tag == string(name):
		r.depth++
	}
}

// end takes note of an end tag.
func (r *region) end(name []byte) {
	switch {
	case r.tag == "":
	case r.tag == "td":
		switch string(name) {
		case "table":
			r.depth--
		case "td", "tr":
			if r.depth == 1 {
				r.depth = 0
			}
		}
	case r.tag == string(name):
		r.depth--
	}
	if r.depth <= 0 {
		r.tag = ""
	}
}

// place is where in its markup a page is being read.
type place struct {
	head     bool   // still in the head
	noscript region // links of a frame in it are counters of visits
	hidden   region // template, svg…: text in it isn't shown
	nav      region
	article  int // open article and main elements
}

// start takes note of a start tag.
func (in *place) start(name []byte) {
	if in.endsHidden(name) || in.hidden.tag == "svg" && breaksOut(name) {
		in.hidden = region{}
	}
	in.hidden.start(name)
	in.nav.start(name)
	in.noscript.start(name)
}

// end takes note of an end tag.
func (in *place) end(name []byte) {
	if in.endsHidden(name) || in.hidden.tag == "svg" && isBlock(name) {
		in.hidden = region{}
	}
	in.hidden.end(name)
	in.nav.end(name)
	in.noscript.end(name)
}

// endsHidden says whether a tag of a table ends a forgotten svg or select.
func (in *place) endsHidden(name []byte) bool {
	if in.hidden.tag == "" || in.hidden.tag == "template" {
		return false
	}
	switch string(name) {
	case "td", "th", "tr", "tbody", "thead", "tfoot", "table", "caption":
		return true
	}
	return false
}

// breaksOut says whether a start tag that begins no line ends a picture (HTML standard, "the
// rules for parsing tokens in foreign content").
func breaksOut(name []byte) bool {
	switch string(name) {
	case "b", "big", "br", "code", "em", "embed", "i", "img", "nobr", "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "tt", "u", "var":
		return true
	}
	return false
}

// body takes note of content, which ends the head; but what a head has for
// readers without scripts is not shown.
func (in *place) body() {
	if !in.noscript.inside() {
		in.head = false
	}
}

// block takes note of an element that begins a line. As in a browser, it ends a
// forgotten svg or select.
func (in *place) block(name []byte) {
	in.body()
	if in.hidden.tag != "template" && string(name) != "option" {
		in.hidden = region{}
	}
}
