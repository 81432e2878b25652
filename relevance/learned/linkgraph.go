package learned

import (
	"fossick/internal/page"
)

// linkGraph is what is remembered of pages and links: the targets that wait, with the
// evidence for each, pages that were fetched, and hosts and folders.
type linkGraph struct {
	waiting page.Recent[*evidence] // by page.Key of targets that were not fetched yet
	fetched page.Recent[known]     // by page.Key
	turn    uint32                 // pages whose links were taken in
	sources page.Recent[*source]   // by page.Key of pages whose links come next
	places  page.Recent[*record]   // hosts and folders, by page.Key
	yields  yields
	givers  page.Recent[*source] // pages whose links other agents may have, by page.Key; of no use to one alone
	shared  bool                 // there are others

	redirected page.Recent[float32] // R of what led to URLs that redirected here, by page.Key
}

func newLinkGraph() linkGraph {
	return linkGraph{
		redirected: page.NewRecent[float32](maxRedirected),
		waiting:    page.NewRecent[*evidence](maxTargets), fetched: page.NewRecent[known](maxFetched),
		sources: page.NewRecent[*source](maxSourcePages), places: page.NewRecent[*record](maxPlaces), yields: newYields(maxPatterns),
	}
}

// known is a fetched page as a target of links. There are half a million.
type known struct {
	probability float32 // its probability, when its links were taken in
	seen        uint32  // see turn and named
}

// turn is that of the page that named it last, so that a page counts once.
func (k known) turn() uint32 { return k.seen / (maxNamings + 1) }

// named is how many links to it its history has.
func (k known) named() int { return int(k.seen % (maxNamings + 1)) }

// seenIn makes a known's seen.
func seenIn(turn uint32, named int) uint32 { return turn*(maxNamings+1) + uint32(named) }

// target returns the evidence of a URL, new if there is none.
func (g *linkGraph) target(key uint64, url string) (e *evidence, isNew bool) {
	e, ok := g.waiting.Get(key)
	if !ok {
		e = &evidence{host: g.place(page.Host(url)), folder: g.place(folder(url)), yield: g.yields.of(url)}
		g.waiting.Put(key, e)
	}
	return e, !ok
}

// place returns the record of a host or a folder.
func (g *linkGraph) place(name string) *record {
	key := page.Key(name)
	r, ok := g.places.Get(key)
	if !ok {
		r = &record{}
		g.places.Put(key, r)
	}
	return r
}

// source returns what the page is as a giver of links.
func (g *linkGraph) source(url string) *source {
	key := page.Key(url)
	s, ok := g.sources.Get(key)
	switch {
	case ok:
		g.sources.Remove(key)
		if g.shared {
			g.givers.Put(key, s)
		}
		return s
	case g.shared:
		return g.giver(key)
	}
	return &source{key: key, hops: 1}
}

// wanted appends to dst, for each target, whether the words of a link to it are of use.
func (g *linkGraph) wanted(dst []bool, keys []uint64) []bool {
	for _, key := range keys {
		_, done := g.fetched.Peek(key)
		if !done {
			e, known := g.waiting.Peek(key)
			done = known && int(e.parents) >= maxTexts
		}
		dst = append(dst, !done)
	}
	return dst
}
