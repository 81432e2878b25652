package webgraph

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// nameCursor walks through the keys of a run.
type nameCursor struct {
	run int
	r   *bufio.Reader
	w   *bufio.Writer
	key []byte
}

func (c *nameCursor) next() (more bool, err error) {
	n, err := binary.ReadUvarint(c.r)
	if err == io.EOF {
		return false, nil
	}
	if err == nil {
		c.key = slices.Grow(c.key[:0], int(n))[:n]
		_, err = io.ReadFull(c.r, c.key)
	}
	if err != nil {
		return false, fmt.Errorf("merging names: %w", eof(err))
	}
	return true, nil
}

type nameHeap []*nameCursor

func (h nameHeap) Len() int { return len(h) }
func (h nameHeap) Less(i, j int) bool {
	c := bytes.Compare(h[i].key, h[j].key)
	return c < 0 || c == 0 && h[i].run < h[j].run
}
func (h nameHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *nameHeap) Push(x any)   { *h = append(*h, x.(*nameCursor)) }
func (h *nameHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

func writeKey(w *bufio.Writer, key []byte) error {
	if _, err := w.Write(binary.AppendUvarint(w.AvailableBuffer(), uint64(len(key)))); err != nil {
		return err
	}
	_, err := w.Write(key)
	return err
}
