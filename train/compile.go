package train

import "fossick/models"

// compile lays a tree out in flat arrays, children after their parent.
func compile(root *node) *models.Tree {
	t := &models.Tree{}
	compiler{t}.add(root)
	return t
}

type compiler struct{ tree *models.Tree }

// add appends n and all below it, and returns its place.
func (c compiler) add(n *node) int32 {
	t := c.tree
	at := int32(len(t.Term))
	t.Term = append(t.Term, int32(n.term))
	t.Threshold = append(t.Threshold, n.threshold)
	t.Low, t.High = append(t.Low, -1), append(t.High, -1)
	t.Leaf = append(t.Leaf, -1)
	if n.term < 0 {
		t.Leaf[at] = int32(len(t.Counts))
		for _, pages := range n.counts {
			t.Counts = append(t.Counts, float32(pages))
		}
		return at
	}
	t.Low[at] = c.add(n.low)
	t.High[at] = c.add(n.high)
	return at
}
