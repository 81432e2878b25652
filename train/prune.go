package train

import "math"

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

// prune replaces a subtree by a leaf where the leaf is expected to do no worse
// on new pages (C4.5's error-based pruning), from the leaves up. It returns the
// errors expected of what remains.
func prune(n *node) float64 {
	asLeaf := n.errors() + extraErrors(n.pages(), n.errors())
	if n.term < 0 {
		return asLeaf
	}
	asTree := prune(n.low) + prune(n.high)
	if asLeaf <= asTree+0.1 {
		*n = node{term: -1, counts: n.counts}
		return asLeaf
	}
	return asTree
}

// extraErrors returns how many errors beyond the e seen among n pages to expect:
// the upper limit of the binomial's interval at the confidence level, by the
// normal approximation and its interpolations of C4.5's stats.c.
func extraErrors(n, e float64) float64 {
	const z = 0.6925 // standard normal deviate of 0.25, as C4.5's table has it
	const z2 = z * z
	none := n * (1 - math.Exp(math.Log(confidence)/n))
	switch {
	case n == 0:
		return 0
	case e < 1e-6:
		return none
	case e < 0.9999:
		return none + e*(extraErrors(n, 1)-none)
	case e+0.5 >= n:
		return 0.67 * (n - e)
	}
	p := (e + 0.5 + z2/2 + math.Sqrt(z2*((e+0.5)*(1-(e+0.5)/n)+z2/4))) / (n + z2)
	return n*p - e
}
