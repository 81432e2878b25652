package network

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"fossick/export"
	"fossick/export/collection"
)

// Edges writes three lists: links.edges.tsv has the links, source TAB target a line;
// links.urls.tsv the nodes, node TAB URL; links.nodes.tsv the records, node TAB id TAB URL.
// fossick graph reads the first two as one graph; the third joins them to rows without nodes.
type Edges struct {
	edges, urls, nodes io.WriteCloser
	line               []byte
}

// NewEdges begins the lists in a folder of the export, which ends in a slash or is "".
func NewEdges(at export.Place, folder string) (*Edges, error) {
	s := &Edges{}
	for _, list := range []struct {
		name string
		to   *io.WriteCloser
	}{{"edges", &s.edges}, {"urls", &s.urls}, {"nodes", &s.nodes}} {
		to, err := at.Create(folder + "links." + list.name + ".tsv")
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		*list.to = to
	}
	return s, nil
}

// Write implements export.Sink.
func (s *Edges) Write(_ context.Context, p *collection.Page) error {
	s.begin(p.Node)
	s.line = append(append(append(append(s.line, p.ID...), '\t'), p.URL...), '\n')
	_, err := s.nodes.Write(s.line)
	if err != nil {
		return err
	}
	if !p.Again {
		s.begin(p.Node)
		s.line = append(append(s.line, p.URL...), '\n')
		if _, err := s.urls.Write(s.line); err != nil {
			return err
		}
	}
	for _, to := range p.Links {
		s.begin(p.Node)
		s.line = append(strconv.AppendUint(s.line, uint64(to), 10), '\n')
		if _, err := s.edges.Write(s.line); err != nil {
			return err
		}
	}
	return nil
}

// begin begins a line with a node.
func (s *Edges) begin(node uint32) {
	s.line = append(strconv.AppendUint(s.line[:0], uint64(node), 10), '\t')
}

// Finish implements export.Sink.
func (s *Edges) Finish(context.Context) error { return nil }

// Close implements export.Sink.
func (s *Edges) Close() (err error) {
	for _, list := range []io.Closer{s.edges, s.urls, s.nodes} {
		if list != nil {
			err = errors.Join(err, list.Close())
		}
	}
	return err
}

// valid is a text without bytes that are no UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
