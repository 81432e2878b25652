package orders

// largestSite visits a page of the site with the most pages that wait, so that
// no site has many in the end (Baeza-Yates, Castillo, Marin and Rodriguez
// 2005). Of its pages it takes that which was discovered first; of several such
// sites, that whose number changed first. All links count. O(links) a step, 12
// bytes a site beside those a vertex.
type largestSite struct {
	pages  lists // one a site
	sites  lists // list k holds the sites with k pages that wait
	counts []uint32
	of     []uint32 // site of each vertex
	top    int      // no list of sites above it holds one
}

func newLargestSite(o SequenceOptions) *largestSite {
	l := &largestSite{pages: newLists(o.Vertices), of: o.Sites}
	l.sites.ensure(1)
	return l
}

// site returns a vertex's site, from 1; 0 for those without.
func (l *largestSite) site(v uint32) uint32 {
	if int(v) >= len(l.of) || l.of[v] == noSite {
		return 0
	}
	return l.of[v] + 1
}

func (l *largestSite) Next() (uint32, bool) {
	for ; l.top > 0; l.top-- {
		if l.top >= len(l.sites.heads) || l.sites.heads[l.top] == none {
			continue
		}
		v := l.pages.heads[l.sites.heads[l.top]]
		l.Take(v)
		return v, true
	}
	return 0, false
}

func (l *largestSite) Take(v uint32) {
	if l.pages.at(v).list < waiting {
		return
	}
	l.pages.take(v)
	l.change(l.site(v), -1)
}

func (l *largestSite) Visit(links Links) {
	for _, v := range links.All {
		if l.pages.at(v).list != unseen {
			continue
		}
		site := l.site(v)
		l.pages.ensure(int(site) + 1)
		l.pages.append(site, v)
		l.change(site, 1)
	}
}

// change notes that a site has one page more or fewer that waits.
func (l *largestSite) change(site uint32, by int) {
	for int(site) >= len(l.counts) {
		l.counts = append(l.counts, 0)
	}
	if l.counts[site] > 0 {
		l.sites.remove(site)
	}
	n := int(l.counts[site]) + by
	l.counts[site] = uint32(n)
	if n > 0 {
		l.sites.ensure(n + 1)
		l.sites.append(uint32(n), site)
		l.top = max(l.top, n)
	}
}

func (l *largestSite) Err() error { return nil }
