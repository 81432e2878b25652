package crawler

import (
	"fossick/graph/orders"
	"fossick/page"
)

// linkKinds tells apart the links that only discover a URL from those that move
// its priority (paper B): internal links of a site without a start page are of the
// first kind. The zero value is for orderings that count all links alike.
type linkKinds struct {
	initial map[string]struct{} // sites with a start page
}

func newLinkKinds(o orders.Ordering, seeds []string) linkKinds {
	if !orders.WantsKinds(o) {
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
func (c *Crawler) linkFrom(from string, f found) orders.Link {
	return orders.Link{Score: f.score, Step: c.totals.Pages, Discovers: c.kinds.discovers(from, f.url)}
}

// linkOf is what an ordering may know of a URL that a sitemap lists: it is no
// link.
func (c *Crawler) linkOf(f found) orders.Link {
	return orders.Link{Score: f.score, Step: c.totals.Pages, Discovers: true}
}

// learned gives the queue new priorities once the scorer has learned enough.
func (c *Crawler) learned() error {
	urls, whole := c.passes.Due(c.totals.Pages, c.frontier.Len(), c.frontier.Spilled())
	if whole {
		c.frontier.Reprioritise(c.passes.Priority)
		c.passes.Done()
	} else if urls > 0 && c.frontier.Renew(urls, c.passes.Priority) {
		c.passes.Done()
	}
	return c.frontier.Err()
}

// rescore has the whole queue hear at once of what the scorer has learned.
func (c *Crawler) rescore() {
	if c.passes.Begin(c.totals.Pages) {
		c.frontier.Reprioritise(c.passes.Priority)
		c.passes.Done()
	}
}

// rescorer returns the scorer when it changes its mind about queued URLs and the
// ordering goes by scores.
func (c *Crawler) rescorer() (Rescorer, bool) {
	s, ok := c.opt.Scorer.(Rescorer)
	return s, ok && orders.ByScore(c.opt.Ordering)
}
