package journal

import (
	"slices"

	"fossick/store"
)

// urls is what Memory knows of URLs, by number from 1. A crawl discovers a hundred for
// each page that it fetches, so a URL has 72 bytes, and growing moves none.
type urls struct {
	chunks [][]url
	n      store.ID
	rare   map[store.ID]store.Birth // of those that a sitemap named
}

type url struct {
	url              string
	priority, score  float64
	at               int64
	from, parent     uint32
	depth            int32
	visits, excused  uint16
	state            state
	hops             uint8
	via              uint8 // in vias, from 1; 0 where the birth is rare
	skipped, unusual bool
	also             *[]float64 // as store.Queued has it; nil for none
}

// state says how a URL is: new, waits, or from ended on in which of Memory.states.
type state uint16

const (
	fresh state = iota
	waits
	ended
)

const chunkURLs = 1024

var vias = []store.Via{"", store.ViaSeed, store.ViaLink, store.ViaRedirect}

// at returns the URL of a number that there is.
func (u *urls) at(id store.ID) *url { return &u.chunks[(id-1)/chunkURLs][(id-1)%chunkURLs] }

func (u *urls) get(id store.ID) (*url, error) {
	if id == 0 || id > u.n {
		return nil, unknown(id)
	}
	return u.at(id), nil
}

// add enters the next URL.
func (u *urls) add(b store.Birth, skipped bool) {
	if u.n%chunkURLs == 0 {
		u.chunks = append(u.chunks, make([]url, chunkURLs))
	}
	u.n++
	*u.at(u.n) = url{url: b.URL, skipped: skipped}
	u.rebear(u.n, u.at(u.n), b)
}

// rebear gives a URL its birth, or another one.
func (u *urls) rebear(id store.ID, x *url, b store.Birth) {
	via := slices.Index(vias, b.Via)
	x.from, x.depth, x.hops, x.via, x.at = uint32(b.From), int32(b.Depth), uint8(b.Hops), uint8(max(0, via)), b.At
	x.unusual = via < 1 || b.Exchange != 0 || b.AtHost != "" || b.Modified != 0
	if x.unusual {
		if u.rare == nil {
			u.rare = map[store.ID]store.Birth{}
		}
		u.rare[id] = b
	}
}

// cut forgets the URLs after the first n.
func (u *urls) cut(n store.ID) {
	for id := n + 1; id <= u.n; id++ {
		delete(u.rare, id)
	}
	u.n = n
	u.chunks = u.chunks[:(n+chunkURLs-1)/chunkURLs]
}

func (u *urls) birth(id store.ID, x *url) store.Birth {
	if x.unusual {
		return u.rare[id]
	}
	return store.Birth{
		URL: x.url, From: store.ID(x.from), Via: vias[x.via], Depth: int(x.depth), Hops: int(x.hops), At: x.at,
	}
}

func (x *url) queued() store.Queued {
	q := store.Queued{
		Priority: x.priority, Score: x.score, Parent: store.ID(x.parent), Visits: int(x.visits), Excused: int(x.excused),
	}
	if x.also != nil {
		q.Also = *x.also
	}
	return q
}

func (x *url) queue(q store.Queued) {
	x.state, x.priority, x.score = waits, q.Priority, q.Score
	x.parent, x.visits, x.excused = uint32(q.Parent), uint16(q.Visits), uint16(q.Excused)
	if x.also = nil; len(q.Also) > 0 {
		x.also = &q.Also
	}
}
