package models

import (
	"fmt"
	"math"
	"slices"
)

// Tree is a decision tree in flat arrays. Node 0 is the root; a node's children
// come after it. An inner node sends x to Low when x[Term] ≤ Threshold, else to
// High; a leaf has Term −1 and its class counts at Leaf. A Walker finds the leaf of a
// page.
type Tree struct {
	Term      []int32
	Threshold []float32
	Low, High []int32
	Leaf      []int32   // place in Counts, by node; −1 for inner nodes
	Counts    []float32 // classes values a leaf: training pages that reached it
	Shares    []float32 // likewise: class probabilities; nil: Counts with Laplace's correction
	Rules     *Rules    // the way to each leaf, simplified, in order of the leaves; nil: not made
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

// Simple returns the rule of a leaf, simplified where the tree has that, and the
// training pages of each class that it covers.
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

// Condition is a test on the way to a leaf: the term's count is above Over, and
// at most UpTo.
type Condition struct {
	Term int32
	Over float32 // −Inf when there is no lower bound
	UpTo float32 // +Inf when there is no upper bound
}

// Rule returns the conditions of a leaf in the order of the way to it, those on
// one term merged.
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

// merge makes one condition of those on one term, at the place of the first.
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
