package collection

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"

	"fossick/internal/rights"
)

// Page is one stored page as others see it. Several goroutines may read it; none may change
// it. What is not known is nil, or "" where no page has an empty one.
type Page struct {
	ID     string // "urn:uuid:…", the same in every format and every export
	Node   uint32 // of its URL, from 0 in the order of pages
	Source *Source
	Number uint64 // in the order of its crawl, from 1

	URL, Host, Site, Title string
	Language               string
	ContentType            string
	Fetched                time.Time // in UTC
	Bytes                  int64     // of the body
	Checksum               string    // of the content, in hexadecimal digits

	Label       string
	Probability *float64 // that it is on topic, by refine or the crawl's model
	Kept        *bool    // by refine
	Relevant    bool     // as the crawl found it
	Score       float64  // of the crawl
	Rank        *float64
	Why         string // it has its label, or its score
	FoundBy     string // URL of the page, or the sitemap, that named it first; "" of a start page
	Via         string // a seed, a link, a redirect or a sitemap
	Depth       int    // links from a start page

	Rights  []rights.Statement // what its owner says of its use, and where
	Licence string

	Text     string // as the collection's MainText has it, with Want.Text
	Markdown string // likewise, with Want.Markdown
	Body     []byte // as fetched, unpacked, with Want.Body
	Damaged  bool   // its body cannot be read: it has no text and no body

	// With Want.Exchanges, where the crawl kept headers:
	Exchange *Exchange  // that gave the body; nil where nothing is kept of it
	Others   []Exchange // that said no more than this page: its own later ones, then those of redirects to it and of duplicates

	// Links are the nodes of chosen pages that it links to, in its order, with Want.Links: no
	// self-loops, and no edge twice in an export. A link to a redirect or a duplicate is one
	// to what that stands for.
	Links []uint32
	Again bool // an earlier page has the same node

	// With Want.Refs, the numbers by which the store knows the page's own URL and those that
	// it links to, in its order; a redirect or a duplicate as what that stands for.
	Ref  uint64
	Refs []uint64
}

// MainText makes of a page's body, as it was fetched, what it says. Safe for concurrent use.
type MainText func(body []byte, p *Page, want Want) (text, markdown string)

// Path names the page inside its collection: the store and the page's number there.
func (p *Page) Path() string { return p.Source.Name + "#" + strconv.FormatUint(p.Number, 10) }

// idOf makes a page's id of its URL and the time at which it was fetched: a UUID of
// version 8 (RFC 9562).
func idOf(url string, millis int64) string {
	sum := sha256.Sum256([]byte(url + "\n" + strconv.FormatInt(millis, 10)))
	u := sum[:16]
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
