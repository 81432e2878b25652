package models

import (
	"fmt"
	"math"
	"slices"
)

// Tree is a decision tree in flat arrays. Node 0 is the root; children follow their parent. An inner node
// sends x to Low if x[Term] ≤ Threshold, else to High. A leaf has Term −1 and its class counts at Leaf.
type Tree struct {
	Term      []int32 `cbor:"term"`
	Threshold floats  `cbor:"threshold"`
	Low       []int32 `cbor:"low"`
	High      []int32 `cbor:"high"`
	Leaf      []int32 `cbor:"leaf"`             // by node: place in Counts; −1 for inner nodes
	Counts    floats  `cbor:"counts"`           // by leaf and class: training pages that reached it
	Shares    floats  `cbor:"shares,omitempty"` // likewise: class probabilities; nil: Counts with Laplace's correction
	Rules     *Rules  `cbor:"rules,omitempty"`  // a simplified rule per leaf, in order of the leaves; nil: none
}

func (t *Tree) check(terms, classes int) error {
	n := len(t.Term)
	if n == 0 || len(t.Threshold) != n || len(t.Low) != n || len(t.High) != n || len(t.Leaf) != n ||
		len(t.Counts)%classes != 0 || t.Shares != nil && len(t.Shares) != len(t.Counts) ||
		!finite(t.Threshold) || !finite(t.Counts) || !finite(t.Shares) {
		return fmt.Errorf("model whose tree is incomplete")
	}
	if t.Rules != nil {
		if t.Rules.Len() != len(t.Counts)/classes {
			return fmt.Errorf("model whose tree has %d rules for %d leaves", t.Rules.Len(), len(t.Counts)/classes)
		}
		if err := t.Rules.check(terms, classes); err != nil {
			return err
		}
	}
	for i := range t.Term {
		if t.Term[i] < 0 {
			if at := int(t.Leaf[i]); at < 0 || at > len(t.Counts)-classes || at%classes != 0 {
				return fmt.Errorf("model whose tree has a leaf without counts at node %d", i)
			}
			continue
		}
		inside := func(child int32) bool { return int(child) > i && int(child) < n }
		if int(t.Term[i]) >= terms || !inside(t.Low[i]) || !inside(t.High[i]) {
			return fmt.Errorf("model whose tree leads nowhere at node %d", i)
		}
	}
	return nil
}

// Bounded reports whether c has a lower bound.
func (c Condition) Bounded() bool { return !math.IsInf(float64(c.Over), -1) }

// Limited reports whether c has an upper bound.
func (c Condition) Limited() bool { return !math.IsInf(float64(c.UpTo), 1) }

// Simple returns the rule of a leaf, simplified if there are Rules, and its training pages by class.
func (t *Tree) Simple(leaf int32, classes int) ([]Condition, []float32) {
	if t.Rules == nil {
		return t.Rule(leaf), t.LeafCounts(leaf, classes)
	}
	r, n := t.Rules, int(t.Leaf[leaf])/classes
	var way []Condition
	for i := r.Start[n]; i < r.Start[n+1]; i++ {
		c := Condition{r.Term[i], r.Threshold[i], float32(math.Inf(1))}
		if r.Above[i] == 0 {
			c.Over, c.UpTo = float32(math.Inf(-1)), r.Threshold[i]
		}
		way = append(way, c)
	}
	return merge(way), r.Covered(n, classes)
}

// LeafShares returns the class probabilities of a leaf of a tree that has Shares.
func (t *Tree) LeafShares(leaf int32, classes int) []float32 {
	return t.Shares[t.Leaf[leaf]:][:classes]
}

// LeafCounts returns the training pages of each class that reached a leaf.
func (t *Tree) LeafCounts(leaf int32, classes int) []float32 {
	return t.Counts[t.Leaf[leaf]:][:classes]
}

// Condition is a test on the path to a leaf: the term's count is above Over, and at most UpTo.
type Condition struct {
	Term int32
	Over float32 // −Inf without a lower bound
	UpTo float32 // +Inf without an upper bound
}

// Rule returns the conditions on the path to a leaf, with those on one term merged.
func (t *Tree) Rule(leaf int32) []Condition {
	parent, high := int32(-1), false
	var way []Condition // from the leaf up
	for node := leaf; ; node = parent {
		if parent, high = t.parent(node); parent < 0 {
			break
		}
		c := Condition{t.Term[parent], float32(math.Inf(-1)), float32(math.Inf(1))}
		if high {
			c.Over = t.Threshold[parent]
		} else {
			c.UpTo = t.Threshold[parent]
		}
		way = append(way, c)
	}
	slices.Reverse(way)
	return merge(way)
}

// merge merges the conditions on one term, at the place of the first.
func merge(way []Condition) (rule []Condition) {
next:
	for _, c := range way {
		for j := range rule {
			if rule[j].Term == c.Term {
				rule[j].Over, rule[j].UpTo = max(rule[j].Over, c.Over), min(rule[j].UpTo, c.UpTo)
				continue next
			}
		}
		rule = append(rule, c)
	}
	return rule
}

func (t *Tree) parent(node int32) (parent int32, high bool) {
	for i := node - 1; i >= 0; i-- {
		if t.Term[i] >= 0 && (t.Low[i] == node || t.High[i] == node) {
			return i, t.High[i] == node
		}
	}
	return -1, false
}

// find returns the leaf that a page reaches; dense has the page's counts by term.
func (t *Tree) find(dense []float32) (node int32) {
	for t.Term[node] >= 0 {
		if dense[t.Term[node]] > t.Threshold[node] {
			node = t.High[node]
		} else {
			node = t.Low[node]
		}
	}
	return node
}

// laplace returns the shares (n_c + 1) / (n + k) of rows of k counts.
func laplace(counts []float32, classes int) []float32 {
	shares := make([]float32, len(counts))
	for at := 0; at+classes <= len(counts); at += classes {
		total := float32(classes)
		for _, n := range counts[at:][:classes] {
			total += n
		}
		for c, n := range counts[at:][:classes] {
			shares[at+c] = (n + 1) / total
		}
	}
	return shares
}

// Forest is a bag of at most mostTrees trees of the same terms and classes (Breiman 1996, 2001). A class's
// score is the logarithm of its mean share in the leaves that a page reaches. A leaf's shares are
// (n_c + p_c) / (n + 1), with p_c the tree's own: as if each leaf had one more page, an average one of the
// tree. The trees have neither Shares nor Rules.
type Forest []*Tree

// mostTrees is the most trees of a forest, because each scores every page.
const mostTrees = 256

// mostPages keeps sums of counts finite.
const mostPages = 1 << 30

func (f Forest) check(terms, classes int) error {
	if len(f) == 0 || len(f) > mostTrees {
		return fmt.Errorf("model whose forest has %d trees; want 1 to %d", len(f), mostTrees)
	}
	for i, t := range f {
		if t == nil || t.Shares != nil || t.Rules != nil {
			return fmt.Errorf("model whose tree %d of a forest is missing, or has shares or rules", i+1)
		}
		if err := t.check(terms, classes); err != nil {
			return fmt.Errorf("tree %d of a forest: %w", i+1, err)
		}
		if slices.ContainsFunc(t.Counts, func(n float32) bool { return n < 0 || n > mostPages }) {
			return fmt.Errorf("model whose tree %d of a forest has a leaf with a negative number of pages, or too many", i+1)
		}
	}
	return nil
}

// leafShares returns the shares of rows of counts, with an average page added to each.
func leafShares(counts []float32, classes int) []float32 {
	all, total := make([]float32, classes), float32(0)
	for i, n := range counts {
		all[i%classes] += n
		total += n
	}
	shares := make([]float32, len(counts))
	for at := 0; at < len(counts); at += classes {
		n := float32(1)
		for _, k := range counts[at:][:classes] {
			n += k
		}
		for c, k := range counts[at:][:classes] {
			shares[at+c] = (k + all[c]/max(total, 1)) / n
		}
	}
	return shares
}
