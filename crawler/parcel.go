package crawler

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"fossick/internal/page"
	"fossick/internal/wire"
	"fossick/store"
)

// Parcel is what a page, a redirect or a sitemap says of URLs of one part of the web.
type Parcel struct {
	From  string          `cbor:"1,keyasint" most:"2083"` // URL of the page or redirect; "" of a sitemap
	Via   store.Via       `cbor:"2,keyasint"`             // how From led to the URLs
	Depth int             `cbor:"3,keyasint,omitempty"`   // of the URLs, in links from a start page
	Hops  int             `cbor:"4,keyasint,omitempty"`   // redirects in a row that led to them
	Value float64         `cbor:"5,keyasint,omitempty"`   // From's score
	Label string          `cbor:"6,keyasint,omitempty"`   // and what else a scorer said of it
	Sure  float64         `cbor:"7,keyasint,omitempty"`   // probability of Label
	On    bool            `cbor:"8,keyasint,omitempty"`   // From is on topic
	For   []store.Verdict `cbor:"9,keyasint,omitempty"`   // of each topic that shares the crawl
	Lang  string          `cbor:"10,keyasint,omitempty"`
	Of    int             `cbor:"16,keyasint,omitempty"`              // links that From has
	Giver []byte          `cbor:"17,keyasint,omitempty" most:"65536"` // what From's scorer says of it, see page.Excerpt
	Links []Link          `cbor:"11,keyasint,omitempty"`
	Led   []float64       `cbor:"20,keyasint,omitempty"` // of a redirect: what From's scorer says of the links to it, see crawler.Redirected

	Known []acrossKnown `cbor:"12,keyasint,omitempty"`           // instead of links: URLs of a part that changes hands
	Last  bool          `cbor:"13,keyasint,omitempty"`           // of such parcels, the last for its part
	Agent string        `cbor:"14,keyasint,omitempty" most:"32"` // who knows that, whoever sends it on
	Rests []rest        `cbor:"15,keyasint,omitempty"`           // of hosts of the part

	Contents []content `cbor:"18,keyasint,omitempty"` // instead of links: what is told of pages with the same content

	Addresses []acrossAddress `cbor:"19,keyasint,omitempty"` // and of addresses that several may ask
}

// Link is a link as its page has it.
type Link struct {
	URL     string    `cbor:"1,keyasint" most:"2083"`
	Score   float64   `cbor:"2,keyasint,omitempty"` // as the sender has it
	Anchor  string    `cbor:"3,keyasint,omitempty" most:"1024"`
	Context string    `cbor:"4,keyasint,omitempty" most:"1024"`
	Lang    string    `cbor:"5,keyasint,omitempty"`
	Kind    page.Kind `cbor:"6,keyasint,omitempty"`
	Nav     bool      `cbor:"7,keyasint,omitempty"`
	Place   int       `cbor:"9,keyasint,omitempty"` // in its page, from 0

	Modified int64 `cbor:"8,keyasint,omitempty"` // as a sitemap says, Unix seconds
}

// parcelBytes is about how large a parcel grows before another one is begun.
const parcelBytes = 64 << 10

// mostLinks is how many links a page is believed to have.
const mostLinks = 1 << 24

// contextBytes bounds the words around a link.
const contextBytes = 1 << 10

// linkOf is what goes across of a page's link.
func linkOf(l *page.Link, place int, score float64) Link {
	return Link{URL: l.URL, Place: place, Score: score, Anchor: cut(l.Anchor), Context: cut(l.Context), Lang: l.Lang, Kind: l.Kind, Nav: l.Nav}
}

func cut(s string) string {
	if len(s) > contextBytes {
		return s[:contextBytes]
	}
	return s
}

// size is about how many bytes a link takes.
func (l *Link) size() int { return 32 + len(l.URL) + len(l.Anchor) + len(l.Context) }

var decoder = wire.NewDecoder(1<<16, 8)

// Pack returns a parcel as bytes.
func (p *Parcel) Pack() []byte { return wire.Encode(p) }

// unpack is the inverse of Pack. URLs that are not in normal form are an error, as they
// would enter the store under a name that nobody looks for.
func unpack(data []byte) (*Parcel, error) {
	p := &Parcel{}
	if err := decoder.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("a parcel that cannot be read: %w", err)
	}
	switch {
	case p.Depth < 0 || p.Hops < 0 || p.Of < 0 || p.Of > mostLinks:
		return nil, fmt.Errorf("a parcel of %.100q with depth %d, %d hops and %d links", p.From, p.Depth, p.Hops, p.Of)
	case !probability(p.Value) || !probability(p.Sure):
		return nil, fmt.Errorf("a parcel of %.100q with a score of %g and a probability of %g: want [0,1]", p.From, p.Value, p.Sure)
	}
	if slices.ContainsFunc(p.Led, func(led float64) bool { return !probability(led) }) {
		return nil, fmt.Errorf("a parcel of %q with link scores %v: want numbers in [0,1]", p.From, p.Led)
	}
	for i := range p.Links {
		if l := &p.Links[i]; !normal(l.URL) || !probability(l.Score) || l.Place < 0 || p.Of > 0 && l.Place >= p.Of {
			return nil, fmt.Errorf("a parcel of %.100q with a link to %.100q of score %g at place %d of %d", p.From, l.URL, l.Score, l.Place, p.Of)
		}
	}
	for i := range p.Known {
		if k := &p.Known[i]; !normal(k.URL) || k.Depth < 0 || k.Hops < 0 || k.Visits < 0 || !probability(k.Score) || math.IsNaN(k.Priority) || slices.ContainsFunc(k.sums(), func(sum []byte) bool { return len(sum) != len(page.Checksum{}) }) {
			return nil, fmt.Errorf("a parcel that names %.100q: %.200q", k.URL, fmt.Sprint(*k))
		}
	}
	for i := range p.Contents {
		if err := p.Contents[i].check(); err != nil {
			return nil, err
		}
	}
	for i := range p.Addresses {
		if err := p.Addresses[i].check(); err != nil {
			return nil, err
		}
	}
	for _, r := range p.Rests {
		if !host(r.Host) || r.Left < 0 || r.Wish < 0 {
			return nil, fmt.Errorf("a parcel that gives the host %.100q a rest of %d ms", r.Host, r.Left)
		}
	}
	return p, nil
}

// normal says whether a URL is in normal form. Which parameters are dropped, each crawl says.
func normal(url string) bool {
	same, err := undropped.Normalize(url)
	return err == nil && same == url
}

var undropped = page.NewNormalizer(nil)

// host says whether name:port can be one of a URL.
func host(name string) bool {
	return name != "" && len(name) <= maxSite && strings.IndexFunc(name, func(r rune) bool { return r <= ' ' || r == '/' }) < 0
}

func probability(x float64) bool { return x >= 0 && x <= 1 }

// page is the page that a parcel tells of: it has the parcel's links, and no text.
func (p *Parcel) page() *page.Page {
	links, x := make([]page.Link, len(p.Links)), &page.Excerpt{Places: make([]int, len(p.Links)), Of: p.Of, Giver: p.Giver}
	for i, l := range p.Links {
		links[i] = page.Link{URL: l.URL, Anchor: l.Anchor, Context: l.Context, Lang: l.Lang, Kind: l.Kind, Nav: l.Nav}
		x.Places[i] = l.Place
	}
	if p.Of == 0 { // of an agent that does not say
		x = nil
	}
	return &page.Page{URL: p.From, Lang: p.Lang, Links: links, Excerpt: x}
}
