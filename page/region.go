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
