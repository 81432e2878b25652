package crawler

import (
	"fossick/store"
	"fossick/store/change"
	"fossick/store/change/rates"
)

// sitenewsClaims are what sources say of pages. A source that has not changed says the same again. It
// takes some 60 bytes a page. The zero value is empty.
type sitenewsClaims struct {
	of      map[store.ID]claim
	sources map[string]int32 // numbers of sources by their URLs
	asked   []int64          // when each was asked last, Unix milliseconds
}

// claim is that a page changed last between two times, a day apart where only the day is
// told; Unix milliseconds.
type claim struct {
	first, last int64
	source      int32
}

const day = 24 * 60 * 60

// Asked notes that a source answered at a time (Unix milliseconds), and returns its number.
func (c *sitenewsClaims) Asked(url string, at int64) (source int32) {
	source, known := c.sources[url]
	if !known {
		if c.sources == nil {
			c.sources, c.of = map[string]int32{}, map[store.ID]claim{}
		}
		source = int32(len(c.asked))
		c.sources[url], c.asked = source, append(c.asked, 0)
	}
	c.asked[source] = at
	return source
}

// Take notes that a source has a page's lastmod (Unix seconds), which was seen before (Unix
// milliseconds). changed says that by this it may have changed since, and that nobody said so yet.
func (c *sitenewsClaims) Take(source int32, id store.ID, modified, seen int64) (changed bool) {
	whole := int64(1)
	if modified%day == 0 { // midnight to the second is a day
		whole = day
	}
	had, known := c.of[id]
	n := claim{modified * 1000, (modified + whole) * 1000, source}
	c.of[id] = n
	return n.last > seen && !(known && had.first == n.first)
}

// fewOf is the part of the time between two visits within which a change after the source
// was asked is unlikely enough.
const fewOf = 20

// visited holds what a source said of a page, since it was seen before, against what a visit
// found of its main text.
func (c *sitenewsClaims) visited(a *store.Announced, id store.ID, seen int64, v *store.Visit) {
	n, ok := c.of[id]
	if !ok || v.State != "ok" && v.State != "not_modified" {
		return
	}
	at, told := c.asked[n.source], n.first > seen
	if at <= seen || !told && n.last > seen {
		return // nobody asked since, or it may have been before or after
	}
	found := v.Change == change.Text || v.Change == change.Unsure
	if found && !told && later(at, seen, v) {
		return
	}
	if a.Checks++; found != told {
		a.Failed++
	}
}

// later says whether a change may be one after the source was asked.
func later(at, seen int64, v *store.Visit) bool {
	if v.Modified != 0 {
		return v.Modified*1000+1000 > at
	}
	return (v.Start-at)*fewOf > v.Start-seen
}

// even is the share of true hosts before anything is known of a web.
const even = .5

// Believed says whether what a host says is taken for true, as package rates does with
// Last-Modified. One that was never held against anything is not.
func Believed(a *store.Announced) bool { return checks(a).Believed(even) }

// Doubted says whether it is more likely to be wrong than true.
func Doubted(a *store.Announced) bool { return a.Checks > 0 && checks(a).Truth(even) < .5 }

func checks(a *store.Announced) rates.Checks { return rates.Checks{Made: a.Checks, Failed: a.Failed} }
