package main

import (
	"errors"
	"fmt"

	"fossick/graph"
	"fossick/internal/lists"
)

// personal says where surfers start anew, nil when everywhere.
func (r *rankRun) personal() (x []float64, err error) {
	n := 0
	switch {
	case r.Topic != "":
		x, n, err = r.personalByTopic()
	case r.Personal != "":
		x, n, err = r.personalByFile()
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.app.say("surfers start anew on %d of %d nodes", n, r.g.Nodes())
	return x, nil
}

// personalByTopic returns 1 for the pages with the label, and their number.
func (r *rankRun) personalByTopic() (x []float64, n int, err error) {
	x, found, err := r.source.Labelled(r.app.ctx, r.g, r.Topic)
	if err == nil && found[r.Topic] == 0 {
		err = usagef("no page of %s is labelled %s; it has the labels %s", r.Graph, r.Topic, listed(found))
	}
	return x, found[r.Topic], err
}

// personalByFile returns the weights that the file gives nodes, and how many have one
// above 0.
func (r *rankRun) personalByFile() (x []float64, n int, err error) {
	x = make([]float64, r.g.Nodes())
	err = r.named(r.Personal, func(v uint32, value string, line int) error {
		var err error
		if x[v], err = weightOf(value); err != nil {
			return fmt.Errorf("%s:%d: %w", r.Personal, line, err)
		}
		return nil
	})
	for _, weight := range x {
		if weight > 0 {
			n++
		}
	}
	if err == nil && n == 0 {
		err = usagef("%s: all weights are 0; give a node more", r.Personal)
	}
	return x, n, err
}

// blockOf says to which block each node belongs.
func (r *rankRun) blockOf() ([]uint32, error) {
	runs := map[string]graph.Runs{"": r.g.Hosts(), "host": r.g.Hosts(), "site": r.g.Sites()}
	if of, ok := runs[r.Block]; ok {
		if of.Count() == 0 {
			return nil, usagef("the nodes of %s are no URLs, so they have no hosts; name a file with --block FILE", r.Graph)
		}
		return of.Array(r.g.Nodes()), nil
	}
	block := make([]uint32, r.g.Nodes())
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
	if r.Block == "label" {
		err := r.source.Labels(r.app.ctx, r.g, func(v uint32, labels []string) {
			if len(labels) > 0 {
				put(v, labels[0])
			}
		})
		return block, err
	}
	return block, r.named(r.Block, func(v uint32, value string, line int) error {
		if value == "" {
			return fmt.Errorf("%s:%d: no block; want node TAB block", r.Block, line)
		}
		put(v, value)
		return nil
	})
}

// named calls do with the nodes that a file names, a line each, and what stands
// after the tab.
func (r *rankRun) named(path string, do func(v uint32, value string, line int) error) error {
	f, err := lists.Open(path)
	if err != nil {
		return err
	}
	found, err := eachNamed(f, path, func(name, value string, line int) error {
		v, ok, err := r.g.Node(name)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s:%d: %s is no node of %s; write it as the graph does", path, line, name, r.Graph)
		}
		return do(v, value, line)
	})
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if !found {
		return usagef("%s names no node", path)
	}
	return nil
}
