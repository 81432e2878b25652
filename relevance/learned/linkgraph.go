package learned

import "fossick/internal/page"

// linkGraph remembers queued targets with their evidence, fetched pages, hosts and folders.
type linkGraph struct {
	waiting   page.Recent[*evidence] // queued targets by page.Key
	fetched   page.Recent[known]     // by page.Key
	pagesRead uint32                 // number of pages whose links were read
	sources   page.Recent[*source]   // pages whose links come next, by page.Key
	places    page.Recent[*record]   // hosts and folders, by page.Key
	yields    yields
	referrers page.Recent[*source] // source pages by page.Key, for outcomes that other agents report
	shared    bool                 // there are other agents

	redirected page.Recent[float32] // R of what redirected here, by page.Key
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
	probability float32 // when its links were read
	seen        uint32  // encodes lastPage and named
}

// lastPage is the number of the page that last linked here, so that a page counts once.
func (k known) lastPage() uint32 { return k.seen / (maxNamings + 1) }

// named is how many links to it its history has.
func (k known) named() int { return int(k.seen % (maxNamings + 1)) }

// seenIn encodes known.seen.
func seenIn(lastPage uint32, named int) uint32 { return lastPage*(maxNamings+1) + uint32(named) }

// target returns the evidence of a URL, and creates it if necessary.
func (g *linkGraph) target(key uint64, url string) (e *evidence, isNew bool) {
	e, ok := g.waiting.Get(key)
	if !ok {
		e = &evidence{host: g.place(page.Host(url)), folder: g.place(folder(url)), yield: g.yields.of(url)}
		g.waiting.Put(key, e)
	}
	return e, !ok
}

func (g *linkGraph) place(name string) *record {
	return page.Entry(&g.places, page.Key(name))
}

// source returns a page as a source of links.
func (g *linkGraph) source(url string) *source {
	key := page.Key(url)
	s, ok := g.sources.Get(key)
	switch {
	case ok:
		g.sources.Remove(key)
		if g.shared {
			g.referrers.Put(key, s)
		}
		return s
	case g.shared:
		return g.referrer(key)
	}
	return &source{key: key, hops: 1}
}

// wanted appends to dst, per target, whether more link texts are useful.
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
