package graph

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// The edges of a run are pairs of places in its dictionary until all names have their
// numbers: pending in memory, or in the run's file.

// pair adds an edge between places of the run.
func (b *Builder) pair(from, to uint32) error {
	if len(b.pending) >= b.edges.Limit() {
		if err := b.spill(); err != nil {
			return err
		}
	}
	b.pending = append(b.pending, uint64(from)<<32|uint64(to))
	return nil
}

// spill writes the edges that are pending to the run's file.
func (b *Builder) spill() (err error) {
	if b.out == nil {
		if b.out, err = os.CreateTemp(b.scratch, "pairs-"); err != nil {
			return fmt.Errorf("graph %s: %w", b.path, err)
		}
	}
	w := bufio.NewWriterSize(b.out, 1<<18)
	for _, p := range b.pending {
		if _, err := w.Write(binary.LittleEndian.AppendUint64(w.AvailableBuffer(), p)); err != nil {
			break // Flush gives it again
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("graph %s: %w; free some space there", b.path, err)
	}
	b.pending = b.pending[:0]
	return nil
}

// translatePending is translate of the edges in memory, which are the last run's.
func (b *Builder) translatePending(table []uint32) error {
	pending := b.pending
	b.pending = nil
	for i, p := range pending {
		pending[i] = uint64(table[p>>32])<<32 | uint64(table[uint32(p)])
	}
	return b.edges.AddAll(pending)
}

// translate gives the edges of a run to the sorter by the numbers of their ends.
func (b *Builder) translate(ctx context.Context, f *os.File, table []uint32) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("graph %s: %w", b.path, err)
	}
	r := bufio.NewReaderSize(f, 1<<18)
	var pair [8]byte
	for n := 0; ; n++ {
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch _, err := io.ReadFull(r, pair[:]); {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("graph %s: %w", b.path, err)
		}
		p := binary.LittleEndian.Uint64(pair[:])
		if err := b.edges.Add(uint64(table[p>>32])<<32 | uint64(table[uint32(p)])); err != nil {
			return err
		}
	}
}
