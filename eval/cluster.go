package eval

// Cluster is the quality of the pages that refinement kept, among the pages
// fetched. A ratio is nil when it is of nothing: precision when no page is
// kept, recall when no fetched page is relevant. All are nil where the labels that
// call a page relevant are those of the model that is measured.
type Cluster struct {
	Pages     int      `json:"pages"`
	Relevant  int      `json:"relevant"` // of the kept pages
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
	F1        *float64 `json:"f1"`
}

// Kept measures a cluster: kept[i] and relevant[i] speak of the i-th page.
//
//	precision = |kept ∩ relevant| / |kept|,  recall = |kept ∩ relevant| / |relevant|
//	F1 = 2 · |kept ∩ relevant| / (|kept| + |relevant|)
func Kept(kept, relevant []bool) Cluster {
	var c Cluster
	all := 0
	for i, k := range kept {
		if k {
			c.Pages++
		}
		if relevant[i] {
			all++
		}
		if k && relevant[i] {
			c.Relevant++
		}
	}
	c.Precision = share(c.Relevant, c.Pages)
	c.Recall = share(c.Relevant, all)
	c.F1 = share(2*c.Relevant, c.Pages+all)
	return c
}
