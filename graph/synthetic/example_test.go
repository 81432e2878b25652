package synthetic_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"fossick/graph"
	"fossick/graph/rank"
	"fossick/graph/synthetic"
)

// A web of a thousand pages, made up and ranked.
func Example() {
	dir, err := os.MkdirTemp("", "graph-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "web.graph")
	web, err := synthetic.New(1000, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := web.Write(context.Background(), path); err != nil {
		fmt.Println(err)
		return
	}
	g, err := graph.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	ranks, err := rank.Of(context.Background(), g, rank.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Nodes(), len(ranks.Score), ranks.Residual <= 1e-10)
	// Output: 1000 1000 true
}
