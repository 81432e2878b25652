package sources

import (
	"context"
	"fmt"

	"fossick/graph"
	"fossick/internal/printable"
	"fossick/internal/usage"
)

// Weights says where surfers start anew: at the pages with a label, or else at the nodes
// that a file names, by their weights. n is how many have one above 0.
func (s Source) Weights(ctx context.Context, g *graph.Graph, label, path string) (x []float64, n int, err error) {
	if label != "" {
		x, found, err := s.Labelled(ctx, g, label)
		if err == nil && found[label] == 0 {
			err = usage.Errorf("no page of %s is labelled %s; it has the labels %s", s.Name, label, listed(label, found))
		}
		return x, found[label], err
	}
	x = make([]float64, g.Nodes())
	err = s.eachNode(g, path, func(v uint32, value string, line int) error {
		var err error
		if x[v], err = weightOf(value); err != nil {
			return fmt.Errorf("%s:%d: %w", path, line, err)
		}
		return nil
	})
	for _, weight := range x {
		if weight > 0 {
			n++
		}
	}
	if err == nil && n == 0 {
		err = usage.Errorf("%s: all weights are 0; give a node more", path)
	}
	return x, n, err
}

// Blocks says to which block each node belongs: its host (the default), its site, its
// first label, or what a file says.
func (s Source) Blocks(ctx context.Context, g *graph.Graph, by string) ([]uint32, error) {
	runs := map[string]graph.Runs{"": g.Hosts(), "host": g.Hosts(), "site": g.Sites()}
	if of, ok := runs[by]; ok {
		if of.Count() == 0 {
			return nil, usage.Errorf("the nodes of %s are not URLs, so they have no hosts; give the blocks with --block FILE", s.Name)
		}
		return of.Array(g.Nodes()), nil
	}
	block := make([]uint32, g.Nodes())
	for v := range block {
		block[v] = graph.None
	}
	number := map[string]uint32{}
	put := func(v uint32, name string) {
		b, ok := number[name]
		if !ok {
			b = uint32(len(number))
			number[name] = b
		}
		block[v] = b
	}
	if by == "label" {
		err := s.Labels(ctx, g, func(v uint32, labels []string) {
			if len(labels) > 0 {
				put(v, labels[0])
			}
		})
		return block, err
	}
	return block, s.eachNode(g, by, func(v uint32, value string, line int) error {
		if value == "" {
			return fmt.Errorf("%s:%d: no block; want node TAB block", by, line)
		}
		put(v, value)
		return nil
	})
}

// listed names the labels that there are for an error on one that there is not.
func listed(label string, found map[string]int) string {
	if len(found) == 0 {
		return "none; fossick refine gives them"
	}
	return printable.SomeNames(label, printable.SortedKeys(found))
}
