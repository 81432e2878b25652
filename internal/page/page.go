package page

// Page is one parsed document. It holds no reference to its source bytes.
type Page struct {
	URL         string // normal form of the URL that the bytes came from
	Canonical   string // normal form of <link rel=canonical>, or ""
	Charset     string // name of the encoding that was used, e.g. "utf-8"
	Lang        string // as LangCode has it, or "" when unknown
	Title       string
	Description string    // <meta name=description>
	Headings    string    // text of h1…h3, a line each
	Text        string    // visible text, a block a line, title excluded
	Links       []Link    // in the order of the document, repeated targets kept
	NoIndex     bool      // meta robots: do not keep this page
	Rights      []string  // what the owner says of its use, as package rights reads it
	NoFollow    bool      // meta robots: do not follow its links
	ScriptOnly  bool      // scripts make the page: there is nothing to read without running them
	Skipped     int       // links left out: other schemes, no URLs, too long, beyond MaxLinks
	Feeds       []string  // normal forms of RSS and Atom feeds that <link rel=alternate> names, maxFeeds at most
	Refresh     string    // target of an immediate <meta http-equiv=refresh>, or ""
	Checksum    Checksum  // of title, text and link targets
	Raw         Checksum  // of the bytes as they came
	Sketch      uint64    // simhash of the text; few bits differ between near-duplicates
	Signature   Signature // of Prose

	Unseen int // bytes, read as UTF-8, that are neither Text nor Title: markup, scripts, blanks

	Excerpt *Excerpt // of a page that is known by some of its links alone; nil: Links are all

	menus    []lineOf // lines of Text that are hardly more than links
	scripted int      // URLs that its scripts name; they are not followed
}

// Excerpt describes a page of which only some links are known.
type Excerpt struct {
	Places []int  // where each of Links stands among all, from 0
	Of     int    // links that the page has
	Giver  []byte // what the scorer that read it says of it, for another of its kind
}

// Place returns where a link of Links stands among all of the page.
func (p *Page) Place(i int) (place, of int) {
	if p.Excerpt == nil {
		return i, len(p.Links)
	}
	return p.Excerpt.Places[i], p.Excerpt.Of
}

// prose returns Text without the lines that are hardly more than links, which few callers need.
func (p *Page) prose() string { return prose(p.Text, p.menus) }

// Checksum identifies content (paper C2). Page.Raw is that of the bytes, as in the paper;
// Page.Checksum is equal for equal text, title and link targets, whatever session ids, markup or
// host name surround them.
type Checksum [16]byte

type Kind byte

// The kinds of link (paper E6), named by the paper's letters.
const (
	Frame  Kind = 'f' // frame, iframe
	Anchor Kind = 'a' // a, area
	Other  Kind = 'h' // link rel=next and the like, meta refresh, URLs in scripts
)

// LinkKinds counts the links by kind, in the order above, with the URLs in scripts, which are not in
// Links; nil where there are none.
func (p *Page) LinkKinds() []int {
	if len(p.Links)+p.scripted == 0 {
		return nil
	}
	n := []int{0, 0, p.scripted}
	for i := range p.Links {
		switch p.Links[i].Kind {
		case Frame:
			n[0]++
		case Anchor:
			n[1]++
		default:
			n[2]++
		}
	}
	return n
}

// Link is one out-link of a page. Anchor and Context share memory with the page's text: clone what
// outlives the page.
type Link struct {
	URL      string // normal form, absolute, http or https, without fragment
	Anchor   string // the link's own text, or an image's alt text
	Context  string // up to ContextWords words before and after the anchor, anchor excluded
	Around   Around // where Context is in the page's text; the zero value when it is from elsewhere
	Lang     string // of the target, as hreflang says and LangCode has it; "" when it doesn't
	Kind     Kind
	Nav      bool // stands in navigation (nav, header, footer, aside, menu) and not in running text
	NoFollow bool // rel=nofollow, ugc or sponsored
}

// Fields is the text of a page by field, for classifiers. features.Doc has the same fields, so that
// features.Doc(p.Fields()) converts.
type Fields struct {
	URL, Title, Description, Headings, Text, Lang string
}

func (p *Page) Fields() Fields {
	return Fields{p.URL, p.Title, p.Description, p.Headings, p.Text, p.Lang}
}

// Around is the text before a link and after it; either may be empty.
type Around [2]Span

type Span struct{ Start, End int32 }
