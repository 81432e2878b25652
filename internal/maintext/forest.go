package maintext

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// forest holds trees whose leaves add up to log-odds. It is safe for concurrent use.
type forest struct {
	features int // least length of a row
	trees    [][]treeNode
}

// treeNode compares a feature with a limit, or is a leaf.
type treeNode struct {
	feature int16 // noFeature for a leaf
	below   int16 // next treeNode if the feature is below the limit; else the one after this
	limit   float32
}

const noFeature = -1

// chance returns the probability of class 1 for a row of features.
func (f *forest) chance(row []float32) float32 {
	sum := float32(0)
	for _, t := range f.trees {
		sum += leafOf(t, row)
	}
	return logistic(sum)
}

func leafOf(tree []treeNode, row []float32) float32 {
	n := &tree[0]
	for n.feature != noFeature {
		if next := n.below; row[n.feature] < n.limit {
			n = &tree[next]
		} else {
			n = &tree[next+1]
		}
	}
	return n.limit
}

func logistic(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

var errFormat = errors.New("not a forest")

const magic = "FSKTREE1"

// parseForest reads a forest, which terminates on every row, from the start of data.
func parseForest(data []byte, features int) (f *forest, rest []byte, err error) {
	p := &parser{data: data}
	if string(p.take(len(magic))) != magic {
		return nil, nil, errFormat
	}
	f = &forest{features: p.number()}
	if f.features != features {
		return nil, nil, fmt.Errorf("%w for %d features, but for %d", errFormat, features, f.features)
	}
	f.trees = make([][]treeNode, p.number())
	if len(f.trees) == 0 {
		return nil, nil, fmt.Errorf("%w: no trees", errFormat)
	}
	for i := range f.trees {
		if f.trees[i], err = p.tree(features); err != nil {
			return nil, nil, fmt.Errorf("tree %d: %w", i+1, err)
		}
	}
	return f, p.data, nil
}

type parser struct{ data []byte }

// take returns the next n bytes, or zeros if there are fewer.
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

// tree reads nodes. Each refers only to later ones, so there are no cycles.
func (p *parser) tree(features int) ([]treeNode, error) {
	count := p.number()
	if count == 0 || 8*count > len(p.data) {
		return nil, fmt.Errorf("%w: truncated", errFormat)
	}
	t := make([]treeNode, count)
	for i := range t {
		n := treeNode{feature: int16(p.number()), below: int16(p.number()), limit: math.Float32frombits(binary.LittleEndian.Uint32(p.take(4)))}
		leaf := n.feature == noFeature
		if !leaf && (n.feature < 0 || int(n.feature) >= features || int(n.below) <= i || int(n.below)+1 >= count) {
			return nil, fmt.Errorf("%w: treeNode %d asks what there is not", errFormat, i+1)
		}
		t[i] = n
	}
	return t, nil
}
