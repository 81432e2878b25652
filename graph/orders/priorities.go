package orders

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"fossick/internal/printable"
)

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

// The orderings of paper B as priorities. In a crawl of the web the queue lies on disk
// and hosts rest, so the lists and classes of Sequence cannot order it. A priority holds
// all that a further link needs to know of those before.
//
// As in Sequence a URL begins with the link that discovers it, whatever its kind, and
// further links that only discover leave it where it is. Without rests, one page at a
// time, DFS, MCS and LexDFS visit the pages that Sequence does. LexBFS compares the
// first two visits alone: its whole label has no bound, and a class split between two
// others has no number between theirs for ever, so that all on disk would have to be
// numbered anew.

// counting is an ordering by links that count.
type counting struct {
	// count returns the priority with one link more; old is that without it, 0 for
	// none. It is above 0.
	count  func(l Link, old float64) float64
	width  float64 // see Width; 0 is 1
	ranked bool    // see Ranked
	last   bool    // URLs that no link counts for have 0; see newMCSSites
}

// Kinds marks an ordering that wants the kinds of links.
func (counting) Kinds() {}

func (counting) links() {}

// WantsKinds says whether an ordering looks at Link.Discovers.
func WantsKinds(o Ordering) bool {
	return slices.ContainsFunc(Parts(o), func(o Ordering) bool {
		_, ok := o.(interface{ Kinds() })
		return ok
	})
}

func (c counting) Priority(l Link) float64 {
	switch {
	case !l.Queued && c.last && (l.Discovers || l.Listed):
		return 0
	case !l.Queued:
		return c.count(l, 0)
	case l.Discovers || l.Listed:
		return l.Old
	}
	return c.count(l, l.Old)
}

// A float64 holds 53 bits exactly. They bound what is told apart: steps up to
// lastStep, places up to lastPlace, links that count up to lastCount.
const (
	stepBits  = 26
	placeBits = 11
	lastStep  = 1<<stepBits - 2
	lastPlace = 1<<placeBits - 1
	countUnit = 1 << (stepBits + placeBits) // of MCS and MNS
	lastCount = 1<<(53-stepBits-placeBits) - 1
)

// stamp tells when a link was found: a larger number for a later one.
func (l *Link) stamp() float64 {
	return float64(min(l.Step, lastStep)<<placeBits | uint64(min(l.Place, lastPlace)))
}

// countMCS counts links: class ⟨k⟩ are the priorities from k·countUnit on. In a
// class the URL that came to it first goes first.
func countMCS(l Link, old float64) float64 { return counted(l, old, 1) }

// countMNS weighs the links of a page with 1 or 2, by the parity of its step's
// bits (the Thue–Morse sequence). Weights must be the same for all links of a
// page, and should follow no simple pattern.
func countMNS(l Link, old float64) float64 {
	return counted(l, old, 1+float64(bits.OnesCount64(l.Step)&1))
}

func counted(l Link, old, weight float64) float64 {
	k := min(math.Floor(old/countUnit)+weight, lastCount)
	return (k+1)*countUnit - 1 - l.stamp()
}

// latest is DFS: the neighbour of the latest visited page, its first link first.
func latest(l Link, _ float64) float64 {
	return float64((min(l.Step, lastStep)+1)<<placeBits | uint64(lastPlace-min(l.Place, lastPlace)))
}

// firstParents is LexBFS: the earlier the first visit the better, then the
// earlier the second, then any second rather than none.
func firstParents(l Link, old float64) float64 {
	digit := lastStep + 1 - min(l.Step, lastStep) // 1 and more, larger for earlier
	switch packed := uint64(old); {
	case packed == 0:
		return float64(digit << stepBits)
	case packed&(1<<stepBits-1) == 0:
		return float64(packed | digit)
	}
	return old
}

// lastParents is LexDFS: the later the last visit the better, then as the URLs stood
// before it, which Link.Rank tells. So a priority stands for the whole label.
func lastParents(l Link, _ float64) float64 {
	return float64((min(l.Step, lastStep)+1)<<stepBits | uint64(min(l.Rank, lastStep)))
}

// Ranked says whether an ordering looks at Link.Rank.
func Ranked(o Ordering) bool { return base(o).ranked }

// Width is by how much priorities differ that only ties tell apart, or more.
func Width(o Ordering) float64 { return max(1, base(o).width) }

// base returns the counting of an ordering, a zero one where it is none.
func base(o Ordering) counting {
	if a, ok := o.(alike); ok {
		o = a.Ordering
	}
	c, _ := o.(counting)
	return c
}

// Tell says what the priorities of a URL that waits stand for, in words that follow "with".
// name is as OrderingByName reads it, "" for relevance; also are the priorities by the
// further orderings of a mix.
func Tell(name string, priority float64, also []float64) string {
	shares, err := parseMix(name, Orderings())
	if err != nil || len(shares) == 1 && shares[0].Name == "relevance" {
		return fmt.Sprintf("priority %.4g", priority)
	}
	var all []string
	for i, p := range append([]float64{priority}, also...) {
		if i < len(shares) {
			all = append(all, fmt.Sprintf("%s by %s", tell(shares[i].Name, p), shares[i].Name))
		}
	}
	return strings.Join(all, ", ")
}

func tell(name string, priority float64) string {
	packed := uint64(max(0, priority))
	switch name {
	case "bfs":
		return "found on " + step(uint64(-min(0, priority)))
	case "mcs", "mcs-sites", "backlink":
		if packed/countUnit == 1 {
			return "1 link that counts"
		}
		return printable.Sprintf("%d links that count", packed/countUnit)
	case "mns":
		return fmt.Sprintf("links that weigh %d", packed/countUnit)
	case "dfs":
		return "linked latest from " + step(packed>>placeBits-1)
	case "lexdfs":
		return "linked latest from " + step(packed>>stepBits-1)
	case "lexbfs":
		told := "found on " + step(lastStep+1-packed>>stepBits)
		if second := packed & (1<<stepBits - 1); second > 0 {
			told += ", then linked from " + step(lastStep+1-second)
		}
		return told
	}
	return fmt.Sprintf("priority %.4g", priority)
}

// step names a page by when it was visited.
func step(n uint64) string {
	if n == 0 {
		return "no page: it is a start page"
	}
	return fmt.Sprintf("page %d", n)
}
