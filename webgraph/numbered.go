package webgraph

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"strconv"
)

// Numbered builds a graph of edges between numbers. Without names the nodes are
// the numbers that occur, in their order. Not safe for concurrent use.
type Numbered struct {
	base
	dict  dictionary // of names, when there are some
	ids   [][]uint32 // the number of each name of a run
	nodes paged      // number → node, when there are names
	named uint32     // nodes with a name
	next  uint32     // node of the next number without one
	seen  idSet      // numbers that occur, when there are no names
}

// NewNumbered begins a graph at path. Close it in the end.
func NewNumbered(path string, opt BuildOptions) (*Numbered, error) {
	b, err := newBase(path, opt)
	if err != nil {
		return nil, err
	}
	return &Numbered{base: b, dict: dictionary{dir: b.scratch, apart: true}}, nil
}

// Names names the nodes: they will stand in URL order, equal names in the order
// that they come in. It must come before the edges. A number that has a name
// already is an error.
func (b *Numbered) Names(ctx context.Context, names iter.Seq2[NumberedName, error]) error {
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
		b.dict.add(n.Name)
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

// NumberedName is a line of a file that names numbers.
type NumberedName struct {
	ID   uint32
	Name string
}

// Edge adds an edge.
func (b *Numbered) Edge(src, dst uint32) error {
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
	return b.edges.add(uint64(src)<<32 | uint64(dst))
}

// node returns the node of a number; numbers without a name follow the named
// nodes as they come.
func (b *Numbered) node(id uint32) uint32 {
	if v, ok := b.nodes.get(id); ok {
		return v
	}
	b.nodes.set(id, b.next)
	b.stats.Dangling++
	b.next++
	return b.next - 1
}

// Finish sorts and writes the graph.
func (b *Numbered) Finish(ctx context.Context) (Stats, error) {
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
func (b *Numbered) keys() iter.Seq2[[]byte, error] {
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
func (b *Numbered) Close() error { return errors.Join(b.dict.close(), b.close()) }

// paged maps numbers to nodes, in memory for the ranges that occur.
type paged struct{ pages map[uint32]*[pageLen]uint32 }

const pageLen = 1 << 12

// set says whether the number was free.
func (p *paged) set(id, v uint32) bool {
	if p.pages == nil {
		p.pages = map[uint32]*[pageLen]uint32{}
	}
	page := p.pages[id/pageLen]
	if page == nil {
		page = new([pageLen]uint32)
		p.pages[id/pageLen] = page
	}
	free := page[id%pageLen] == 0
	page[id%pageLen] = v + 1 // 0 is for none
	return free
}

func (p *paged) get(id uint32) (uint32, bool) {
	page := p.pages[id/pageLen]
	if page == nil || page[id%pageLen] == 0 {
		return 0, false
	}
	return page[id%pageLen] - 1, true
}

// each calls do with all pairs, in no order.
func (p *paged) each(do func(id, v uint32)) {
	for at, page := range p.pages {
		for i, v := range page {
			if v > 0 {
				do(at*pageLen+uint32(i), v-1)
			}
		}
	}
}

// idSet is a set of numbers, in memory for the ranges that occur.
type idSet struct {
	words [][]uint64 // ranges of idRange numbers; nil when none occurs
}

const idRange = 1 << 16

func (s *idSet) add(id uint32) {
	at := int(id / idRange)
	for at >= len(s.words) {
		s.words = append(s.words, nil)
	}
	if s.words[at] == nil {
		s.words[at] = make([]uint64, idRange/64)
	}
	s.words[at][id%idRange/64] |= 1 << (id % 64)
}

func (s *idSet) each(yield func(id uint32) bool) {
	for at, words := range s.words {
		for i, w := range words {
			for ; w != 0; w &= w - 1 {
				if !yield(uint32(at*idRange + i*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

func (s *idSet) count() (n int) {
	for _, words := range s.words {
		for _, w := range words {
			n += bits.OnesCount64(w)
		}
	}
	return n
}

// end returns one more than the largest number, 0 of none.
func (s *idSet) end() uint64 {
	for at := len(s.words) - 1; at >= 0; at-- {
		for i := len(s.words[at]) - 1; i >= 0; i-- {
			if w := s.words[at][i]; w != 0 {
				return uint64(at*idRange+i*64) + uint64(bits.Len64(w))
			}
		}
	}
	return 0
}

// ranks returns a function that says how many numbers of the set are smaller.
func (s *idSet) ranks() func(uint32) uint32 {
	before := make([][]uint32, len(s.words)) // of each word
	n := uint32(0)
	for at, words := range s.words {
		before[at] = make([]uint32, len(words))
		for i, w := range words {
			before[at][i] = n
			n += uint32(bits.OnesCount64(w))
		}
	}
	return func(id uint32) uint32 {
		at, i := id/idRange, id%idRange/64
		return before[at][i] + uint32(bits.OnesCount64(s.words[at][i]&(1<<(id%64)-1)))
	}
}

// keys yields the key of each number.
func (s *idSet) keys() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var name, key []byte
		s.each(func(id uint32) bool {
			name = strconv.AppendUint(name[:0], uint64(id), 10)
			key = appendKey(key[:0], name)
			return yield(key, nil)
		})
	}
}
