package network

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"fossick/export/collection"
)

// scratch are edges that wait for the last node, in a file that goes with close.
type scratch struct {
	f  *os.File
	to *bufio.Writer
}

func newScratch() (*scratch, error) {
	f, err := os.CreateTemp("", "fossick-edges-")
	if err != nil {
		return nil, fmt.Errorf("temporary file of links: %w; set TMPDIR to a folder that can be written to", err)
	}
	return &scratch{f: f, to: bufio.NewWriterSize(f, 64<<10)}, nil
}

// add enters the links of a page.
func (s *scratch) add(p *collection.Page) error {
	var pair [8]byte
	binary.LittleEndian.PutUint32(pair[:], p.Node)
	for _, to := range p.Links {
		binary.LittleEndian.PutUint32(pair[4:], to)
		if _, err := s.to.Write(pair[:]); err != nil {
			return err
		}
	}
	return nil
}

// each calls do with all edges, in the order in which they came.
func (s *scratch) each(ctx context.Context, do func(from, to uint32) error) error {
	if err := s.to.Flush(); err != nil {
		return err
	}
	if _, err := s.f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(s.f, 64<<10)
	var pair [8]byte
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := io.ReadFull(r, pair[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := do(binary.LittleEndian.Uint32(pair[:]), binary.LittleEndian.Uint32(pair[4:])); err != nil {
			return err
		}
	}
}

func (s *scratch) close() error { return errors.Join(s.f.Close(), os.Remove(s.f.Name())) }
