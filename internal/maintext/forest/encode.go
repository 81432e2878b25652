package forest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// ErrFormat is of bytes that are no forest.
var ErrFormat = errors.New("not a forest")

const magic = "FSKTREE1"

// Append adds f's bytes: a mark, numbers of features and trees, then for each tree its
// nodes, 8 bytes each.
func (f *Forest) Append(to []byte) []byte {
	le := binary.LittleEndian
	to = append(to, magic...)
	to = le.AppendUint16(to, uint16(f.features))
	to = le.AppendUint16(to, uint16(len(f.trees)))
	for _, t := range f.trees {
		to = le.AppendUint16(to, uint16(len(t)))
		for _, n := range t {
			to = le.AppendUint16(to, uint16(n.feature))
			to = le.AppendUint16(to, uint16(n.below))
			to = le.AppendUint32(to, math.Float32bits(n.limit))
		}
	}
	return to
}

// Parse reads a forest from the start of data and returns what is behind it. Whatever data
// is, a forest that it returns ends on each row of f's length.
func Parse(data []byte, features int) (f *Forest, rest []byte, err error) {
	p := &parser{data: data}
	if string(p.take(len(magic))) != magic {
		return nil, nil, ErrFormat
	}
	f = &Forest{features: p.number()}
	if f.features != features {
		return nil, nil, fmt.Errorf("%w for %d features, but for %d", ErrFormat, features, f.features)
	}
	f.trees = make([][]node, p.number())
	if len(f.trees) == 0 {
		return nil, nil, fmt.Errorf("%w: no trees", ErrFormat)
	}
	for i := range f.trees {
		if f.trees[i], err = p.tree(features); err != nil {
			return nil, nil, fmt.Errorf("tree %d: %w", i+1, err)
		}
	}
	return f, p.data, nil
}

type parser struct{ data []byte }

// take returns the next n bytes; zeros where there are fewer, so that a caller finds out by
// what they say.
func (p *parser) take(n int) []byte {
	if len(p.data) < n {
		p.data = nil
		return make([]byte, n)
	}
	b := p.data[:n]
	p.data = p.data[n:]
	return b
}

func (p *parser) number() int { return int(binary.LittleEndian.Uint16(p.take(2))) }

// tree reads nodes. Each points behind itself, so there are no circles.
func (p *parser) tree(features int) ([]node, error) {
	count := p.number()
	if count == 0 || 8*count > len(p.data) {
		return nil, fmt.Errorf("%w: truncated", ErrFormat)
	}
	t := make([]node, count)
	for i := range t {
		n := node{feature: int16(p.number()), below: int16(p.number()), limit: math.Float32frombits(binary.LittleEndian.Uint32(p.take(4)))}
		leaf := n.feature == noFeature
		if !leaf && (n.feature < 0 || int(n.feature) >= features || int(n.below) <= i || int(n.below)+1 >= count) {
			return nil, fmt.Errorf("%w: node %d asks what there is not", ErrFormat, i+1)
		}
		t[i] = n
	}
	return t, nil
}
