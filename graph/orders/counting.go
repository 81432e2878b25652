package orders

import (
	"math"
	"math/bits"
	"slices"
)

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
