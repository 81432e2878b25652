package network

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"fossick/collection"
	"fossick/export"
)

// Edges writes two lists: links.edges.tsv has the links, source TAB target a line, and
// links.urls.tsv the nodes, node TAB URL. fossick graph reads them as one graph.
type Edges struct {
	edges, urls io.WriteCloser
	line        []byte
}

// NewEdges begins both lists in a folder of the export, which ends in a slash or is "".
func NewEdges(at export.Place, folder string) (*Edges, error) {
	edges, err := at.Create(folder + "links.edges.tsv")
	if err != nil {
		return nil, err
	}
	urls, err := at.Create(folder + "links.urls.tsv")
	if err != nil {
		return nil, errors.Join(err, edges.Close())
	}
	return &Edges{edges: edges, urls: urls}, nil
}

// Write implements export.Sink.
func (s *Edges) Write(_ context.Context, p *collection.Page) error {
	var err error
	if !p.Again {
		s.line = strconv.AppendUint(s.line[:0], uint64(p.Node), 10)
		s.line = append(append(append(s.line, '\t'), p.URL...), '\n')
		_, err = s.urls.Write(s.line)
	}
	s.line = s.line[:0]
	for _, to := range p.Links {
		s.line = append(strconv.AppendUint(s.line, uint64(p.Node), 10), '\t')
		s.line = append(strconv.AppendUint(s.line, uint64(to), 10), '\n')
	}
	_, edgesErr := s.edges.Write(s.line)
	return errors.Join(err, edgesErr)
}

// Finish implements export.Sink.
func (s *Edges) Finish(context.Context) error { return nil }

// Close implements export.Sink.
func (s *Edges) Close() error { return errors.Join(s.edges.Close(), s.urls.Close()) }

// valid is a text without bytes that are no UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
