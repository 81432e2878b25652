package models

import "fossick/models/features"

// Walker finds the leaf that a page reaches. Trees of text are lopsided, as
// most tests ask for a word that a page lacks. Nearly every page goes Low along
// one chain of hundreds of nodes from the root, the spine, until it has a word
// at last. The Walker does not go down the spine: it looks up where on it each
// word of the page stands, and takes the highest. It is not changed once made,
// and so may be shared by goroutines.
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

// NewWalker prepares a tree, which must be that of a model that passes Check, for a
// number of terms and classes. The tree must not be changed any more.
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

// Find returns the leaf that a page reaches. x has the page's terms and their
// counts above 0, and dense the same at their places and 0 at all others.
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

// Scores sets dst to the class probabilities of the leaf that x reaches. They are the
// leaf's Shares or, where the tree has none, Laplace's (n_c + 1) / (n + k). dense has a
// place for each term, and is zero before and after.
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
