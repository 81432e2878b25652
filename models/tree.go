package models

import (
	"fmt"
	"math"
	"slices"

	"fossick/models/features"
)

// Tree is a decision tree in flat arrays. Node 0 is the root; a node's children come after it. An inner
// node sends x to Low when x[Term] ≤ Threshold, else to High; a leaf has Term −1 and its class counts
// at Leaf. A Walker finds the leaf of a page.
type Tree struct {
	Term      []int32 `cbor:"term"`
	Threshold floats  `cbor:"threshold"`
	Low       []int32 `cbor:"low"`
	High      []int32 `cbor:"high"`
	Leaf      []int32 `cbor:"leaf"`             // place in Counts, by node; −1 for inner nodes
	Counts    floats  `cbor:"counts"`           // classes values a leaf: training pages that reached it
	Shares    floats  `cbor:"shares,omitempty"` // likewise: class probabilities; nil: Counts with Laplace's correction
	Rules     *Rules  `cbor:"rules,omitempty"`  // the way to each leaf, simplified, in order of the leaves; nil: not made
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

// Simple returns the rule of a leaf, simplified where the tree has that, and the training pages of each
// class that it covers.
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

// Condition is a test on the way to a leaf: the term's count is above Over, and at most UpTo.
type Condition struct {
	Term int32
	Over float32 // −Inf when there is no lower bound
	UpTo float32 // +Inf when there is no upper bound
}

// Rule returns the conditions of a leaf in the order of the way to it, those on one term merged.
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

// Walker finds the leaf that a page reaches. Trees of text are lopsided, as most tests ask for a word
// that a page lacks. Nearly every page goes Low along one chain of hundreds of nodes from the root, the
// spine, until it has a word at last. The Walker does not go down the spine: it looks up where on it
// each word of the page stands, and takes the highest.
type Walker struct {
	tree  *Tree
	nodes []walkNode
	first []int32 // by term: its first place on the spine
	spine []place
	probs []float32 // a row of classes a leaf, at the places of Tree.Counts
}

// walkNode is a node by itself, so that a step touches one line of memory.
type walkNode struct {
	term      int32
	threshold float32
	low, high int32
}

// place is a node of the spine.
type place struct {
	over  float32 // the count of its term above which a page leaves the spine
	again int32   // the next place of the same term
	node  int32   // where the page goes then; of the last place, where the spine ends
}

// NewWalker prepares a tree, which must be that of a model that passes Check, for a number of terms and
// classes. The tree must not be changed any more.
func NewWalker(t *Tree, terms, classes int) *Walker {
	w := &Walker{tree: t, first: make([]int32, terms), probs: t.Shares}
	for i := range t.Term {
		w.nodes = append(w.nodes, walkNode{t.Term[i], t.Threshold[i], t.Low[i], t.High[i]})
	}
	var way []int32
	i := int32(0)
	for ; t.Term[i] >= 0 && t.Threshold[i] >= 0; i = t.Low[i] {
		way = append(way, i)
	}
	end := int32(len(way))
	for term := range w.first {
		w.first[term] = end
	}
	w.spine = make([]place, end+1)
	w.spine[end].node = i
	for at := end - 1; at >= 0; at-- {
		i = way[at]
		w.spine[at] = place{t.Threshold[i], w.first[t.Term[i]], t.High[i]}
		w.first[t.Term[i]] = at
	}
	if w.probs == nil {
		w.probs = laplace(t.Counts, classes)
	}
	return w
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

// Find returns the leaf that a page reaches. x has the page's terms and their counts above 0, and dense
// the same at their places and 0 at all others.
func (w *Walker) Find(x features.Vector, dense []float32) int32 {
	at := int32(len(w.spine) - 1)
	for j, t := range x.Index {
		for p := w.first[t]; p < at; p = w.spine[p].again {
			if x.Value[j] > w.spine[p].over {
				at = p
			}
		}
	}
	i := w.spine[at].node
	for {
		n := &w.nodes[i]
		if n.term < 0 {
			return i
		}
		if i = n.low; dense[n.term] > n.threshold {
			i = n.high
		}
	}
}

// Scores sets dst to the class probabilities of the leaf that x reaches. They are the leaf's Shares or,
// where the tree has none, Laplace's (n_c + 1) / (n + k). dense has a place for each term, and is zero
// before and after.
func (w *Walker) Scores(dst []float64, x features.Vector, dense []float32) (leaf int32) {
	for j, i := range x.Index {
		dense[i] = x.Value[j]
	}
	leaf = w.Find(x, dense)
	for _, i := range x.Index {
		dense[i] = 0
	}
	for c, p := range w.row(leaf, len(dst)) {
		dst[c] = float64(p)
	}
	return leaf
}

// row returns the class probabilities of a leaf.
func (w *Walker) row(leaf int32, classes int) []float32 {
	return w.probs[w.tree.Leaf[leaf]:][:classes]
}

// Forest is a bag of trees of the same terms and classes (Breiman 1996, 2001), mostTrees at most. A
// page goes down each; its score for a class is the logarithm of the mean share that its leaves have of
// the class. Its trees have neither Shares nor Rules.
type Forest []*Tree

// mostTrees is how many trees a forest may have: each is asked on every page.
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

// Ranger finds the leaves that a page reaches in a forest. It is not changed once made, and so may be
// shared by goroutines.
type Ranger struct {
	trees []*Walker
}

// Deciding is the leaf of the tree that spoke best for a class.
type Deciding struct {
	Tree, Leaf int32
	For        int // trees whose leaf has more of the class than of any other
}

// NewRanger prepares a forest, which must be that of a model that passes Check, for a number of terms
// and classes. A leaf's shares are (n_c + p_c) / (n + 1), with p_c the tree's own shares: as if each
// leaf had one page more, like all of the tree's.
func NewRanger(f Forest, terms, classes int) *Ranger {
	r := &Ranger{}
	for _, t := range f {
		w := NewWalker(t, terms, classes)
		w.probs = leafShares(t.Counts, classes)
		r.trees = append(r.trees, w)
	}
	return r
}

// leafShares returns the shares of rows of counts with a page like their sum added.
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

// Scores sets dst to the scores of a page, given by its counts x. dense has a place for each term, and
// is zero before and after.
func (r *Ranger) Scores(dst []float64, x features.Vector, dense []float32) {
	for j, i := range x.Index {
		dense[i] = x.Value[j]
	}
	clear(dst)
	for _, w := range r.trees {
		for c, p := range w.row(w.Find(x, dense), len(dst)) {
			dst[c] += float64(p)
		}
	}
	for _, i := range x.Index {
		dense[i] = 0
	}
	for c := range dst {
		dst[c] /= float64(len(r.trees))
	}
	Logs(dst)
}

// Decided returns the leaf that spoke best for a class on a page: that with the largest share of it, of
// equal ones that of the first tree. Its arguments are those of Scores.
func (r *Ranger) Decided(class, classes int, x features.Vector, dense []float32) (d Deciding) {
	for j, i := range x.Index {
		dense[i] = x.Value[j]
	}
	most := float32(-1)
	for t, w := range r.trees {
		leaf := w.Find(x, dense)
		row := w.row(leaf, classes)
		if row[class] > most {
			d.Tree, d.Leaf, most = int32(t), leaf, row[class]
		}
		if row[class] == slices.Max(row) {
			d.For++
		}
	}
	for _, i := range x.Index {
		dense[i] = 0
	}
	return d
}
