package table

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"fossick/export"
	"fossick/export/collection"
)

// JSONL writes a JSON object a line.
type JSONL struct {
	to      io.WriteCloser
	columns []Column
	names   [][]byte // quoted, with the colon
	line    []byte
}

// NewJSONL begins a file of that name.
func NewJSONL(at export.Place, name string) (*JSONL, error) {
	s := &JSONL{columns: Columns()}
	for _, c := range s.columns {
		s.names = append(s.names, append(strconv.AppendQuote(nil, c.Name), ':'))
	}
	var err error
	s.to, err = at.Create(name)
	return s, err
}

// Write implements export.Sink.
func (s *JSONL) Write(_ context.Context, p *collection.Page) (err error) {
	line := append(s.line[:0], '{')
	for i, c := range s.columns {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(line, s.names[i]...)
		if line, err = appendJSON(line, c.Kind, c.Of(p)); err != nil {
			return err
		}
	}
	s.line = append(line, '}', '\n')
	_, err = s.to.Write(s.line)
	return err
}

// appendJSON writes a value as JSON. Bytes that are no UTF-8 become U+FFFD.
func appendJSON(dst []byte, kind Kind, v Value) ([]byte, error) {
	switch {
	case v.Null:
		return append(dst, "null"...), nil
	case kind == Integer:
		return strconv.AppendInt(dst, v.Int, 10), nil
	case kind == Real:
		return strconv.AppendFloat(dst, v.Real, 'g', -1, 64), nil
	case kind == Truth:
		return strconv.AppendBool(dst, v.Truth), nil
	}
	return jsontext.AppendQuote(dst, valid(v.Text))
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Finish implements export.Sink.
func (s *JSONL) Finish(context.Context) error { return nil }

// Close implements export.Sink.
func (s *JSONL) Close() error { return s.to.Close() }
