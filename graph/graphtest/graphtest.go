package graphtest

import (
	"path/filepath"
	"testing"

	"fossick/graph"
	"fossick/graph/synthetic"
)

// Open opens the graph at path.
func Open(t testing.TB, path string) *graph.Graph {
	t.Helper()
	g, err := graph.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// Synthetic makes a synthetic web of so many pages and opens its graph.
func Synthetic(t testing.TB, pages int) *graph.Graph {
	t.Helper()
	web, err := synthetic.New(pages, 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "g")
	if err := web.Write(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	return Open(t, path)
}
