package models

import (
	"fmt"
	"slices"

	"fossick/models/features"
)

// Forest is a bag of trees of the same terms and classes (Breiman 1996, 2001), mostTrees at
// most. A page goes down each; its score for a class is the logarithm of the mean share
// that its leaves have of the class. Its trees have neither Shares nor Rules.
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

// Ranger finds the leaves that a page reaches in a forest. It is not changed once made, and
// so may be shared by goroutines.
type Ranger struct {
	forest Forest
	trees  []*Walker
}

// Deciding is the leaf of the tree that spoke best for a class.
type Deciding struct {
	Tree, Leaf int32
	For        int // trees whose leaf has more of the class than of any other
}

// NewRanger prepares a forest, which must be that of a model that passes Check, for a number
// of terms and classes. A leaf's shares are (n_c + p_c) / (n + 1), with p_c the tree's own
// shares: as if each leaf had one page more, like all of the tree's.
func NewRanger(f Forest, terms, classes int) *Ranger {
	r := &Ranger{forest: f}
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

// Scores sets dst to the scores of a page, given by its counts x. dense has a place for each
// term, and is zero before and after.
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

// Decided returns the leaf that spoke best for a class on a page: that with the largest share of
// it, of equal ones that of the first tree. Its arguments are those of Scores.
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
