package graph

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

func (c *nameCursor) Next() (more bool, err error) {
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

// before orders keys, equal ones by their runs.
func (c *nameCursor) before(d *nameCursor) bool {
	order := bytes.Compare(c.key, d.key)
	return order < 0 || order == 0 && c.run < d.run
}

func writeKey(w *bufio.Writer, key []byte) error {
	if _, err := w.Write(binary.AppendUvarint(w.AvailableBuffer(), uint64(len(key)))); err != nil {
		return err
	}
	_, err := w.Write(key)
	return err
}
