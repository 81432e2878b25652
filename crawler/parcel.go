package crawler

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"

	"fossick/crawler/journal"
	"fossick/internal/page"
	"fossick/internal/wire"
	"fossick/store"
)

// Parcel is what a page, a redirect or a sitemap says of URLs in one part of the web.
type Parcel struct {
	From         string          `cbor:"1,keyasint" most:"2083"` // URL of the page or redirect; "" of a sitemap
	Via          store.Via       `cbor:"2,keyasint"`             // how From led to the URLs
	Depth        int             `cbor:"3,keyasint,omitempty"`   // of the URLs, in links from a start page
	Hops         int             `cbor:"4,keyasint,omitempty"`   // redirects in a row that led to them
	Value        float64         `cbor:"5,keyasint,omitempty"`   // From's score
	Label        string          `cbor:"6,keyasint,omitempty"`   // label of From's score
	Sure         float64         `cbor:"7,keyasint,omitempty"`   // probability of Label
	On           bool            `cbor:"8,keyasint,omitempty"`   // From is on topic
	For          []store.Verdict `cbor:"9,keyasint,omitempty"`   // verdict of each topic that shares the crawl
	Lang         string          `cbor:"10,keyasint,omitempty"`
	Of           int             `cbor:"16,keyasint,omitempty"`              // links that From has
	Introduction []byte          `cbor:"17,keyasint,omitempty" most:"65536"` // the sender's data on From, see page.Excerpt
	Links        []Link          `cbor:"11,keyasint,omitempty"`
	Led          []float64       `cbor:"20,keyasint,omitempty"` // of a redirect, see Redirected

	Known []knownURL `cbor:"12,keyasint,omitempty"`           // instead of links: URLs of a part with a new owner
	Last  bool       `cbor:"13,keyasint,omitempty"`           // the last such parcel for its part
	Agent string     `cbor:"14,keyasint,omitempty" most:"32"` // the agent that hands over, whoever sends the parcel
	Rests []rest     `cbor:"15,keyasint,omitempty"`           // rests of the part's hosts

	Contents []content `cbor:"18,keyasint,omitempty"` // instead of links: messages on pages with the same content

	Addresses []addressNotice `cbor:"19,keyasint,omitempty"` // and on addresses that several agents may ask
}

// Link is a link as it stands on its page.
type Link struct {
	URL     string    `cbor:"1,keyasint" most:"2083"`
	Score   float64   `cbor:"2,keyasint,omitempty"` // by the sender
	Anchor  string    `cbor:"3,keyasint,omitempty" most:"1024"`
	Context string    `cbor:"4,keyasint,omitempty" most:"1024"`
	Lang    string    `cbor:"5,keyasint,omitempty"`
	Kind    page.Kind `cbor:"6,keyasint,omitempty"`
	Nav     bool      `cbor:"7,keyasint,omitempty"`
	Place   int       `cbor:"9,keyasint,omitempty"` // in its page, from 0

	Modified int64 `cbor:"8,keyasint,omitempty"` // lastmod of a sitemap, Unix seconds
}

// parcelBytes is about how large a parcel grows before another one is begun.
const parcelBytes = 64 << 10

// mostLinks bounds the links of a page in a parcel.
const mostLinks = 1 << 24

// contextBytes bounds the words around a link.
const contextBytes = 1 << 10

// linkOf returns a page's link as it is sent.
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

// Pack encodes a parcel.
func (p *Parcel) Pack() []byte { return wire.Encode(p) }

// unpack is the inverse of Pack. A URL that is not in normal form is an error, because the
// store would never find it.
func unpack(data []byte) (*Parcel, error) {
	p := &Parcel{}
	if err := decoder.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("unreadable parcel: %w", err)
	}
	switch {
	case p.Depth < 0 || p.Hops < 0 || p.Of < 0 || p.Of > mostLinks:
		return nil, fmt.Errorf("invalid parcel from %.100q: depth %d, %d hops, %d links", p.From, p.Depth, p.Hops, p.Of)
	case !probability(p.Value) || !probability(p.Sure):
		return nil, fmt.Errorf("invalid parcel from %.100q: score %g, probability %g; want [0,1]", p.From, p.Value, p.Sure)
	}
	if slices.ContainsFunc(p.Led, func(led float64) bool { return !probability(led) }) {
		return nil, fmt.Errorf("invalid parcel from %.100q: link scores %v; want numbers in [0,1]", p.From, p.Led)
	}
	for i := range p.Links {
		if l := &p.Links[i]; !normal(l.URL) || !probability(l.Score) || l.Place < 0 || p.Of > 0 && l.Place >= p.Of {
			return nil, fmt.Errorf("invalid parcel from %.100q: link to %.100q with score %g at place %d of %d", p.From, l.URL, l.Score, l.Place, p.Of)
		}
	}
	for i := range p.Known {
		if k := &p.Known[i]; !normal(k.URL) || k.Depth < 0 || k.Hops < 0 || k.Visits < 0 || !probability(k.Score) || math.IsNaN(k.Priority) || slices.ContainsFunc(k.sums(), func(sum []byte) bool { return len(sum) != len(page.Checksum{}) }) {
			return nil, fmt.Errorf("invalid parcel: known URL %.100q: %.200q", k.URL, fmt.Sprint(*k))
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
			return nil, fmt.Errorf("invalid parcel: host %.100q rests for %d ms", r.Host, r.Left)
		}
	}
	return p, nil
}

// normal reports whether a URL is in normal form, apart from dropped parameters, which differ
// between crawls.
func normal(url string) bool {
	same, err := undropped.Normalize(url)
	return err == nil && same == url
}

var undropped = page.NewNormalizer(nil)

// host reports whether a name can be the name:port of a URL.
func host(name string) bool {
	return name != "" && len(name) <= maxSite && strings.IndexFunc(name, func(r rune) bool { return r <= ' ' || r == '/' }) < 0
}

func probability(x float64) bool { return x >= 0 && x <= 1 }

// page returns the parcel's page, which has the parcel's links and no text.
func (p *Parcel) page() *page.Page {
	links, x := make([]page.Link, len(p.Links)), &page.Excerpt{Places: make([]int, len(p.Links)), Of: p.Of, Introduction: p.Introduction}
	for i, l := range p.Links {
		links[i] = page.Link{URL: l.URL, Anchor: l.Anchor, Context: l.Context, Lang: l.Lang, Kind: l.Kind, Nav: l.Nav}
		x.Places[i] = l.Place
	}
	if p.Of == 0 { // the sender does not say
		x = nil
	}
	return &page.Page{URL: p.From, Lang: p.Lang, Links: links, Excerpt: x}
}

// owns reports whether this agent owns a URL's part, even if it must wait.
func (c *Crawler) owns(url string) bool { return c.opt.Sites.Held(c.opt.Sites.Part(url)) }

// sendLinks puts the gathered links to other agents into the outbox, in parcels that are
// otherwise like head.
func (c *Crawler) sendLinks(b journal.Batch, head Parcel) error {
	return c.outgoing.dispatch(head, func(part uint16, data []byte) error {
		return store.OutboxIn(journal.Stored(b)).Put(part, &c.totals.Counts, data)
	})
}

// outgoing gathers the links to other agents' sites of one page, redirect or sitemap after
// another. One goroutine uses it.
type outgoing struct {
	sites  Sites
	told   page.Recent[uint8] // number of links sent, by page.Key
	drafts map[uint16][]Link
	onward bool // the links came in a parcel
}

// toldURLs is how many URLs are remembered at least, in some 4 MiB. Forgetting a URL costs a
// few repeated links.
const toldURLs = 1 << 16

// manyTold bounds the links that are sent for one URL; more would hardly change its priority.
const manyTold = 16

func newOutgoing(sites Sites) outgoing {
	return outgoing{sites: sites, told: page.NewRecent[uint8](toldURLs), drafts: map[uint16][]Link{}}
}

// Take takes a link, and reports whether it leads to another agent's part. l is the link on
// its page, nil if it is on none.
func (p *outgoing) Take(url string, l *page.Link, place int, score float64, modified int64) bool {
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

// enough counts a link to a URL, and reports whether enough were sent before.
func (p *outgoing) enough(url string) bool {
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

// Onward says whether the links taken from now on came in a parcel. All of these are sent on,
// because no other copy exists.
func (p *outgoing) Onward(yes bool) { p.onward = yes }

// dispatch passes the links taken since the last call to put, in parcels that are otherwise
// like head.
func (p *outgoing) dispatch(head Parcel, put func(part uint16, data []byte) error) error {
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

// addressNotice is a message on an address where sites of several agents may be. It goes to
// the owner of the address's part, and from there, Shared, to the owners of the sites.
type addressNotice struct {
	Addr   string   `cbor:"1,keyasint"`
	Parts  []uint16 `cbor:"2,keyasint"` // parts of sites with a host there
	Shared bool     `cbor:"3,keyasint,omitempty"`
	Site   string   `cbor:"4,keyasint,omitempty"` // with one site per address: claims the address, or if Shared owns it
}

// maxSite bounds the name of a site in bytes; a name has at most 253, and a port follows.
const maxSite = 300

// mostParts bounds the parts that are told of an address.
const mostParts = 1024

// Part returns the part whose owner records the sites at the address.
func (a *addressNotice) Part(sites Sites) uint16 { return sites.PartOf([]byte(a.Addr)) }

// Size is about how many bytes it takes.
func (a *addressNotice) Size() int { return 64 + 3*len(a.Parts) + len(a.Site) }

// check validates a notice from another machine.
func (a *addressNotice) check() error {
	if _, err := netip.ParseAddr(a.Addr); err != nil || len(a.Parts) == 0 || len(a.Parts) > mostParts || len(a.Site) > maxSite {
		return fmt.Errorf("invalid parcel: %d parts at the address %.100q", len(a.Parts), a.Addr)
	}
	return nil
}

// content is a message on pages that have the same content. Each goes to the owner of the next
// part to be asked, and nobody waits for an answer (paper C2).
type content struct {
	Say      say    `cbor:"1,keyasint,omitempty"`
	Checksum []byte `cbor:"2,keyasint"`
	URL      string `cbor:"3,keyasint" most:"2083"`
	Other    string `cbor:"4,keyasint,omitempty" most:"2083"` // another page with the content

	// Signature belongs to Other, or to URL if there is no Other; it is empty for equal pages.
	// For near-duplicates Checksum is a band (store.Bands).
	Signature   []byte  `cbor:"5,keyasint,omitempty"`
	Resemblance float64 `cbor:"6,keyasint,omitempty"` // of URL and Other, by their signatures
}

// say is the kind of a content message.
type say uint8

// contentStored and contentGone go to the owner of the content's part, the others to the
// owner of URL's site.
const (
	contentStored    say = iota // URL's page was stored
	contentAsked                // Other's page may be dropped if URL has its content
	contentDuplicate            // URL's page is to be dropped: Other has its content
	contentGone                 // URL lacks the content, and Other has it
	contentSays
)

// Part returns the part that a message is for.
func (c *content) Part(sites Sites) uint16 {
	if c.Say == contentStored || c.Say == contentGone {
		return sites.PartOf(c.Checksum)
	}
	return sites.Part(c.URL)
}

// preferred reports whether url, of two URLs with the same content, represents it: the shorter
// one, then the first in the alphabet. Nothing else may decide, or two agents might each drop
// their page for the other's.
func preferred(url, other string) bool {
	return cmp.Or(cmp.Compare(len(url), len(other)), cmp.Compare(url, other)) < 0
}

// contentBytes is about how large a parcel of contents grows.
const contentBytes = parcelBytes / 4

// Size is about how many bytes the message takes.
func (c *content) Size() int { return 32 + len(c.URL) + len(c.Other) + len(c.Signature) }

// check validates a message from another machine.
func (c *content) check() error {
	two := c.Say != contentStored
	if c.Say >= contentSays || len(c.Checksum) != len(page.Checksum{}) || len(c.Signature) != 0 && len(c.Signature) != page.SignatureSize || !probability(c.Resemblance) || !normal(c.URL) || two != normal(c.Other) || c.URL == c.Other {
		return fmt.Errorf("invalid parcel: message %d on the content %.32x of %.100q and %.100q", c.Say, c.Checksum, c.URL, c.Other)
	}
	return nil
}

// knownURL is what one agent tells another of a URL whose part has a new owner.
type knownURL struct {
	URL      string    `cbor:"1,keyasint" most:"2083"`
	Via      store.Via `cbor:"2,keyasint"`
	Depth    int       `cbor:"3,keyasint,omitempty"`
	Hops     int       `cbor:"4,keyasint,omitempty"`
	State    string    `cbor:"5,keyasint,omitempty"` // final state, "" while it waits
	Score    float64   `cbor:"6,keyasint,omitempty"` // score of its best parent
	Priority float64   `cbor:"7,keyasint,omitempty"`
	Visits   int       `cbor:"8,keyasint,omitempty"`
	Checksum []byte    `cbor:"9,keyasint,omitempty"`  // of its stored page
	Raw      []byte    `cbor:"10,keyasint,omitempty"` // of the stored bytes

	Also []float64 `cbor:"11,keyasint,omitempty"` // see store.Queued

	ID      store.ID `cbor:"-"` // in the sender's store
	Missing bool     `cbor:"-"` // it waits because its page is lost
	Third   bool     `cbor:"-"` // its page is with an earlier owner
}

// rest tells another agent of a host that asked for a longer rest than the default.
type rest struct {
	Host string `cbor:"1,keyasint" most:"300"` // name:port
	Left int64  `cbor:"2,keyasint"`            // remaining milliseconds when this was sent
	For  string `cbor:"3,keyasint,omitempty"`  // its reason, see store.Host
	Wish int64  `cbor:"4,keyasint,omitempty"`  // the rest that the host asked for, milliseconds
}

// States of URLs that another agent asked for.
const (
	StateElsewhere = "elsewhere"
	StateLost      = "lost" // its page is lost with that agent; counted by the owner of the site
)

// AskedElsewhere is the reason of a URL that another agent asked for, with its state there.
func AskedElsewhere(state string) string {
	return "another agent of the crawl asked for it: " + state
}

// knownBytes is about how large a parcel of known URLs grows.
const knownBytes = parcelBytes

// Size is about how many bytes the record takes.
func (k *knownURL) Size() int { return 32 + len(k.URL) + len(k.Checksum) + len(k.Raw) }

// sums returns the known checksums of the URL's page.
func (k *knownURL) sums() (sums [][]byte) {
	for _, sum := range [][]byte{k.Checksum, k.Raw} {
		if len(sum) > 0 {
			sums = append(sums, sum)
		}
	}
	return sums
}
