package table

import (
	"context"
	"io"
	"strings"

	"fossick/export"
	"fossick/export/collection"
)

// Lines writes a page a line: its id, a tab and its text, in which a blank stands for
// each run of white space. Programs that read a text a line take it by cut -f 2.
type Lines struct {
	to   io.WriteCloser
	line []byte
}

// NewLines begins a file of that name.
func NewLines(at export.Place, name string) (*Lines, error) {
	to, err := at.Create(name)
	return &Lines{to: to}, err
}

// Write implements export.Sink.
func (s *Lines) Write(_ context.Context, p *collection.Page) error {
	line := append(append(s.line[:0], p.ID...), '\t')
	first := true
	for word := range strings.FieldsSeq(valid(p.Text)) {
		if !first {
			line = append(line, ' ')
		}
		line, first = append(line, word...), false
	}
	s.line = append(line, '\n')
	_, err := s.to.Write(s.line)
	return err
}

// Finish implements export.Sink.
func (s *Lines) Finish(context.Context) error { return nil }

// Close implements export.Sink.
func (s *Lines) Close() error { return s.to.Close() }
