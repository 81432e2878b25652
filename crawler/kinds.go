package crawler

import (
	"fossick/frontier"
	"fossick/page"
)

// linkKinds tells apart the links that only discover a URL from those that move
// its priority (paper B): internal links of a site without a start page are of the
// first kind. The zero value is for orderings that count all links alike.
type linkKinds struct {
	initial map[string]struct{} // sites with a start page
}

func newLinkKinds(o frontier.Ordering, seeds []string) linkKinds {
	if !frontier.WantsKinds(o) {
		return linkKinds{}
	}
	k := linkKinds{initial: map[string]struct{}{}}
	for _, u := range seeds {
		k.initial[page.Site(u)] = struct{}{}
	}
	return k
}

// discovers says whether a link only discovers its target.
func (k linkKinds) discovers(from, to string) bool {
	if k.initial == nil {
		return false
	}
	site := page.Site(to)
	if _, ok := k.initial[site]; ok {
		return false
	}
	return page.Site(from) == site
}

// linkFrom is what an ordering may know of a link found now on a page.
func (c *Crawler) linkFrom(from string, f found) frontier.Link {
	return frontier.Link{Score: f.score, Step: c.counts.Pages, Discovers: c.kinds.discovers(from, f.url)}
}

// linkOf is what an ordering may know of a URL that a sitemap lists: it is no
// link.
func (c *Crawler) linkOf(f found) frontier.Link {
	return frontier.Link{Score: f.score, Step: c.counts.Pages, Discovers: true}
}

// rescorer returns the scorer when it changes its mind about queued URLs and the
// ordering goes by scores.
func (c *Crawler) rescorer() (Rescorer, bool) {
	s, ok := c.opt.Scorer.(Rescorer)
	return s, ok && frontier.ByScore(c.opt.Ordering)
}
