package crawler

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/netip"
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

// post gathers what goes across of one page, redirect or sitemap after the other. One
// goroutine uses it.
type post struct {
	sites  Sites
	told   page.Recent[uint8] // how often a URL's links went across, by its page.Key
	drafts map[uint16][]Link
	onward bool // what is taken came in a parcel
}

// toldURLs is how many URLs are remembered at least, in some 4 MiB; of one that was
// forgotten a few links more go across.
const toldURLs = 1 << 16

// manyTold is how many links to one URL go across: more would hardly change what the
// other agent's crawl thinks of it.
const manyTold = 16

// newPost returns an empty one.
func newPost(sites Sites) *post {
	return &post{sites: sites, told: page.NewRecent[uint8](toldURLs), drafts: map[uint16][]Link{}}
}

// Take takes a link that leads to another agent's part of the web, and says whether it
// does. l is the link as it stands in a page, and its place there; nil where it stands in none.
func (p *post) Take(url string, l *page.Link, place int, score float64, modified int64) bool {
	part := p.sites.Part(url)
	if p.sites.Ours(part) {
		return false
	}
	if !p.onward && p.enough(url) {
		return true
	}
	link := Link{URL: url, Score: score}
	if l != nil {
		link = linkOf(l, place, score)
	}
	link.Modified = modified
	p.drafts[part] = append(p.drafts[part], link)
	return true
}

// enough counts a link to a URL, and says whether as many as are useful went across before.
func (p *post) enough(url string) bool {
	key := page.Key(url)
	n, known := p.told.Get(key)
	switch {
	case !known:
		p.told.Put(key, 1)
	case n == manyTold:
		return true
	default:
		p.told.Set(key, n+1)
	}
	return false
}

// Onward says whether what is taken from now on came in a parcel: it is nowhere else, so all
// of it goes on, however often it comes by.
func (p *post) Onward(yes bool) { p.onward = yes }

// dispatch hands out what was taken since the last time as parcels, which are otherwise
// like head.
func (p *post) dispatch(head Parcel, put func(part uint16, data []byte) error) error {
	if len(p.drafts) == 0 {
		return nil
	}
	defer clear(p.drafts)
	for _, part := range slices.Sorted(maps.Keys(p.drafts)) {
		for links := p.drafts[part]; len(links) > 0; {
			n, size := 0, 0
			for n < len(links) && size < parcelBytes {
				size += links[n].size()
				n++
			}
			head.Links, links = links[:n], links[n:]
			if err := put(part, head.Pack()); err != nil {
				return err
			}
		}
	}
	return nil
}

// acrossAddress is what agents tell each other of an address, as sites of several agents may be
// there. It goes to who has the part of the address, and from there, Shared, to who has the
// sites.
type acrossAddress struct {
	Addr   string   `cbor:"1,keyasint"`
	Parts  []uint16 `cbor:"2,keyasint"` // of sites with a host there
	Shared bool     `cbor:"3,keyasint,omitempty"`
	Site   string   `cbor:"4,keyasint,omitempty"` // that wants the address, or Shared has it, of a crawl with one site an address
}

// maxSite bounds the name of a site, in bytes: a name has 253, and some a port.
const maxSite = 300

// mostParts is how many parts of the web are told of an address at most.
const mostParts = 1024

// Part is the part of the web that has to know which sites are at an address.
func (a *acrossAddress) Part(sites Sites) uint16 { return sites.PartOf([]byte(a.Addr)) }

// Size is about how many bytes it takes.
func (a *acrossAddress) Size() int { return 64 + 3*len(a.Parts) + len(a.Site) }

// check says what is wrong with what another machine sent.
func (a *acrossAddress) check() error {
	if _, err := netip.ParseAddr(a.Addr); err != nil || len(a.Parts) == 0 || len(a.Parts) > mostParts || len(a.Site) > maxSite {
		return fmt.Errorf("a parcel that names %d parts at the address %.100q: %w", len(a.Parts), a.Addr, err)
	}
	return nil
}

// content is what agents tell each other of pages that have the same content. Each step goes
// to who has the next part of the question, and nobody waits for the answer (paper C2).
type content struct {
	Say      say    `cbor:"1,keyasint,omitempty"`
	Checksum []byte `cbor:"2,keyasint"`
	URL      string `cbor:"3,keyasint" most:"2083"`
	Other    string `cbor:"4,keyasint,omitempty" most:"2083"` // URL of another page with the content

	// Signature is that of Other, or of URL where that is alone; none where the pages are equal.
	// Of near-duplicates Checksum is a band (store.Bands).
	Signature   []byte  `cbor:"5,keyasint,omitempty"`
	Resemblance float64 `cbor:"6,keyasint,omitempty"` // of URL and Other, by their signatures
}

// say is a step of it.
type say uint8

// The steps. The first and the last go to who has the part of the content, the others to who
// has the URL's site.
const (
	contentStored    say = iota // URL's page was stored
	contentAsked                // Other's page may be dropped if URL has its content
	contentDuplicate            // URL's page is to be dropped: Other has its content
	contentGone                 // URL has not the content, or not any more, and Other has
	contentSays
)

// Part is the part of the web that a step is for.
func (c *content) Part(sites Sites) uint16 {
	if c.Say == contentStored || c.Say == contentGone {
		return sites.PartOf(c.Checksum)
	}
	return sites.Part(c.URL)
}

// acrossStands says whether of two URLs with the same content the first one stands for it: the
// shorter, of equals the first in the alphabet. Nothing else may decide. Who is asked twice,
// or another agent that knows less, must not find that each of them repeats the other.
func acrossStands(url, other string) bool {
	return cmp.Or(cmp.Compare(len(url), len(other)), cmp.Compare(url, other)) < 0
}

// contentBytes is about how large a parcel of contents grows.
const contentBytes = parcelBytes / 4

// Size is about how many bytes the step takes.
func (c *content) Size() int { return 32 + len(c.URL) + len(c.Other) + len(c.Signature) }

// check says what is wrong with a step that another machine sent.
func (c *content) check() error {
	two := c.Say != contentStored
	if c.Say >= contentSays || len(c.Checksum) != len(page.Checksum{}) || len(c.Signature) != 0 && len(c.Signature) != page.SignatureSize || !probability(c.Resemblance) || !normal(c.URL) || two != normal(c.Other) || c.URL == c.Other {
		return fmt.Errorf("a parcel with verdict %d on the content %.32x of %.100q and %.100q", c.Say, c.Checksum, c.URL, c.Other)
	}
	return nil
}

// acrossKnown is what one agent tells another of a URL of a part that changes hands.
type acrossKnown struct {
	URL      string    `cbor:"1,keyasint" most:"2083"`
	Via      store.Via `cbor:"2,keyasint"`
	Depth    int       `cbor:"3,keyasint,omitempty"`
	Hops     int       `cbor:"4,keyasint,omitempty"`
	State    string    `cbor:"5,keyasint,omitempty"` // in which it ended, "" while it waits
	Score    float64   `cbor:"6,keyasint,omitempty"` // of the best that led to it
	Priority float64   `cbor:"7,keyasint,omitempty"`
	Visits   int       `cbor:"8,keyasint,omitempty"`
	Checksum []byte    `cbor:"9,keyasint,omitempty"`  // of its page, where one is stored
	Raw      []byte    `cbor:"10,keyasint,omitempty"` // likewise, of the bytes

	Also []float64 `cbor:"11,keyasint,omitempty"` // as store.Queued has it

	ID      store.ID `cbor:"-"` // in the store that knows it
	Missing bool     `cbor:"-"` // it waits since its page is lost
	Third   bool     `cbor:"-"` // its page is with an agent that had it before
}

// rest is what one agent tells another of a host that asked for a longer rest than all have.
type rest struct {
	Host string `cbor:"1,keyasint" most:"300"` // name:port
	Left int64  `cbor:"2,keyasint"`            // of it when this was said, milliseconds
	For  string `cbor:"3,keyasint,omitempty"`  // what asked for it, as store.Host has it
	Wish int64  `cbor:"4,keyasint,omitempty"`  // and for how long, milliseconds
}

// How a URL ends that another agent asked for.
const (
	StateElsewhere = "elsewhere"
	StateLost      = "lost" // its page is gone with that agent; told and counted by who has the site
)

// AskedElsewhere is why a URL is not asked for that another agent of the crawl had asked for, with
// the state in which it ended there.
func AskedElsewhere(state string) string {
	return "another agent of the crawl asked for it: " + state
}

// knownBytes is about how large a parcel of known URLs grows.
const knownBytes = parcelBytes

// Size is about how many bytes the record takes.
func (k *acrossKnown) Size() int { return 32 + len(k.URL) + len(k.Checksum) + len(k.Raw) }

// sums are the checksums of its page that are known.
func (k *acrossKnown) sums() (sums [][]byte) {
	for _, sum := range [][]byte{k.Checksum, k.Raw} {
		if len(sum) > 0 {
			sums = append(sums, sum)
		}
	}
	return sums
}
