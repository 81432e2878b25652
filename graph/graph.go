package graph

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"os"
	"path/filepath"
)

// Graph is an open graph file, safe for concurrent use; its Readers are not. The file must not change while
// open.
type Graph struct {
	path    string
	data    []byte // the mapped file
	close   func() error
	h       header
	stream  []byte
	offsets offsets
	names   names
	hosts   Runs
	sites   Runs
}

// Open maps a graph file into memory and checks only its header; Verify checks the rest.
func Open(path string) (*Graph, error) {
	data, unmap, err := mapFile(path)
	if err != nil {
		return nil, fmt.Errorf("graph %s: %w", path, err)
	}
	g, err := open(data)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("graph %s: %w", path, err), unmap())
	}
	g.path, g.close = path, unmap
	return g, nil
}

func open(data []byte) (*Graph, error) {
	h, err := decodeHeader(data)
	if err != nil {
		return nil, err
	}
	g := &Graph{data: data, h: h, close: func() error { return nil }}
	g.stream = g.section(sectionSuccessors)
	ok := make([]bool, 4)
	g.offsets, ok[0] = openOffsets(g.section(sectionOffsets), h.nodes, h.bits)
	g.names, ok[1] = openNames(g.section(sectionNames), g.section(sectionBlocks), h.nodes)
	g.hosts, ok[2] = openRuns(g.section(sectionHosts), h.nodes, h.hosts)
	g.sites, ok[3] = openRuns(g.section(sectionSites), h.nodes, h.sites)
	for i, what := range []string{"offsets", "names", "hosts", "sites"} {
		if !ok[i] {
			return nil, fmt.Errorf("%w: its section of %s does not match its header; build the file again", errDamaged, what)
		}
	}
	return g, nil
}

func (g *Graph) section(i int) []byte {
	s := g.h.sections[i]
	return g.data[s.at : s.at+s.size]
}

func (g *Graph) Close() error {
	err := g.close()
	g.close, g.data, g.stream = func() error { return nil }, nil, nil
	return err
}

func (g *Graph) Nodes() int { return int(g.h.nodes) }

func (g *Graph) Edges() int64 { return int64(g.h.edges) }

// Hosts maps nodes to hosts.
func (g *Graph) Hosts() Runs { return g.hosts }

// Sites maps nodes to sites.
func (g *Graph) Sites() Runs { return g.sites }

// Bytes returns the sizes of the coded successors, of their offsets, and of the file.
func (g *Graph) Bytes() (successors, offsets, file int64) {
	return int64(g.h.bits+7) / 8, int64(g.h.sections[sectionOffsets].size), int64(len(g.data))
}

// Verify reads and checks the whole file: checksums, lists and names.
func (g *Graph) Verify(ctx context.Context) error {
	for i, s := range g.h.sections {
		if crc32.Checksum(g.section(i), crcTable) != s.crc {
			return fmt.Errorf("graph %s: %w: the checksum of section %d is wrong; build the file again", g.path, errDamaged, i)
		}
	}
	r, edges := g.Reader(), int64(0)
	err := g.Scan(0, g.Nodes(), func(v uint32, list []uint32) error {
		if v%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		edges += int64(len(list))
		again, err := r.Successors(v) // through the offsets
		if err == nil && len(again) != len(list) {
			err = fmt.Errorf("%w: the offset of node %d is wrong; build the file again", errDamaged, v)
		}
		if err == nil {
			_, err = g.Name(v)
		}
		return err
	})
	if err == nil && edges != g.Edges() {
		err = fmt.Errorf("%w: %d edges, its header says %d; build the file again", errDamaged, edges, g.Edges())
	}
	if err != nil {
		return fmt.Errorf("graph %s: %w", g.path, err)
	}
	return nil
}

// Reader decodes the successors of any node. Not safe for concurrent use; a graph may have many Readers.
type Reader struct {
	g     *Graph
	d     decoder
	lists [][]uint32 // by depth in the reference chain
}

func (g *Graph) Reader() *Reader {
	return &Reader{g: g, d: g.decoder(), lists: make([][]uint32, g.h.chain+1)}
}

func (g *Graph) decoder() decoder {
	return decoder{params: g.h.params, nodes: g.h.nodes, r: bitReader{buf: g.stream}}
}

// Successors returns the successors of node v, increasing and valid until the next call. O(their number)
// times the length of the reference chain.
func (r *Reader) Successors(v uint32) ([]uint32, error) {
	if uint64(v) >= r.g.h.nodes {
		return nil, fmt.Errorf("graph %s: node %d of %d", r.g.path, v, r.g.h.nodes)
	}
	return r.list(v, 0)
}

func (r *Reader) list(v uint32, depth int) ([]uint32, error) {
	if depth == len(r.lists) {
		return nil, r.d.damage(v, "too many references in a row")
	}
	at, ok := r.g.offsets.at(uint64(v))
	if !ok || at >= r.g.h.bits {
		return nil, r.d.damage(v, "an impossible offset")
	}
	r.d.r.pos, r.d.r.bad = at, false
	n, ref, err := r.d.head(v)
	if err != nil {
		return nil, err
	}
	var from []uint32
	if ref > 0 {
		here := r.d.r.pos
		if from, err = r.list(v-uint32(ref), depth+1); err != nil {
			return nil, err
		}
		r.d.r.pos = here
	}
	r.lists[depth], err = r.d.body(r.lists[depth][:0], v, n, ref, from)
	return r.lists[depth], err
}

// Scan calls do with the successors of nodes from … to−1, valid until the next call, and returns do's first
// error. It decodes each list once.
func (g *Graph) Scan(from, to int, do func(v uint32, successors []uint32) error) error {
	if from < 0 || to > g.Nodes() {
		return fmt.Errorf("graph %s: nodes %d to %d of %d", g.path, from, to, g.Nodes())
	}
	if from >= to {
		return nil
	}
	d := g.decoder()
	ring := make([][]uint32, g.h.window+1)
	r := g.Reader()
	for v := max(0, from-g.h.window); v < from; v++ { // possible references
		list, err := r.Successors(uint32(v))
		if err != nil {
			return err
		}
		ring[v%len(ring)] = append(ring[v%len(ring)][:0], list...)
	}
	at, ok := g.offsets.at(uint64(from))
	if !ok || at >= g.h.bits {
		return d.damage(uint32(from), "an impossible offset")
	}
	d.r.pos = at
	for v := from; v < to; v++ {
		n, ref, err := d.head(uint32(v))
		if err != nil {
			return err
		}
		slot, refSlot := v%len(ring), (v-ref)%len(ring)
		if ring[slot], err = d.body(ring[slot][:0], uint32(v), n, ref, ring[refSlot]); err != nil {
			return err
		}
		if err := do(uint32(v), ring[slot]); err != nil {
			return err
		}
	}
	return nil
}

// CSR is a graph as arrays (compressed sparse rows), 4 bytes per edge and 8 per node. The successors of v are
// To[Start[v]:Start[v+1]].
type CSR struct {
	Start []int64 // number of nodes + 1
	To    []uint32
}

func (c *CSR) Nodes() int { return max(0, len(c.Start)-1) }

func (c *CSR) Successors(v uint32) []uint32 { return c.To[c.Start[v]:c.Start[v+1]] }

func (c *CSR) Scan(from, to int, do func(v uint32, successors []uint32) error) error {
	if from < 0 || to > c.Nodes() {
		return fmt.Errorf("nodes %d to %d of %d", from, to, c.Nodes())
	}
	for v := from; v < to; v++ {
		if err := do(uint32(v), c.Successors(uint32(v))); err != nil {
			return err
		}
	}
	return nil
}

// Transposed returns the transposed graph in memory, and the out-degrees of g. It temporarily needs 8 bytes
// per edge, because it decodes successors only once.
func Transposed(g Lists) (*CSR, []uint32, error) {
	n := g.Nodes()
	degree := make([]uint32, n)
	start := make([]int64, n+2) // counts of s at s+2; their sums are the starts of s+1
	var all [][]uint32          // successors of all nodes, in chunks
	var chunk []uint32
	err := g.Scan(0, n, func(v uint32, list []uint32) error {
		degree[v] = uint32(len(list))
		for _, s := range list {
			start[s+2]++
		}
		if len(list) > cap(chunk)-len(chunk) {
			all, chunk = append(all, chunk), make([]uint32, 0, max(1<<18, len(list)))
		}
		chunk = append(chunk, list...)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	all = append(all, chunk)
	for v := range n {
		start[v+2] += start[v+1]
	}
	to := make([]uint32, start[n+1])
	v, left := -1, uint32(0) // unread successors of v
	for i, chunk := range all {
		for _, s := range chunk {
			for left == 0 {
				v++
				left = degree[v]
			}
			left--
			to[start[s+1]] = uint32(v)
			start[s+1]++ // finally the start of s+1
		}
		all[i] = nil
	}
	return &CSR{Start: start[:n+1], To: to}, degree, nil
}

// Transpose writes the transposed graph, with the same names, hosts and sites, to path. memory is roughly
// what sorting may use in bytes; 0 is 256 MiB.
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
