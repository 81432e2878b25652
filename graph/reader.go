package graph

import "fmt"

// Reader decodes the successors of any node. Not safe for concurrent use; a graph
// may have many.
type Reader struct {
	g     *Graph
	d     decoder
	lists [][]uint32 // by how many references lead there
}

// Reader returns a new reader.
func (g *Graph) Reader() *Reader {
	return &Reader{g: g, d: g.decoder(), lists: make([][]uint32, g.h.chain+1)}
}

func (g *Graph) decoder() decoder {
	return decoder{params: g.h.params, nodes: g.h.nodes, r: bitReader{buf: g.stream}}
}

// Successors returns the successors of node v, growing. They are good until the
// next call. O(their number), with a factor of at most the references in a row.
func (r *Reader) Successors(v uint32) ([]uint32, error) {
	if uint64(v) >= r.g.h.nodes {
		return nil, fmt.Errorf("graph %s: node %d of %d", r.g.path, v, r.g.h.nodes)
	}
	return r.list(v, 0)
}

// list decodes the list of v, which depth references have led to.
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

// Scan calls do with the successors of the nodes from, …, to−1, which are good
// until the next call, and ends with its error. In order, no list is decoded
// twice.
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
	for v := max(0, from-g.h.window); v < from; v++ { // what the first ones may refer to
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
