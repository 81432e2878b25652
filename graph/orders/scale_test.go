package orders_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"fossick/eval/lab"
	"fossick/graph"
	"fossick/graph/orders"
	"fossick/internal/testkit"
)

// TestLinearOperations checks that operations per link do not grow with the web.
func TestLinearOperations(t *testing.T) {
	sizes := []int{3_000, 30_000}
	if testkit.Asked() {
		sizes = append(sizes, 300_000)
	}
	first := map[string]float64{}
	for _, pages := range sizes {
		web, err := graph.NewWeb(pages, 1)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "web.graph")
		if err := web.Write(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		g, err := graph.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		for _, name := range []string{"bfs", "mcs", "lexbfs"} {
			order, err := orders.NewSequence(name, orders.SequenceOptions{Vertices: pages, Rand: rand.New(rand.NewPCG(1, 1))})
			if err != nil {
				t.Fatal(err)
			}
			c := lab.GraphCrawl{Graph: g, Order: order, Sites: g.Sites().Array(pages)}
			for i := range 20 { // some have no links
				c.Starts = append(c.Starts, uint32(i*pages/20))
			}
			crawled, err := c.Run(t.Context(), func(int, uint32) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			perLink := float64(orders.Operations(order)) / float64(int64(crawled.Pages)+crawled.Edges)
			t.Logf("%s: %d pages, %d links, %.3f operations a page or link", name, crawled.Pages, crawled.Edges, perLink)
			if first[name] == 0 {
				first[name] = perLink
			}
			if perLink > 3 || perLink > first[name]*1.15 {
				t.Errorf("%s: %.2f operations a page or link, with %d links; %.2f in the smallest web, want no more, and 3 at most", name, perLink, crawled.Edges, first[name])
			}
		}
	}
}
