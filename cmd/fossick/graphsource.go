package main

import (
	"os"
	"path/filepath"
	"strings"

	"fossick/datasets"
	"fossick/graph"
	"fossick/graph/sources"
	"fossick/internal/values"
)

// sourceOf is what a user names as a graph.
func sourceOf(a *app, name string) (sources.Source, error) {
	s := sources.Source{
		Name: name, Seed: uint64(a.seed), OpenStore: a.openToRead,
		OpenSet: func(name string) (*datasets.Set, error) { return a.openSet(name, datasets.Options{}) },
	}
	if pages, ok := strings.CutPrefix(name, "synthetic:"); ok {
		n, err := values.Count(pages)
		if err != nil || n == 0 {
			return s, usagef("synthetic:%s: want a number of pages, as in synthetic:1M", pages)
		}
		s.Pages = int(n)
	}
	return s, nil
}

// openGraph opens a graph file, or builds one in a scratch folder that goes when the verb
// ends. stats is nil for what was there already.
func openGraph(a *app, s sources.Source, memory int) (g *graph.Graph, stats *graph.Stats, err error) {
	path := s.Name
	if !s.IsGraph() {
		if path, err = scratchGraph(a); err != nil {
			return nil, nil, err
		}
		a.say("building the graph of %s", s.Name)
		if stats, err = buildGraph(a, s, path, memory); err != nil {
			return nil, nil, err
		}
	}
	if g, err = graph.Open(path); err != nil {
		return nil, nil, err
	}
	a.onClose(g.Close)
	return g, stats, nil
}

func buildGraph(a *app, s sources.Source, path string, memory int) (*graph.Stats, error) {
	defer a.step("building the graph of " + s.Name)()
	return s.Build(a.ctx, path, memory)
}

// scratchGraph returns a path in a folder that goes when the verb ends.
func scratchGraph(a *app) (string, error) {
	dir, err := os.MkdirTemp("", "fossick-graph-")
	if err != nil {
		return "", err
	}
	a.onClose(func() error { return os.RemoveAll(dir) })
	return filepath.Join(dir, "graph"), nil
}
