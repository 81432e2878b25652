package train

import (
	"math"
	"slices"
)

// confidence is C4.5's -c: how pessimistic pruning is; smaller prunes more.
const confidence = 0.25

// node is a node of a tree while it is shaped.
type node struct {
	term      int // −1 at a leaf
	threshold float32
	low, high *node
	counts    []float64 // training pages by class
}

func (n *node) pages() (sum float64) {
	for _, c := range n.counts {
		sum += c
	}
	return sum
}

// errors returns the training pages that n gets wrong as a leaf.
func (n *node) errors() float64 { return n.pages() - n.counts[best(n.counts)] }

// prune makes of a subtree what is expected to do best on new pages (C4.5's
// error-based pruning), from the leaves up. That may be itself, a leaf, or, by
// raising, its larger branch, which then takes the pages of the smaller one
// too. pages are those that reach n. It returns the errors expected of what
// remains.
func (g *grower) prune(n *node, pages []int) float64 {
	asLeaf := n.expected()
	if n.term < 0 {
		return asLeaf
	}
	low, high := g.part(pages, n.term, n.threshold)
	inLow, inHigh := g.prune(n.low, low), g.prune(n.high, high)
	asTree := inLow + inHigh
	large, smaller, asBranch := n.low, high, inLow
	if len(high) > len(low) {
		large, smaller, asBranch = n.high, low, inHigh
	}
	asBranch += g.raised(large, smaller)
	switch {
	case asLeaf <= asTree+0.1 && asLeaf <= asBranch+0.1:
		*n = node{term: -1, counts: n.counts}
		return asLeaf
	case asBranch <= asTree+0.1:
		for _, p := range smaller {
			large.reached(g, p, func(m *node) { m.counts[g.y[p]]++ })
		}
		*n = *large
		return g.prune(n, pages) // with more pages it may shrink
	}
	return asTree
}

// raised returns how many more errors a subtree is expected to make when it takes
// more pages. Only the leaves that they reach are reckoned anew.
func (g *grower) raised(n *node, more []int) (errors float64) {
	type change struct {
		leaf   *node
		counts []float64
	}
	var changes []change // in order of the pages, so that sums are the same each time
	place := map[*node]int{}
	for _, p := range more {
		var leaf *node
		n.reached(g, p, func(m *node) { leaf = m })
		at, ok := place[leaf]
		if !ok {
			at = len(changes)
			place[leaf] = at
			changes = append(changes, change{leaf, slices.Clone(leaf.counts)})
		}
		changes[at].counts[g.y[p]]++
	}
	for _, c := range changes {
		after := node{term: -1, counts: c.counts}
		errors += after.expected() - c.leaf.expected()
	}
	return errors
}

// reached calls f with the nodes that a page passes, the leaf last.
func (n *node) reached(g *grower, page int, f func(*node)) {
	for {
		f(n)
		if n.term < 0 {
			return
		}
		if g.count(page, n.term) > n.threshold {
			n = n.high
		} else {
			n = n.low
		}
	}
}

// expected returns the errors to expect of n as a leaf.
func (n *node) expected() float64 { return n.errors() + extraErrors(n.pages(), n.errors()) }

// extraErrors returns how many errors beyond the e seen among n pages to
// expect. It is the upper limit of the binomial's interval at the confidence
// level, by the normal approximation of C4.5's stats.c. That also has cases for
// parts of an error, which there are none of here.
func extraErrors(n, e float64) float64 {
	const z = 0.6925 // standard normal deviate of 0.25, as C4.5's table has it
	const z2 = z * z
	switch e {
	case 0:
		return n * (1 - math.Exp(math.Log(confidence)/n))
	case n:
		return 0 // there cannot be more
	}
	p := (e + 0.5 + z2/2 + math.Sqrt(z2*((e+0.5)*(1-(e+0.5)/n)+z2/4))) / (n + z2)
	return n*p - e
}
