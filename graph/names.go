package graph

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"sort"
	"strconv"
)

// Names are kept as their keys, growing, in blocks of nameBlock. The first of a
// block is its length (varint) and its bytes. Each other is the length of what
// it shares with the one before, the length of the rest, and the rest.
const (
	nameBlock    = 16
	maxNameBytes = 1 << 16 // of a key
)

// frontCoder codes keys one after the other.
type frontCoder struct {
	last []byte
	n    int
}

// append appends the code of the next key. first says whether it begins a block.
func (c *frontCoder) append(dst, key []byte) (out []byte, first bool) {
	first = c.n%nameBlock == 0
	c.n++
	shared := 0
	if !first {
		for shared < len(key) && shared < len(c.last) && key[shared] == c.last[shared] {
			shared++
		}
		dst = binary.AppendUvarint(dst, uint64(shared))
	}
	c.last = append(c.last[:0], key...)
	dst = binary.AppendUvarint(dst, uint64(len(key)-shared))
	return append(dst, key[shared:]...), first
}

// writeNames writes the section of names and returns that of its blocks.
func (w *Writer) writeNames(keys iter.Seq2[[]byte, error]) (blocks []byte) {
	var c frontCoder
	var buf []byte
	begin := w.at
	for key, err := range keys {
		if err != nil {
			w.err = err
			return nil
		}
		at := w.at
		var first bool
		buf, first = c.append(buf[:0], key)
		if first {
			blocks = binary.LittleEndian.AppendUint64(blocks, at-begin)
		}
		if w.write(buf); w.err != nil {
			return nil
		}
	}
	if uint64(c.n) != w.h.nodes {
		w.err = fmt.Errorf("graph %s: %d names for %d nodes", w.path, c.n, w.h.nodes)
	}
	return blocks
}

// names are read where they lie.
type names struct {
	data, blocks []byte
	n            uint64 // 0: nodes have no names but their numbers
}

func openNames(data, blocks []byte, nodes uint64) (names, bool) {
	if len(blocks) == 0 {
		return names{}, len(data) == 0
	}
	return names{data, blocks, nodes}, uint64(len(blocks)) == (nodes+nameBlock-1)/nameBlock*8
}

// key returns the key of node v in buf; false when the section is damaged.
func (s *names) key(buf []byte, v uint64) ([]byte, bool) {
	at := binary.LittleEndian.Uint64(s.blocks[v/nameBlock*8:])
	if at > uint64(len(s.data)) {
		return nil, false
	}
	data, buf := s.data[at:], buf[:0]
	for i := uint64(0); ; i++ {
		shared := uint64(0)
		if i > 0 {
			x, n := binary.Uvarint(data)
			if n <= 0 || x > uint64(len(buf)) {
				return nil, false
			}
			shared, data = x, data[n:]
		}
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)-n) || size > math.MaxInt32 {
			return nil, false
		}
		buf = append(buf[:shared], data[n:n+int(size)]...)
		data = data[n+int(size):]
		if i == v%nameBlock {
			return buf, true
		}
	}
}

// Name returns the name of node v: its URL, or what the edge list calls it.
func (g *Graph) Name(v uint32) (string, error) {
	if g.names.n == 0 {
		return strconv.FormatUint(uint64(v), 10), nil
	}
	if uint64(v) < g.names.n {
		if key, ok := g.names.key(nil, uint64(v)); ok {
			if name, ok := nameOfKey(key); ok {
				return name, nil
			}
		}
	}
	return "", fmt.Errorf("graph %s: %w: node %d has no readable name; build the file again", g.path, errDamaged, v)
}

// Node returns the node of a name; of names that stand several times the first.
// O(log nodes).
func (g *Graph) Node(name string) (v uint32, ok bool, err error) {
	if g.names.n == 0 {
		x, err := strconv.ParseUint(name, 10, 32)
		return uint32(x), err == nil && x < g.h.nodes, nil
	}
	want := appendKey(nil, []byte(name))
	var key []byte
	i := sort.Search(int(g.names.n), func(i int) bool {
		var sound bool
		if key, sound = g.names.key(key, uint64(i)); !sound {
			err = fmt.Errorf("graph %s: %w: the name of node %d cannot be read; build the file again", g.path, errDamaged, i)
			return true
		}
		return bytes.Compare(key, want) >= 0
	})
	if err != nil || i == int(g.names.n) {
		return 0, false, err
	}
	key, _ = g.names.key(key, uint64(i))
	return uint32(i), bytes.Equal(key, want), nil
}
