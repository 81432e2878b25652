package graph

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
)

// numbered builds a graph of edges between numbers. Without names the nodes are
// the numbers that occur, in their order. Not safe for concurrent use.
type numbered struct {
	build
	dict  dictionary // of names, when there are some
	ids   [][]uint32 // the number of each name of a run
	nodes paged      // number → node, when there are names
	named uint32     // nodes with a name
	next  uint32     // node of the next number without one
	seen  idSet      // numbers that occur, when there are no names
}

// newNumbered begins a graph at path. Close it in the end.
func newNumbered(path string, opt BuildOptions) (*numbered, error) {
	b, err := newBuild(path, opt)
	if err != nil {
		return nil, err
	}
	n := &numbered{build: b, dict: newDictionary(b.scratch)}
	n.dict.apart = true
	return n, nil
}

// Names names the nodes: they will stand in URL order, equal names in the order
// that they come in. It must come before the edges. A number that has a name
// already is an error.
func (b *numbered) Names(ctx context.Context, names iter.Seq2[numberedName, error]) error {
	var ids []uint32
	flush := func() error {
		if len(ids) == 0 {
			return nil
		}
		b.ids, ids = append(b.ids, ids), nil
		return b.dict.flush()
	}
	for n, err := range names {
		if err != nil {
			return err
		}
		if len(n.Name) > maxNameBytes {
			return fmt.Errorf("graph %s: the name of %d has %d bytes; at most %d can be kept", b.path, n.ID, len(n.Name), maxNameBytes)
		}
		b.dict.add([]byte(n.Name))
		if ids = append(ids, n.ID); b.dict.bytes >= b.opt.Memory/2 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := flush(); err != nil {
		return err
	}
	nodes, err := b.dict.merge(ctx, func(v uint32, key []byte) error {
		b.belong.add(v, key)
		return nil
	})
	if err != nil {
		return err
	}
	b.named, b.next = uint32(nodes), uint32(nodes)
	for run, ids := range b.ids {
		table, err := b.dict.table(run)
		if err != nil {
			return err
		}
		for i, id := range ids {
			if !b.nodes.set(id, table[i]) {
				return fmt.Errorf("graph %s: number %d has two names; each number may stand once in the file of names", b.path, id)
			}
		}
	}
	b.ids = nil
	return nil
}

// numberedName is a line of a file that names numbers.
type numberedName struct {
	ID   uint32
	Name string
}

// Edge adds an edge.
func (b *numbered) Edge(src, dst uint32) error {
	if b.dict.merged == nil {
		b.seen.add(src)
		b.seen.add(dst)
	} else {
		src, dst = b.node(src), b.node(dst)
	}
	if src == dst {
		b.stats.SelfLoops++
		return nil
	}
	return b.edges.Add(uint64(src)<<32 | uint64(dst))
}

// node returns the node of a number; numbers without a name follow the named
// nodes as they come.
func (b *numbered) node(id uint32) uint32 {
	if v, ok := b.nodes.get(id); ok {
		return v
	}
	b.nodes.set(id, b.next)
	b.stats.Dangling++
	b.next++
	return b.next - 1
}

// Finish sorts and writes the graph.
func (b *numbered) Finish(ctx context.Context) (Stats, error) {
	if b.dict.merged != nil {
		nodes := int(b.next)
		if uint64(b.next) > uint64(b.named) {
			b.belong.hostRuns = appendRun(b.belong.hostRuns, b.named, None)
			b.belong.siteRuns = appendRun(b.belong.siteRuns, b.named, None)
		}
		return b.finish(ctx, nodes, func(v uint32) uint32 { return v }, b.keys())
	}
	n := b.seen.count()
	rank := b.seen.ranks()
	if uint64(n) == uint64(b.seen.end()) { // 0 … n−1: they name themselves
		return b.finish(ctx, n, func(v uint32) uint32 { return v }, nil)
	}
	return b.finish(ctx, n, rank, b.seen.keys())
}

// keys yields the keys of the named nodes, then the numbers of the others.
//
// The latter stand out of URL order, so Graph.Node does not find them by name.
func (b *numbered) keys() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for key, err := range b.dict.keys() {
			if !yield(key, err) || err != nil {
				return
			}
		}
		others := make([]uint32, b.next-b.named)
		b.nodes.each(func(id, v uint32) {
			if v >= b.named {
				others[v-b.named] = id
			}
		})
		for _, id := range others {
			if !yield(strconv.AppendUint([]byte{keyUnnamed}, uint64(id), 10), nil) {
				return
			}
		}
	}
}

// Close removes the scratch files, and the graph when it was not finished.
func (b *numbered) Close() error { return errors.Join(b.dict.close(), b.close()) }
