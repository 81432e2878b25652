package sources_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"fossick/datasets"
	"fossick/export/sources"
)

// The graph of the built-in corpus.
func ExampleSource_Build() {
	dir, err := os.MkdirTemp("", "graph-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s := sources.Source{Name: "demo", OpenSet: func(name string) (*datasets.Set, error) { return datasets.Open(name, datasets.Options{}) }}
	stats, err := s.Build(context.Background(), filepath.Join(dir, "demo.graph"), 0)
	fmt.Println(stats.Nodes > 0, stats.Edges > 0, err)
	// Output: true true <nil>
}
