package train

import "fossick/models"

// compile lays a tree out in flat arrays, children after their parent. shrink is how many
// pages like its parent's are added to a node's own before its shares are taken. Half of the
// leaves of a tree of text have two or three pages, so what they have seen is little. Of two
// classes with a page each one must be taken.
func compile(root *node, shrink float64) *models.Tree {
	t := &models.Tree{}
	parent := make([]float64, len(root.counts))
	for c, n := range root.counts {
		parent[c] = n / root.pages()
	}
	compiler{t, shrink}.add(root, parent)
	return t
}

type compiler struct {
	tree   *models.Tree
	shrink float64
}

// add appends n and all below it, and returns its place. parent has the shares
// of the node above. From the root down a node's are (n_c + m p_c) / (n + m),
// the m-estimate. No class has none that the root has pages of.
func (c compiler) add(n *node, parent []float64) int32 {
	t := c.tree
	at := int32(len(t.Term))
	t.Term = append(t.Term, int32(n.term))
	t.Threshold = append(t.Threshold, n.threshold)
	t.Low, t.High = append(t.Low, -1), append(t.High, -1)
	t.Leaf = append(t.Leaf, -1)
	shares := make([]float64, len(parent))
	for i, pages := range n.counts {
		shares[i] = (pages + c.shrink*parent[i]) / (n.pages() + c.shrink)
	}
	if n.term < 0 {
		t.Leaf[at] = int32(len(t.Counts))
		for i, pages := range n.counts {
			t.Counts, t.Shares = append(t.Counts, float32(pages)), append(t.Shares, float32(shares[i]))
		}
		return at
	}
	t.Low[at] = c.add(n.low, shares)
	t.High[at] = c.add(n.high, shares)
	return at
}
