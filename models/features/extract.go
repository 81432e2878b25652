package features

import (
	"slices"
)

// field is a part of a page whose words are terms of their own.
type field int

const (
	body field = iota
	title
	heading
	address
	lead
	fields // how many there are
)

var prefix = [fields]string{"", "title:", "heading:", "url:", "lead:"}

// ExtractorOptions says which terms a page has. The zero value takes the words
// of title, description, headings and text alike, and nothing else.
type ExtractorOptions struct {
	Analyzer AnalyzerOptions

	// TitleWeight is how often a word of the title counts; 0 means 1.
	TitleWeight int

	// Fields makes words of the title, of headings and of the URL's path terms of
	// their own too: "title:cours". The URL's host is left out: pages of a site
	// share a label in training, and so it would be believed too much.
	Fields bool

	// Lead makes the first so many words of the text terms of their own too,
	// "lead:professor": a page tends to say first what it is. 0 is none.
	Lead int
}

// Extractor counts the terms of pages. It is not safe for concurrent use.
type Extractor struct {
	opt         ExtractorOptions
	an          *Analyzer
	lex         *Lexicon
	left        int // words of the lead still to come
	running     func(row []known)
	numbered    bool      // all words of the text are looked up without their entries
	reading     bool      // a second reader reads along,
	read        []uint32  // these so far
	lately      lately    // some of these
	keep        bool      // the words of the text, see around.go
	keeping     bool      // they are being cut
	base        int       // where what is cut begins in the text
	kept        []known   // words of the text that was counted last
	keptEntries []**entry // of kept, unless numbered
	count       []float32 // by term + terms0; zero between pages
	touched     []int32   // terms whose count is not zero
}

// NewExtractor returns an extractor of the terms of lex. A growing lexicon must
// not be shared by extractors that run at once; a fixed one may be.
func NewExtractor(opt ExtractorOptions, lex *Lexicon) *Extractor {
	if opt.TitleWeight <= 0 {
		opt.TitleWeight = 1
	}
	x := &Extractor{opt: opt, an: NewAnalyzer(opt.Analyzer), lex: lex, count: []float32{1, 1}}
	x.an.resolve = x.resolve
	x.an.row.one = lex.growing // terms are numbered as they come, those of fields and pairs in between
	x.running = x.words
	return x
}

// Forget makes x look every word up anew: its lexicon has dropped terms.
func (x *Extractor) Forget() { clear(x.an.langs) }

// unasked is the number of a field's term until the word occurs in the field.
// Few words do, and a look-up would cost more than all else of a new word.
const unasked = -2

// resolve finds the numbers of a new word's terms.
func (x *Extractor) resolve(e *entry) {
	for f := range e.index {
		e.index[f].Store(unasked)
	}
	e.body = x.lex.Index(e.term)
}

// Count returns the terms of d, in rising order of their number, with how often
// each occurs. The result is appended to dst's slices, which are cut first.
func (x *Extractor) Count(dst Vector, d Doc) Vector {
	x.scan(d, false)
	slices.Sort(x.touched)
	return x.collect(dst)
}

// CountUnsorted is Count with the terms in the order of their first occurrence,
// for those who only add them up.
func (x *Extractor) CountUnsorted(dst Vector, d Doc) Vector {
	x.scan(d, false)
	return x.collect(dst)
}

func (x *Extractor) collect(dst Vector) Vector {
	dst.Index, dst.Value = append(dst.Index[:0], x.touched...), dst.Value[:0]
	for _, i := range dst.Index {
		dst.Value = append(dst.Value, x.count[i+terms0])
	}
	x.reset()
	return dst
}

func (x *Extractor) reset() {
	for _, i := range x.touched {
		x.count[i+terms0] = 0
	}
	x.touched = x.touched[:0]
}

// scan leaves the counts of d's terms in count and touched, and in read what a
// second reader has of it, if it is to.
func (x *Extractor) scan(d Doc, also bool) {
	x.count[noTerm+terms0] = 1
	x.reading = also
	x.field(title, d.Title, d.Lang, float32(x.opt.TitleWeight))
	x.left = 0
	x.text(d.Description, d.Lang, len(d.Description))
	x.left = x.opt.Lead
	x.keeping = x.keep
	if also {
		x.readText(d.Text, d.Lang)
	} else {
		x.text(d.Text, d.Lang, len(d.Text)) // headings are in it
	}
	x.reading, x.keeping = false, false
	if x.opt.Fields {
		x.field(heading, d.Headings, d.Lang, 0)
		x.field(address, path(d.URL), "en", 0)
	}
}

// text counts the words of running text. A second reader reads along as far as byte along, which
// no word reaches across.
func (x *Extractor) text(text, lang string, along int) {
	x.base = 0
	x.each(text[:along], lang)
	if along < len(text) {
		x.reading = false
		x.base = along
		x.each(text[along:], lang)
	}
}

// each counts the words of running text.
func (x *Extractor) each(text, lang string) {
	if x.numbered {
		x.an.eachNumbered(text, lang, x.running)
	} else {
		x.an.each(text, lang, x.running)
	}
}

// words counts a row of words of running text.
func (x *Extractor) words(row []known) {
	if x.reading {
		x.readRow(row)
	}
	if x.keeping {
		x.keepRow(row)
	}
	for i := range row {
		if x.left == 0 {
			x.countRow(row[i:])
			return
		}
		if row[i].body != leftOut {
			x.term(row[i].body, x.an.row.entries[i])
		}
	}
}

// term counts what a word of running text stands for.
func (x *Extractor) term(body int32, e **entry) {
	x.add(body, 1)
	if body == noTerm {
		x.count[noTerm+terms0]++
	}
	if x.left > 0 {
		x.left--
		x.add(x.own(*e, lead), 1)
	}
}

// own returns the number of a word's term of field f.
func (x *Extractor) own(e *entry, f field) int32 {
	term := e.index[f].Load()
	if term == unasked {
		term = x.lex.Index(prefix[f] + e.term)
		e.index[f].Store(term)
	}
	return term
}

// field counts the words of field f: weight times as words of the text, once as
// terms of the field.
func (x *Extractor) field(f field, text, lang string, weight float32) {
	x.an.each(text, lang, func(row []known) {
		if x.reading {
			x.readRow(row)
		}
		for i, w := range row {
			if w.body == leftOut {
				continue
			}
			if weight > 0 {
				x.add(w.body, weight)
				if w.body == noTerm {
					x.count[noTerm+terms0] += weight
				}
			}
			if x.opt.Fields {
				x.add(x.own(*x.an.row.entries[i], f), 1)
			}
		}
	})
}
