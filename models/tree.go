package models

import (
	"fmt"
	"math"
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
}

func (t *Tree) check(terms, classes int) error {
	n := len(t.Term)
	if n == 0 || len(t.Threshold) != n || len(t.Low) != n || len(t.High) != n || len(t.Leaf) != n ||
		len(t.Counts)%classes != 0 || t.Shares != nil && len(t.Shares) != len(t.Counts) ||
		!finite(t.Threshold) || !finite(t.Counts) || !finite(t.Shares) {
		return fmt.Errorf("model whose tree is not whole")
	}
	for i := range t.Term {
		if t.Term[i] < 0 {
			if at := int(t.Leaf[i]); at < 0 || at > len(t.Counts)-classes {
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
	var rule []Condition
next:
	for i := len(way) - 1; i >= 0; i-- {
		for j := range rule {
			if rule[j].Term == way[i].Term {
				rule[j].Over, rule[j].UpTo = max(rule[j].Over, way[i].Over), min(rule[j].UpTo, way[i].UpTo)
				continue next
			}
		}
		rule = append(rule, way[i])
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
