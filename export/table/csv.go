package table

import (
	"context"
	"encoding/csv"
	"io"
	"strconv"

	"fossick/export"
	"fossick/export/collection"
)

// CSV writes a row a page, after one of names: all columns but the text, for tables that
// people look at. What is not known is empty.
type CSV struct {
	to      io.WriteCloser
	rows    *csv.Writer
	columns []Column
	row     []string
}

// NewCSV begins a file of that name.
func NewCSV(at export.Place, name string) (*CSV, error) {
	to, err := at.Create(name)
	if err != nil {
		return nil, err
	}
	s := &CSV{to: to, rows: csv.NewWriter(to), columns: Columns()[1:]} // the text is the first
	for _, c := range s.columns {
		s.row = append(s.row, c.Name)
	}
	_ = s.rows.Write(s.row) // the error stays, for Finish
	return s, nil
}

// Write implements export.Sink.
func (s *CSV) Write(_ context.Context, p *collection.Page) error {
	s.row = s.row[:0]
	for _, c := range s.columns {
		s.row = append(s.row, cell(c.Kind, c.Of(p)))
	}
	return s.rows.Write(s.row)
}

// cell writes a value as text, as JSON has numbers.
func cell(kind Kind, v Value) string {
	switch {
	case v.Null:
		return ""
	case kind == Integer:
		return strconv.FormatInt(v.Int, 10)
	case kind == Real:
		return strconv.FormatFloat(v.Real, 'g', -1, 64)
	case kind == Truth:
		return strconv.FormatBool(v.Truth)
	}
	return valid(v.Text)
}

// Finish implements export.Sink.
func (s *CSV) Finish(context.Context) error {
	s.rows.Flush()
	return s.rows.Error()
}

// Close implements export.Sink.
func (s *CSV) Close() error { return s.to.Close() }
