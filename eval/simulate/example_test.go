package simulate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"fossick/eval/simulate"
	"fossick/graph"
	"fossick/graph/orders"
)

// A breadth-first crawl of a small graph.
func Example() {
	dir, err := os.MkdirTemp("", "graph-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	list := filepath.Join(dir, "list.tsv")
	if err := os.WriteFile(list, []byte("0\t1\n0\t2\n1\t3\n2\t4\n3\t0\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := graph.BuildEdgeList(context.Background(), list, list+".graph", graph.BuildOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	g, err := graph.Open(list + ".graph")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	bfs, err := orders.NewSequence("bfs", orders.SequenceOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	c := simulate.Crawl{Graph: g, Order: bfs, Starts: []uint32{0}}
	done, err := c.Run(context.Background(), func(_ int, page uint32) error {
		fmt.Print(page, " ")
		return nil
	})
	fmt.Println(done.Pages, done.Edges, err)
	// Output: 0 1 2 3 4 5 5 <nil>
}
