package simulate

import "testing"

// TestVerdict: the ordering that is ahead after a tenth of the graph, beside breadth first or
// pages at random.
func TestVerdict(t *testing.T) {
	curve := func(tenth, whole float64) []MeanPoint {
		a, b := MeanPoint{Pages: 100}, MeanPoint{Pages: 1000}
		a.PageRank.Value, b.PageRank.Value = tenth, whole
		return []MeanPoint{a, b}
	}
	r := &Comparison{Nodes: 1000, order: []string{"dfs", "opic"}, points: map[string][]MeanPoint{
		"dfs": curve(.2, 1), "opic": curve(.4, .9), "bfs": curve(.3, 1),
	}}
	if got, want := r.verdict(), "After 100 pages, opic has 40 % of all PageRank; pages at random would have 10 %."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.order = append(r.order, "bfs")
	if got, want := r.verdict(), "After 100 pages, opic has 40 % of all PageRank; bfs, breadth first, has 30 %."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
