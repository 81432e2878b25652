package graph

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
)

// Transpose writes the graph with all edges turned round, with the same names,
// hosts and sites, at path. memory is about how many bytes sorting may take; 0 is
// 256 MiB.
func (g *Graph) Transpose(ctx context.Context, path string, memory int) error {
	if memory <= 0 {
		memory = defaultBuildMemory
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+".scratch-")
	if err != nil {
		return fmt.Errorf("graph %s: %w", path, err)
	}
	b := build{path: path, scratch: dir, edges: newSorter(dir, memory)}
	b.belong = belonging{
		hostRuns: g.hosts.raw, siteRuns: g.sites.raw,
		hosts: uint32(g.hosts.Count()), siteCount: uint32(g.sites.Count()),
	}
	err = g.Scan(0, g.Nodes(), func(v uint32, list []uint32) error {
		if v%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for _, s := range list {
			if err := b.edges.Add(uint64(s)<<32 | uint64(v)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		_, err = b.finish(ctx, g.Nodes(), func(v uint32) uint32 { return v }, g.keys())
	}
	return errors.Join(err, b.close())
}

// keys yields the keys of all names; it is nil when there are none.
func (g *Graph) keys() iter.Seq2[[]byte, error] {
	if g.names.n == 0 {
		return nil
	}
	return func(yield func([]byte, error) bool) {
		var key []byte
		for v := range g.names.n {
			var ok bool
			if key, ok = g.names.key(key, v); !ok {
				yield(nil, fmt.Errorf("graph %s: %w: the name of node %d cannot be read; build the file again", g.path, errDamaged, v))
				return
			}
			if !yield(key, nil) {
				return
			}
		}
	}
}
