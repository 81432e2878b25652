package graph_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"fossick/graph"
)

// This example builds, opens and reads a graph of three links.
func Example() {
	dir, err := os.MkdirTemp("", "graph-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "web.graph")
	if err := build(path); err != nil {
		fmt.Println(err)
		return
	}
	g, err := graph.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer g.Close()
	v, _, err := g.Node("http://a.test/")
	if err != nil {
		fmt.Println(err)
		return
	}
	links, err := g.Reader().Successors(v)
	for _, w := range links {
		name, _ := g.Name(w)
		fmt.Println(name)
	}
	fmt.Println(g.Nodes(), g.Edges(), g.Hosts().Count(), err)
	// Output:
	// http://a.test/x
	// http://b.test/
	// 3 3 2 <nil>
}

func build(path string) error {
	b, err := graph.NewBuilder(path, graph.BuildOptions{})
	if err != nil {
		return err
	}
	defer b.Close()
	for _, e := range [][2]string{{"http://a.test/", "http://b.test/"}, {"http://a.test/", "http://a.test/x"}, {"http://a.test/x", "http://a.test/"}} {
		if err := b.Edge([]byte(e[0]), []byte(e[1])); err != nil {
			return err
		}
	}
	_, err = b.Finish(context.Background())
	return err
}
