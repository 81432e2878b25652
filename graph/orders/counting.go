package orders

// The orderings of paper B that weigh visited neighbours, as priorities. In a
// crawl of the web the queue lies on disk and hosts rest, so the lists and
// classes of Sequence cannot order it. A priority holds all that a further link
// needs to know of those before. MCS and MNS are exact; LexBFS and LexDFS
// compare the first, and the last, two visits that count. Ties are broken by
// discovery.

// counting is an ordering by links that count. With a link that only discovers, a
// URL comes after all that have one that counts.
type counting struct {
	// count returns the priority with one link more, by a page visited at step; old
	// is that without it, 0 for none. Priorities are above 0.
	count func(step uint64, old float64) float64
}

// Kinds marks an ordering that wants the kinds of links.
func (counting) Kinds() {}

func (counting) links() {}

// WantsKinds says whether an ordering looks at Link.Discovers.
func WantsKinds(o Ordering) bool {
	_, ok := o.(interface{ Kinds() })
	return ok
}

func (c counting) Priority(l Link) float64 {
	old := 0.0
	if l.Queued {
		old = l.Old
	}
	if l.Discovers {
		return old
	}
	return c.count(l.Step, old)
}

// countMCS counts links.
func countMCS(_ uint64, old float64) float64 { return old + 1 }

// countMNS weighs the links of a page with 1 or 2, by the parity of its step's
// bits (the Thue–Morse sequence). Weights must be the same for all links of a
// page, and should follow no simple pattern.
func countMNS(step uint64, old float64) float64 {
	step ^= step >> 32
	step ^= step >> 16
	step ^= step >> 8
	step ^= step >> 4
	step ^= step >> 2
	step ^= step >> 1
	return old + 1 + float64(step&1)
}

// Two steps stand in a priority, of 26 bits each, so that a float64 holds them
// exactly. Visits after the 67 millionth are not told apart.
const stepBits = 26

const lastStep = 1<<stepBits - 2

// firstParents is LexBFS: the earlier the first visit the better, then the
// earlier the second, then any second rather than none.
func firstParents(step uint64, old float64) float64 {
	digit := lastStep + 1 - min(step, lastStep) // 1 and more, larger for earlier
	switch packed := uint64(old); {
	case packed == 0:
		return float64(digit << stepBits)
	case packed&(1<<stepBits-1) == 0:
		return float64(packed | digit)
	}
	return old
}

// lastParents is LexDFS: the later the last visit the better, then the later the
// one before.
func lastParents(step uint64, old float64) float64 {
	digit := min(step, lastStep) + 1
	return float64(digit<<stepBits | uint64(old)>>stepBits)
}
