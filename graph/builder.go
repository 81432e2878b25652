package graph

import (
	"context"
	"errors"
	"fmt"
	"fossick/internal/extsort"
	"iter"
	"os"
	"path/filepath"
)

// BuildOptions say how a graph is built; the zero value works.
type BuildOptions struct {
	// Memory is about how many bytes sorting may take [256 MiB]. What does not fit
	// goes to scratch files beside the graph.
	Memory int
	// Site returns the site of a URL; "" and nil leave it at the registrable domain.
	Site func(url string) string
}

const defaultBuildMemory = 256 << 20

// Stats says what a graph was built of.
type Stats struct {
	Nodes     int
	Edges     int64
	SelfLoops int64 // dropped
	Repeated  int64 // edges dropped because they stood before
	Dangling  int64 // numbers that edges name and the file of names does not
}

// build is a graph that is being built: what both builders need.
type build struct {
	path    string
	opt     BuildOptions
	scratch string
	edges   *extsort.Sorter[uint64]
	stats   Stats
	belong  belonging
}

func newBuild(path string, opt BuildOptions) (build, error) {
	if opt.Memory <= 0 {
		opt.Memory = defaultBuildMemory
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+".scratch-")
	if err != nil {
		return build{}, fmt.Errorf("graph %s: %w", path, err)
	}
	b := build{path: path, opt: opt, scratch: dir, edges: newSorter(dir, opt.Memory/2)}
	b.belong = belonging{site: opt.Site, sites: map[string]uint32{}}
	return b, nil
}

// finish writes the graph: the sorted edges, each end through number.
func (b *build) finish(ctx context.Context, nodes int, number func(uint32) uint32, names iter.Seq2[[]byte, error]) (Stats, error) {
	w, err := Create(b.path, nodes)
	if err != nil {
		return b.stats, err
	}
	err = b.encode(ctx, w, number)
	w.hosts, w.sites = b.belong.hostRuns, b.belong.siteRuns
	w.h.hosts, w.h.sites = uint64(b.belong.hosts), uint64(b.belong.siteCount)
	b.stats.Nodes, b.stats.Repeated = nodes, b.edges.Repeated()
	if err != nil {
		return b.stats, errors.Join(err, w.Close())
	}
	if err := w.Finish(names); err != nil {
		return b.stats, err
	}
	b.stats.Edges = int64(w.h.edges)
	return b.stats, nil
}

// encode gives the writer the sorted edges, each end through number.
func (b *build) encode(ctx context.Context, w *Writer, number func(uint32) uint32) error {
	var list []uint32
	next := uint32(0) // the node whose list it is
	err := b.edges.Each(ctx, func(key uint64) error {
		src, dst := number(uint32(key>>32)), number(uint32(key))
		for ; next < src; next++ {
			if err := w.Add(list); err != nil {
				return err
			}
			list = list[:0]
		}
		list = append(list, dst)
		return nil
	})
	if err == nil && len(list) > 0 {
		err = w.Add(list)
	}
	return err
}

func (b *build) close() error {
	return errors.Join(b.edges.Close(), os.RemoveAll(b.scratch))
}

// Builder builds a graph of edges between names. Not safe for concurrent use.
type Builder struct {
	build
	dict    dictionary
	pairs   []*os.File // edges of each run that memory has no room for, as pairs of places
	pending []uint64   // edges of the run that are not in its file: source << 32 | target
	out     *os.File   // the file of the run, nil when it has none yet
	places  []uint32   // of a batch's names
	last    struct {   // source: lists are mostly sorted by it
		name  []byte
		place uint32
	}
}

// NewBuilder begins a graph at path. Close it in the end.
func NewBuilder(path string, opt BuildOptions) (*Builder, error) {
	b, err := newBuild(path, opt)
	if err != nil {
		return nil, err
	}
	return &Builder{build: b, dict: newDictionary(b.scratch)}, nil
}

// Node says that there is such a node, though it may have no edge.
func (b *Builder) Node(name []byte) error {
	if _, err := b.place(name); err != nil {
		return err
	}
	return b.full()
}

// Edge adds an edge.
func (b *Builder) Edge(src, dst []byte) error {
	from := b.last.place
	if b.last.name == nil || string(src) != string(b.last.name) {
		var err error
		if from, err = b.place(src); err != nil {
			return err
		}
		b.last.name, b.last.place = append(b.last.name[:0], src...), from
	}
	if string(src) == string(dst) {
		b.stats.SelfLoops++
		return nil
	}
	to, err := b.place(dst)
	if err != nil {
		return err
	}
	if err := b.pair(from, to); err != nil {
		return err
	}
	return b.full()
}

func (b *Builder) place(name []byte) (uint32, error) {
	if err := b.tooLong(name); err != nil {
		return 0, err
	}
	return b.dict.find(name), nil
}

// tooLong is an error about a name that a graph cannot keep.
func (b *Builder) tooLong(name []byte) error {
	if len(name) > maxNameBytes {
		return fmt.Errorf("graph %s: a name of %d bytes; at most %d can be kept", b.path, len(name), maxNameBytes)
	}
	return nil
}

// full ends the run when its names fill their share of the memory.
func (b *Builder) full() error {
	if b.dict.bytes < b.opt.Memory/2 {
		return nil
	}
	return b.flush()
}

// flush ends the run.
func (b *Builder) flush() error {
	if len(b.pending) > 0 {
		if err := b.spill(); err != nil {
			return err
		}
	}
	return b.endRun()
}

// endRun sorts the names of the run. Its edges are in its file, or pending.
func (b *Builder) endRun() error {
	if b.dict.names.len() == 0 {
		return nil
	}
	b.pairs = append(b.pairs, b.out) // nil: names alone, or all are pending
	b.out, b.last.name = nil, nil
	return b.dict.flush()
}

// Finish sorts and writes the graph.
func (b *Builder) Finish(ctx context.Context) (Stats, error) {
	if err := b.endRun(); err != nil {
		return b.stats, err
	}
	nodes, err := b.dict.merge(ctx, func(v uint32, key []byte) error {
		b.belong.add(v, key)
		return nil
	})
	if err != nil {
		return b.stats, err
	}
	for run, f := range b.pairs {
		last := run == len(b.pairs)-1
		if f == nil && !last {
			continue
		}
		table, err := b.dict.table(run)
		if err != nil {
			return b.stats, err
		}
		if f != nil {
			err = b.translate(ctx, f, table)
		}
		if err == nil && last {
			err = b.translatePending(table)
		}
		if err != nil {
			return b.stats, err
		}
	}
	return b.finish(ctx, nodes, func(v uint32) uint32 { return v }, b.dict.keys())
}

// Close removes the scratch files, and the graph when it was not finished.
func (b *Builder) Close() error {
	err := b.dict.close()
	for _, f := range append(b.pairs, b.out) {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	b.pairs, b.out, b.pending = nil, nil, nil
	return errors.Join(err, b.close())
}
