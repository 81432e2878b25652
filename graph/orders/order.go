package orders

import "slices"

// Link is what an ordering may know of a link to a URL.
type Link struct {
	Score  float64 // what the scorer thinks of the link; paper A: R of its page
	Step   uint64  // when its page was visited: 1 for the first page, 0 for a start URL
	Place  int     // among the links of that page, from 0
	Depth  int     // links from a start page to the URL
	Queued bool    // the URL is queued already,
	Old    float64 // with this priority

	// Rank says how many different priorities of the page's targets that wait are no better
	// than this one's, 0 for a new URL: for orderings that are Ranked.
	Rank int

	// Discovers says that the link only discovers its URL: it stays on a site without a
	// start page (paper B). Set for orderings with WantsKinds.
	Discovers bool
	// Listed says that a sitemap names the URL: no link does.
	Listed bool
}

// Ordering turns a discovered link into the priority of its URL.
type Ordering interface {
	Priority(l Link) float64
}

// orderingFunc is an Ordering that is a function.
type orderingFunc func(l Link) float64

// Priority calls the function.
func (f orderingFunc) Priority(l Link) float64 { return f(l) }

// orderings are the known ones. Each says what a further link to a queued URL
// does; ties are broken by discovery, see ID.
var orderings = map[string]orderingFunc{
	// The best of the parents counts (paper A2 with increase-key).
	"relevance": func(l Link) float64 { return best(l, l.Score) },
	// The neighbour of the earliest visited page first (paper B1): it is its
	// first parent that counts, and that one was visited first. All links count alike.
	"bfs": func(l Link) float64 { return best(l, -float64(l.Step)) },
}

// byKind are the orderings that tell the kinds of links apart, see counting.go.
var byKind = map[string]Ordering{
	"dfs": counting{count: latest, width: 1 << placeBits},
	"mcs": counting{count: countMCS, width: countUnit}, "mns": counting{count: countMNS, width: countUnit},
	"mcs-sites": counting{count: countMCS, width: countUnit, last: true},
	"lexbfs":    counting{count: firstParents}, "lexdfs": counting{count: lastParents, ranked: true},
	"backlink": alike{counting{count: countMCS, width: countUnit}},
}

// alike is an ordering that tells no kinds of links apart.
type alike struct{ Ordering }

func (alike) links() {}

// Priority implements Ordering.
func (a alike) Priority(l Link) float64 {
	l.Discovers = false
	return a.Ordering.Priority(l)
}

// CountAlike returns the ordering for which all links count alike, and false when it
// tells no kinds apart anyhow.
func CountAlike(o Ordering) (Ordering, bool) {
	if m, ok := o.(*Mix); ok {
		same := m.with(func(part Ordering) Ordering {
			part, _ = CountAlike(part)
			return part
		})
		return same, WantsKinds(o)
	}
	if !WantsKinds(o) {
		return o, false
	}
	return alike{o}, true
}

// Latest is the ordering of a scorer that weighs all links to a URL itself: what
// it says last holds.
var Latest Ordering = orderingFunc(func(l Link) float64 { return l.Score })

// ByDepth takes what is fewer links away from its start page first, and of these what was
// discovered first: breadth-first inside every party at once (paper E, E2), also where
// parties are not visited at the same pace. Redirects, which take no step, keep their place.
var ByDepth Ordering = byDepth{}

type byDepth struct{}

func (byDepth) Priority(l Link) float64 { return best(l, -float64(l.Depth)) }

func (byDepth) links() {}

func best(l Link, priority float64) float64 {
	if l.Queued {
		return max(l.Old, priority)
	}
	return priority
}

// OrderingByName returns one of Orderings, or a Mix of them (see ParseMix).
func OrderingByName(name string) (Ordering, error) {
	shares, err := parseMix(name, Orderings())
	if err != nil {
		return nil, err
	}
	m := &Mix{shares: shares}
	for _, s := range shares {
		m.parts = append(m.parts, named(s.Name))
	}
	if len(m.parts) == 1 {
		return m.parts[0], nil
	}
	return m, nil
}

func named(name string) Ordering {
	if o, ok := byKind[name]; ok {
		return o
	}
	if name == "relevance" {
		return orderings[name]
	}
	return byLinks{orderings[name]}
}

// byLinks is an ordering that takes no notice of scores.
type byLinks struct{ Ordering }

func (byLinks) links() {}

// ByScore says whether an ordering weighs scores, so that a URL's priority is to
// change when its score does.
func ByScore(o Ordering) bool {
	_, links := o.(interface{ links() })
	return !links
}

// Orderings returns the names of the known orderings, sorted.
func Orderings() []string {
	var names []string
	for name := range orderings {
		names = append(names, name)
	}
	for name := range byKind {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
