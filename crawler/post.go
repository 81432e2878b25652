package crawler

import (
	"maps"
	"slices"

	"fossick/internal/page"
	"fossick/internal/recent"
)

// post gathers what goes across of one page, redirect or sitemap after the other. One
// goroutine uses it.
type post struct {
	sites  Sites
	told   recent.Map[uint8] // how often a URL's links went across, by its page.Key
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
	return &post{sites: sites, told: recent.New[uint8](toldURLs), drafts: map[uint16][]Link{}}
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
