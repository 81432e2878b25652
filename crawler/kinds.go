package crawler

import (
	"fossick/graph/orders"
	"fossick/internal/page"
)

// linkKinds tells apart the links that only discover a URL from those that move
// its priority (paper B). Internal links of a site without a start page are of
// the first kind. The zero value is for orderings that count all links alike.
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
