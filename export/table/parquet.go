package table

import (
	"context"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"fossick/export"
	"fossick/export/collection"
)

// Parquet writes the rows by column, in groups that bound what is kept in memory.
type Parquet struct {
	to      io.WriteCloser
	w       *parquet.GenericWriter[any]
	columns []Column
	row     parquet.Row
	size    int // of the text of the group, in bytes
	rows    int // of the group
}

// What a group of rows holds at most, about.
const (
	groupBytes = 32 << 20
	groupRows  = 20_000
)

// repeated are columns of few different values.
var repeated = []string{"dump", "language", "site", "host", "label", "via", "content_type"}

// inOrder is a schema with the columns in their own order; a Group has them by name.
type inOrder struct {
	parquet.Group
	columns []Column
}

// Fields implements parquet.Node.
func (s inOrder) Fields() []parquet.Field {
	fields := s.Group.Fields()
	at := func(f parquet.Field) int {
		return slices.IndexFunc(s.columns, func(c Column) bool { return c.Name == f.Name() })
	}
	slices.SortFunc(fields, func(a, b parquet.Field) int { return at(a) - at(b) })
	return fields
}

// NewParquet begins a file of that name.
func NewParquet(at export.Place, name string) (*Parquet, error) {
	to, err := at.Create(name)
	if err != nil {
		return nil, err
	}
	s := &Parquet{to: to, columns: Columns()}
	group := parquet.Group{}
	for _, c := range s.columns {
		node := leafOf(c.Kind)
		if slices.Contains(repeated, c.Name) {
			node = parquet.Encoded(node, &parquet.RLEDictionary)
		}
		group[c.Name] = parquet.Optional(parquet.Compressed(node, &parquet.Zstd))
	}
	schema := parquet.NewSchema("page", inOrder{group, s.columns})
	s.w = parquet.NewGenericWriter[any](to, schema, parquet.CreatedBy("fossick", "", ""))
	return s, nil
}

func leafOf(kind Kind) parquet.Node {
	switch kind {
	case Integer:
		return parquet.Int(64)
	case Real:
		return parquet.Leaf(parquet.DoubleType)
	case Truth:
		return parquet.Leaf(parquet.BooleanType)
	}
	return parquet.String()
}

// Write implements export.Sink.
func (s *Parquet) Write(_ context.Context, p *collection.Page) error {
	s.row = s.row[:0]
	for i, c := range s.columns {
		s.row = append(s.row, cellOf(c.Kind, c.Of(p), i))
	}
	if _, err := s.w.WriteRows([]parquet.Row{s.row}); err != nil {
		return err
	}
	s.rows++
	if s.size += len(p.Text); s.size < groupBytes && s.rows < groupRows {
		return nil
	}
	s.size, s.rows = 0, 0
	return s.w.Flush()
}

// cellOf is a value of a column: level 1 says that it is there.
func cellOf(kind Kind, v Value, column int) parquet.Value {
	var cell parquet.Value
	switch {
	case v.Null:
		return parquet.NullValue().Level(0, 0, column)
	case kind == Integer:
		cell = parquet.Int64Value(v.Int)
	case kind == Real:
		cell = parquet.DoubleValue(v.Real)
	case kind == Truth:
		cell = parquet.BooleanValue(v.Truth)
	default:
		cell = parquet.ByteArrayValue([]byte(valid(v.Text)))
	}
	return cell.Level(0, 1, column)
}

// Finish implements export.Sink.
func (s *Parquet) Finish(context.Context) error { return s.w.Close() }

// Close implements export.Sink.
func (s *Parquet) Close() error {
	s.w.Reset(io.Discard) // a group that was begun is given up
	return s.to.Close()
}
