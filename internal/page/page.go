package page

// Page is a parsed page. It does not refer to its source bytes.
type Page struct {
	URL         string // normal form of the URL it was fetched from
	Canonical   string // normal form of <link rel=canonical>, or ""
	Charset     string // name of its encoding, e.g. "utf-8"
	Lang        string // see LangCode; "" if unknown
	Title       string
	Description string    // <meta name=description>
	Headings    string    // text of h1…h3, one per line
	Text        string    // visible text, one block per line, without the title
	Links       []Link    // in document order, with repeated targets
	NoIndex     bool      // meta robots: do not store this page
	Rights      []string  // owner's statements on its use, each a Statement
	NoFollow    bool      // meta robots: do not follow its links
	Scripts     int       // that would run
	ScriptOnly  bool      // scripts make the page: there is nothing to read without running them
	Island      string    // name of the data in its scripts that gave text; "" if none did
	Skipped     int       // links left out: other schemes, invalid, too long, beyond maxLinks
	Feeds       []string  // normal forms of RSS and Atom feeds in <link rel=alternate>, at most maxFeeds
	Refresh     string    // target of an immediate <meta http-equiv=refresh>, or ""
	Checksum    Checksum  // of title, text and link targets
	Raw         Checksum  // of the raw bytes
	Sketch      uint64    // simhash of the text; few bits differ between near-duplicates
	Signature   Signature // of its prose

	Unseen int // bytes, as UTF-8, in neither Text nor Title: markup, scripts, blanks

	Excerpt *Excerpt // set if only some of its links are known; nil: Links are all

	alternates [numAlternates]string // by kind, normal form; "" if it has none

	menus    []lineOf // lines of Text that consist almost only of links
	scripted int      // URLs named in its scripts; they are not followed
}

// Excerpt describes a page of which only some links are known.
type Excerpt struct {
	Places       []int  // index of each of Links among all links, from 0
	Of           int    // number of links on the page
	Introduction []byte // what the scorer that read the page tells another scorer of its kind
}

// Place returns the index of Links[i] among all links of the page, and their number.
func (p *Page) Place(i int) (place, of int) {
	if p.Excerpt == nil {
		return i, len(p.Links)
	}
	return p.Excerpt.Places[i], p.Excerpt.Of
}

// prose returns Text without its link lines, for the few callers that need it.
func (p *Page) prose() string { return prose(p.Text, p.menus) }

// Checksum identifies content (paper C2). Page.Raw is that of the raw bytes, as in the paper.
// Page.Checksum is equal for equal text, title and link targets, whatever session IDs, markup or
// host name surround them.
type Checksum [16]byte

type Kind byte

// Kinds of link (paper E6), named by the paper's letters.
const (
	Frame  Kind = 'f' // frame, iframe
	Anchor Kind = 'a' // a, area
	Other  Kind = 'h' // link rel=next and the like, meta refresh, URLs in scripts
)

// LinkKinds counts the links by kind, with the URLs in scripts; nil if there are none.
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
// must survive the page.
type Link struct {
	URL      string // normal form, absolute, http or https, without fragment
	Anchor   string // the link's own text, or an image's alt text
	Context  string // up to contextWords words before and after the anchor
	Around   Around // position of Context in the page's text; zero if it comes from elsewhere
	Lang     string // of the target, by hreflang, as in LangCode; "" if not given
	Kind     Kind
	Nav      bool // in navigation (nav, header, footer, aside, menu), not in running text
	NoFollow bool // rel=nofollow, ugc or sponsored
}

// Fields is a page's text for classifiers; features.Doc(p.Fields()) converts it.
type Fields struct {
	URL, Title, Description, Headings, Text, Lang string
}

func (p *Page) Fields() Fields {
	return Fields{p.URL, p.Title, p.Description, p.Headings, p.Text, p.Lang}
}

// Around holds the positions of the text before and after a link; either may be empty.
type Around [2]Span

type Span struct{ Start, End int32 }
