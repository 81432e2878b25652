package database

import (
	"context"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"fossick/export"
	"fossick/export/collection"
	"fossick/export/table"
)

// Bulk writes a file for OpenSearch's bulk interface: for each page a line that says what to
// do with it, and a line with the page. `curl -H 'Content-Type: application/x-ndjson'
// --data-binary @FILE HOST/INDEX/_bulk` loads it.
type Bulk struct {
	to      io.WriteCloser
	columns []table.Column
	lines   []byte
}

// NewBulk begins a file of that name.
func NewBulk(at export.Place, name string) (*Bulk, error) {
	to, err := at.Create(name)
	return &Bulk{to: to, columns: table.Columns()}, err
}

// Write implements export.Sink.
func (s *Bulk) Write(_ context.Context, p *collection.Page) (err error) {
	if s.lines, err = appendBulk(s.lines[:0], s.columns, p); err != nil {
		return err
	}
	_, err = s.to.Write(s.lines)
	return err
}

// Finish implements export.Sink.
func (s *Bulk) Finish(context.Context) error { return nil }

// Close implements export.Sink.
func (s *Bulk) Close() error { return s.to.Close() }

// appendBulk adds the two lines of a page.
func appendBulk(to []byte, columns []table.Column, p *collection.Page) ([]byte, error) {
	to = append(to, `{"index":{"_id":`...)
	to, err := jsontext.AppendQuote(to, clean(p.ID))
	if err != nil {
		return nil, err
	}
	to = append(to, "}}\n{"...)
	for i, c := range columns {
		if i > 0 {
			to = append(to, ',')
		}
		if to, err = jsontext.AppendQuote(to, c.Name); err != nil {
			return nil, err
		}
		of, err := json.Marshal(value(c.Kind, c.Of(p)))
		if err != nil {
			return nil, err
		}
		to = append(append(to, ':'), of...)
	}
	return append(to, "}\n"...), nil
}
