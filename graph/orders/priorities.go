package orders

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"fossick/internal/cli"
)

// Link is what an ordering may know about a link to a URL.
type Link struct {
	Score  float64 // the scorer's score of the link; in paper A, R of its page
	Step   uint64  // when its page was visited: from 1; 0 for a start URL
	Place  int     // among the links of that page, from 0
	Depth  int     // links from a start page to the URL
	Queued bool    // the URL is already queued
	Old    float64 // its priority, if queued

	// Rank is the number of distinct priorities, among the page's waiting targets, up to this one's;
	// 0 for a new URL. Set for orderings that are Ranked.
	Rank int

	// Discovers marks a link that only discovers its URL, because it stays on a site without a start
	// page (paper B). Set for orderings with WantsKinds.
	Discovers bool
	// Listed marks a URL from a sitemap instead of a link.
	Listed bool
}

type Ordering interface {
	Priority(l Link) float64
}

type orderingFunc func(l Link) float64

func (f orderingFunc) Priority(l Link) float64 { return f(l) }

// orderings are those without kinds of links. Discovery breaks ties.
var orderings = map[string]orderingFunc{
	// The best parent counts (paper A2 with increase-key).
	"relevance": func(l Link) float64 { return best(l, l.Score) },
	// Neighbours of the earliest visited page first (paper B1), which is the first parent.
	"bfs": func(l Link) float64 { return best(l, -float64(l.Step)) },
}

// byKind are the orderings that distinguish kinds of links.
var byKind = map[string]Ordering{
	"dfs": counting{count: latest, width: 1 << placeBits},
	"mcs": counting{count: countMCS, width: countUnit}, "mns": counting{count: countMNS, width: countUnit},
	"mcs-sites": counting{count: countMCS, width: countUnit, last: true},
	"lexbfs":    counting{count: firstParents}, "lexdfs": counting{count: lastParents, ranked: true},
	"backlink": alike{counting{count: countMCS, width: countUnit}},
}

type alike struct{ Ordering }

func (alike) links() {}

func (a alike) Priority(l Link) float64 {
	l.Discovers = false
	return a.Ordering.Priority(l)
}

// Latest is for a scorer that itself combines all links to a URL: its latest score is the priority.
var Latest Ordering = orderingFunc(func(l Link) float64 { return l.Score })

// ByDepth orders by distance from the start page, then discovery: breadth-first within every party (paper E,
// E2), however fast each is. Redirects do not count as links.
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

// OrderingByName returns one of Orderings, or a Mix (see ParseMix).
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

// byLinks is an ordering that ignores scores.
type byLinks struct{ Ordering }

func (byLinks) links() {}

// ByScore reports whether an ordering uses scores, so that a new score changes a URL's priority.
func ByScore(o Ordering) bool {
	_, links := o.(interface{ links() })
	return !links
}

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

// counting is an ordering of paper B as a priority. In a web crawl the queue is on disk and hosts have delays,
// so Sequence's lists do not work: the priority itself must summarise all earlier links.
//
// As in Sequence, any link may discover a URL, and later links that only discover do not move it. Without
// delays, one page at a time, DFS, MCS and LexDFS visit the same pages as Sequence. LexBFS compares only the
// first two visits, as its label has no bound.

type counting struct {
	// count returns the priority, > 0, after one more link; old is the previous one, 0 for none.
	count  func(l Link, old float64) float64
	width  float64 // see Width; 0 is 1
	ranked bool    // see Ranked
	last   bool    // URLs without counting links have 0; see newMCSSites
}

func (counting) Kinds() {}

func (counting) links() {}

// WantsKinds reports whether an ordering uses Link.Discovers.
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

// A float64 holds 53 bits exactly, which limits the resolution of steps, places and counts.
const (
	stepBits  = 26
	placeBits = 11
	lastStep  = 1<<stepBits - 2
	lastPlace = 1<<placeBits - 1
	countUnit = 1 << (stepBits + placeBits) // of MCS and MNS
	lastCount = 1<<(53-stepBits-placeBits) - 1
)

// stamp increases with later links.
func (l *Link) stamp() float64 {
	return float64(min(l.Step, lastStep)<<placeBits | uint64(min(l.Place, lastPlace)))
}

// countMCS counts links: class ⟨k⟩ has the priorities from k·countUnit on; within a class the earlier URL is
// first.
func countMCS(l Link, old float64) float64 { return counted(l, old, 1) }

// countMNS gives all links of a page weight 1 or 2, by the parity of its step's bits (Thue–Morse), which
// follows no simple pattern.
func countMNS(l Link, old float64) float64 {
	return counted(l, old, 1+float64(bits.OnesCount64(l.Step)&1))
}

func counted(l Link, old, weight float64) float64 {
	k := min(math.Floor(old/countUnit)+weight, lastCount)
	return (k+1)*countUnit - 1 - l.stamp()
}

// latest is DFS: neighbours of the latest visited page first, in page order.
func latest(l Link, _ float64) float64 {
	return float64((min(l.Step, lastStep)+1)<<placeBits | uint64(lastPlace-min(l.Place, lastPlace)))
}

// firstParents is LexBFS: the earlier the first visit the better, then the earlier the second; any second
// beats none.
func firstParents(l Link, old float64) float64 {
	digit := lastStep + 1 - min(l.Step, lastStep) // ≥ 1, larger for earlier steps
	switch packed := uint64(old); {
	case packed == 0:
		return float64(digit << stepBits)
	case packed&(1<<stepBits-1) == 0:
		return float64(packed | digit)
	}
	return old
}

// lastParents is LexDFS: the later the last visit the better, then the previous order, from Link.Rank. The
// priority thus represents the whole label.
func lastParents(l Link, _ float64) float64 {
	return float64((min(l.Step, lastStep)+1)<<stepBits | uint64(min(l.Rank, lastStep)))
}

// Ranked reports whether an ordering uses Link.Rank.
func Ranked(o Ordering) bool { return base(o).ranked }

// Width is the smallest difference of priorities that is more than a tie-break.
func Width(o Ordering) float64 { return max(1, base(o).width) }

func base(o Ordering) counting {
	if a, ok := o.(alike); ok {
		o = a.Ordering
	}
	c, _ := o.(counting)
	return c
}

// Tell describes the priorities of a waiting URL, to follow "with". name is as in OrderingByName, "" for
// relevance; also has the priorities in the further parts of a mix.
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
		return cli.Sprintf("%d links that count", packed/countUnit)
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

func step(n uint64) string {
	if n == 0 {
		return "no page: it is a start page"
	}
	return fmt.Sprintf("page %d", n)
}
