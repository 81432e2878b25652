package network

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"fossick/export"
	"fossick/export/collection"
	"fossick/graph"
	"fossick/internal/reading"
)

// Compressed writes a graph file of fossick's, which simulate and rank read. Its nodes are
// in the order of URLs, which name them.
type Compressed struct {
	to    io.WriteCloser
	dir   string // for scratch
	lists *Edges
}

// buildMemory is what sorting may take, in bytes.
const buildMemory = 64 << 20

// folder is a place of plain files.
type folder string

func (f folder) Create(name string) (io.WriteCloser, error) {
	to, err := os.Create(filepath.Join(string(f), name))
	if err != nil {
		return nil, err
	}
	return &file{bufio.NewWriterSize(to, 64<<10), to}, nil
}

// file is a file behind a buffer.
type file struct {
	*bufio.Writer
	f *os.File
}

func (f *file) Close() error { return errors.Join(f.Flush(), f.f.Close()) }

// NewCompressed begins a graph file of that name.
func NewCompressed(at export.Place, name string) (*Compressed, error) {
	dir, err := os.MkdirTemp("", "fossick-graph-")
	if err != nil {
		return nil, fmt.Errorf("scratch files of the graph: %w; set TMPDIR to a folder that can be written to", err)
	}
	s := &Compressed{dir: dir}
	if s.lists, err = NewEdges(folder(dir), ""); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if s.to, err = at.Create(name); err != nil {
		return nil, errors.Join(err, s.lists.Close(), os.RemoveAll(dir))
	}
	return s, nil
}

// Write implements export.Sink.
func (s *Compressed) Write(ctx context.Context, p *collection.Page) error {
	return s.lists.Write(ctx, p)
}

// Finish implements export.Sink.
func (s *Compressed) Finish(ctx context.Context) error {
	err := s.lists.Close()
	s.lists = nil
	path := filepath.Join(s.dir, "graph")
	if err == nil {
		_, err = graph.BuildEdgeList(ctx, filepath.Join(s.dir, "links.edges.tsv"), path, graph.BuildOptions{Memory: buildMemory})
	}
	if err != nil {
		return err
	}
	f, err := reading.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(s.to, f)
	return errors.Join(err, f.Close())
}

// Close implements export.Sink.
func (s *Compressed) Close() (err error) {
	if s.lists != nil {
		err = s.lists.Close()
	}
	return errors.Join(err, s.to.Close(), os.RemoveAll(s.dir))
}
