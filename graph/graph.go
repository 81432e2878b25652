package graph

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
)

// Graph is an opened graph file. It is safe for concurrent use; its Readers are
// not. The file must not be changed while it is open.
type Graph struct {
	path    string
	data    []byte // the file
	close   func() error
	h       header
	stream  []byte
	offsets offsets
	names   names
	hosts   Runs
	sites   Runs
}

// Open maps a graph file into memory. It checks the header, not the content: see
// Verify. Close it when nothing of it is used any more.
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

// open reads a graph that is in memory.
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

// Close unmaps the file.
func (g *Graph) Close() error {
	err := g.close()
	g.close, g.data, g.stream = func() error { return nil }, nil, nil
	return err
}

// Nodes returns the number of nodes.
func (g *Graph) Nodes() int { return int(g.h.nodes) }

// Edges returns the number of edges.
func (g *Graph) Edges() int64 { return int64(g.h.edges) }

// Hosts says which host nodes belong to.
func (g *Graph) Hosts() Runs { return g.hosts }

// Sites says which site nodes belong to.
func (g *Graph) Sites() Runs { return g.sites }

// Bytes returns the size of the code of all successors, of the places where they
// begin, and of the whole file.
func (g *Graph) Bytes() (successors, offsets, file int64) {
	return int64(g.h.bits+7) / 8, int64(g.h.sections[sectionOffsets].size), int64(len(g.data))
}

// Verify reads all of the file: the checksums, every list, every name.
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
		again, err := r.Successors(v) // by the offsets
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
