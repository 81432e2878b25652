package webgraph

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
)

// TestBatchesOfLists builds from edges that fill several batches, with long stretches of
// nodes that have none, and compares with the lists written one by one: bit for bit.
func TestBatchesOfLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	const nodes = 5 * batchNodes
	lists := make([][]uint32, nodes)
	for range 3 * batchEdges {
		v := rng.IntN(nodes / 8)
		if rng.IntN(100) == 0 {
			v = nodes/2 + rng.IntN(10) // few with many
		}
		lists[v] = append(lists[v], rng.Uint32N(nodes))
	}
	lists[0] = append(lists[0], nodes-1)
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "want"), nodes)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBuild(filepath.Join(dir, "got"), BuildOptions{Memory: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for v, list := range lists {
		slices.Sort(list)
		list = slices.Compact(list)
		if err := w.Add(list); err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if err := b.edges.add(uint64(v)<<32 | uint64(s)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Finish(nil); err != nil {
		t.Fatal(err)
	}
	same := func(v uint32) uint32 { return v }
	if _, err := b.finish(t.Context(), nodes, same, nil); err != nil {
		t.Fatal(err)
	}
	if err := b.close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(fileOf(t, filepath.Join(dir, "got")), fileOf(t, filepath.Join(dir, "want"))) {
		t.Error("in batches it is another file")
	}
}

// TestBatchesEnd ends in the middle: by the context, and by an edge that cannot be.
func TestBatchesEnd(t *testing.T) {
	build := func(ctx context.Context, nodes int) error {
		b, err := newBuild(filepath.Join(t.TempDir(), "g"), BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for v := range uint64(10 * batchNodes) {
			if err := b.edges.add(v<<32 | (v + 1)); err != nil {
				t.Fatal(err)
			}
		}
		_, err = b.finish(ctx, nodes, func(v uint32) uint32 { return v }, nil)
		if err := b.close(); err != nil {
			t.Fatal(err)
		}
		return err
	}
	if err := build(t.Context(), 10); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("an edge to no node gives %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := build(ctx, 10*batchNodes+1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
