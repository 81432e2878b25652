package export

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/parquet-go/parquet-go"

	"fossick/internal/document"
	"fossick/internal/page"
)

type kind byte

const (
	textual kind = iota
	integer
	real
	boolean
)

// column is a column of a page's row. of returns a string, int64, float64 or bool after kind, or nil for unknown.
type column struct {
	name string
	kind kind
	of   func(p *Page) any
}

// columns are the columns of a page's row (docs/export.md); the first nine have the names of training datasets.
var columns = []column{
	{"text", textual, func(p *Page) any { return unlessDamaged(p, p.Text) }},
	{"id", textual, func(p *Page) any { return text(p.ID) }},
	{"dump", textual, func(p *Page) any { return text(p.Source.Name) }},
	{"url", textual, func(p *Page) any { return text(p.URL) }},
	{"date", textual, func(p *Page) any { return text(p.Fetched.Format(time.RFC3339)) }},
	{"file_path", textual, func(p *Page) any { return text(p.path()) }},
	{"language", textual, func(p *Page) any { return text(p.Language) }},
	{"language_score", real, func(*Page) any { return nil }}, // language detection gives no probability
	{"token_count", integer, func(p *Page) any { return unlessDamaged(p, int64(words(p.Text))) }},

	{"node", integer, func(p *Page) any { return int64(p.Node) }},
	{"site", textual, func(p *Page) any { return text(p.Site) }},
	{"host", textual, func(p *Page) any { return text(p.Host) }},
	{"title", textual, func(p *Page) any { return text(p.Title) }},
	{"label", textual, func(p *Page) any { return text(p.Label) }},
	{"probability", real, func(p *Page) any { return number(p.Probability) }},
	{"kept", boolean, func(p *Page) any {
		if p.Kept == nil {
			return nil
		}
		return *p.Kept
	}},
	{"relevant", boolean, func(p *Page) any { return p.Relevant }},
	{"score", real, func(p *Page) any { return number(&p.Score) }},
	{"crawl_order", integer, func(p *Page) any { return int64(p.Number) }},
	{"found_by", textual, func(p *Page) any { return text(p.FoundBy) }},
	{"via", textual, func(p *Page) any { return text(p.Via) }},
	{"depth", integer, func(p *Page) any { return int64(p.Depth) }},
	{"rank", real, func(p *Page) any { return number(p.Rank) }},
	{"why", textual, func(p *Page) any { return text(p.Why) }},
	{"rights", textual, func(p *Page) any { return text(joined(p.Rights)) }},
	{"licence", textual, func(p *Page) any { return text(p.Licence) }},
	{"usage", textual, func(p *Page) any { return text(p.Usage) }},
	{"content_type", textual, func(p *Page) any { return text(p.ContentType) }},
	{"type", textual, func(p *Page) any {
		if p.ContentType == "" {
			return nil
		}
		return text(document.TypeOf(p.ContentType))
	}},
	{"bytes", integer, func(p *Page) any { return p.Bytes }},
	{"checksum", textual, func(p *Page) any { return text(p.Checksum) }},
}

func joined(said []page.Statement) string {
	parts := make([]string, len(said))
	for i, s := range said {
		parts[i] = string(s)
	}
	return strings.Join(parts, " | ")
}

func unlessDamaged(p *Page, v any) any {
	if p.Damaged {
		return nil
	}
	return v
}

// text returns nil for "".
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// number returns nil for nil, NaN and infinities, which formats cannot hold.
func number(x *float64) any {
	if x == nil || math.IsNaN(*x) || math.IsInf(*x, 0) {
		return nil
	}
	return *x
}

func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return valid(v)
	}
	return fmt.Sprint(v)
}

func appendJSON(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case string:
		return jsontext.AppendQuote(dst, valid(v))
	}
	return append(dst, cellText(v)...), nil
}

// valid replaces invalid UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// words counts runs of letters, digits and marks, and each character in scripts without spaces.
func words(text string) int {
	n, inside := 0, false
	for _, r := range text {
		is := inside
		switch {
		case r < 0x80:
			is = r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			n++
			is = false
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			is = true
		case !unicode.IsMark(r): // a mark continues the word
			is = false
		}
		if is && !inside {
			n++
		}
		inside = is
	}
	return n
}

// toFile writes what add appends for each page.
type toFile struct {
	to  io.WriteCloser
	add func(dst []byte, p *Page) ([]byte, error)
	buf []byte
}

func eachPage(add func(dst []byte, p *Page) ([]byte, error)) func(at target, name string) (Sink, error) {
	return func(at target, name string) (Sink, error) {
		to, err := at.Create(name)
		return &toFile{to: to, add: add}, err
	}
}

func (f *toFile) Write(_ context.Context, p *Page) (err error) {
	if f.buf, err = f.add(f.buf[:0], p); err == nil {
		_, err = f.to.Write(f.buf)
	}
	return err
}

func (f *toFile) Finish(context.Context) error { return nil }
func (f *toFile) Close() error                 { return f.to.Close() }

// appendObject appends a page's row as a JSON object on a line.
func appendObject(dst []byte, p *Page) (_ []byte, err error) {
	before := byte('{')
	for _, c := range columns {
		dst = append(append(append(dst, before, '"'), c.name...), `":`...)
		if dst, err = appendJSON(dst, c.of(p)); err != nil {
			return nil, err
		}
		before = ','
	}
	return append(dst, "}\n"...), nil
}

// appendLine appends a line: id, tab, and the text with white space collapsed.
func appendLine(dst []byte, p *Page) ([]byte, error) {
	dst = append(append(dst, p.ID...), '\t')
	before := ""
	for word := range strings.FieldsSeq(valid(p.Text)) {
		dst = append(append(dst, before...), word...)
		before = " "
	}
	return append(dst, '\n'), nil
}

// csvRows writes a header and a row per page, without the text, for spreadsheets.
type csvRows struct {
	to   io.WriteCloser
	rows *csv.Writer
	row  []string
}

func newCSV(at target, name string) (Sink, error) {
	to, err := at.Create(name)
	if err != nil {
		return nil, err
	}
	s := &csvRows{to: to, rows: csv.NewWriter(to)}
	for _, c := range columns[1:] {
		s.row = append(s.row, c.name)
	}
	_ = s.rows.Write(s.row) // Finish returns the error
	return s, nil
}

func (s *csvRows) Write(_ context.Context, p *Page) error {
	s.row = s.row[:0]
	for _, c := range columns[1:] {
		s.row = append(s.row, cellText(c.of(p)))
	}
	return s.rows.Write(s.row)
}

func (s *csvRows) Finish(context.Context) error {
	s.rows.Flush()
	return s.rows.Error()
}

func (s *csvRows) Close() error { return s.to.Close() }

// markdown writes a file per page, with the row as YAML front matter; each folder has 1,000 files.
type markdown struct {
	at     target
	folder string // within the export, with a slash; "" for its root
	pages  int
	text   []byte
}

func newMarkdown(at target, folder string) (Sink, error) {
	return &markdown{at: at, folder: folder}, nil
}

func (s *markdown) Write(_ context.Context, p *Page) (err error) {
	text := append(s.text[:0], "---\n"...)
	for _, c := range columns[1:] {
		v := c.of(p)
		if v == nil {
			continue
		}
		text = append(append(text, c.name...), ": "...)
		if text, err = appendJSON(text, v); err != nil { // JSON values are valid YAML
			return err
		}
		text = append(text, '\n')
	}
	text = append(text, "---\n\n"...)
	s.text = append(text, valid(p.Markdown)...)
	name := fmt.Sprintf("%s%04d/%07d", s.folder, s.pages/1000, s.pages)
	if slug := slugOf(p.Title); slug != "" {
		name += "-" + slug
	}
	to, err := s.at.Create(name + ".md")
	if err != nil {
		return err
	}
	_, err = to.Write(s.text)
	s.pages++
	return errors.Join(err, to.Close())
}

func (s *markdown) Finish(context.Context) error { return nil }
func (s *markdown) Close() error                 { return nil }

// maxSlug is about the longest title in a file name, in bytes.
const maxSlug = 60

func slugOf(title string) string {
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(title) {
		if !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') {
			gap = b.Len() > 0
			continue
		}
		if b.Len() >= maxSlug {
			break
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// parquetRows writes Parquet; flushing row groups bounds memory.
type parquetRows struct {
	to   io.WriteCloser
	w    *parquet.GenericWriter[any]
	row  parquet.Row
	size int // bytes of text in the group
	rows int // rows in the group
}

// Approximate limits of a row group.
const (
	groupBytes = 32 << 20
	groupRows  = 20_000
)

var repeated = []string{"dump", "language", "site", "host", "label", "via", "content_type", "type"}

// inOrder is a schema in the order of columns; parquet.Group sorts by name.
type inOrder struct{ parquet.Group }

func (s inOrder) Fields() []parquet.Field {
	fields := s.Group.Fields()
	at := func(f parquet.Field) int {
		return slices.IndexFunc(columns, func(c column) bool { return c.name == f.Name() })
	}
	slices.SortFunc(fields, func(a, b parquet.Field) int { return at(a) - at(b) })
	return fields
}

func newParquet(at target, name string) (Sink, error) {
	to, err := at.Create(name)
	if err != nil {
		return nil, err
	}
	leaves := [...]parquet.Node{textual: parquet.String(), integer: parquet.Int(64), real: parquet.Leaf(parquet.DoubleType), boolean: parquet.Leaf(parquet.BooleanType)}
	group := parquet.Group{}
	for _, c := range columns {
		node := leaves[c.kind]
		if slices.Contains(repeated, c.name) {
			node = parquet.Encoded(node, &parquet.RLEDictionary)
		}
		group[c.name] = parquet.Optional(parquet.Compressed(node, &parquet.Zstd))
	}
	w := parquet.NewGenericWriter[any](to, parquet.NewSchema("page", inOrder{group}), parquet.CreatedBy("fossick", "", ""))
	return &parquetRows{to: to, w: w}, nil
}

func (s *parquetRows) Write(_ context.Context, p *Page) error {
	s.row = s.row[:0]
	for i, c := range columns {
		s.row = append(s.row, parquetCell(c.of(p), i))
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

func parquetCell(v any, column int) parquet.Value {
	if v == nil {
		return parquet.NullValue().Level(0, 0, column)
	}
	if text, ok := v.(string); ok {
		v = valid(text)
	}
	return parquet.ValueOf(v).Level(0, 1, column)
}

func (s *parquetRows) Finish(context.Context) error { return s.w.Close() }

func (s *parquetRows) Close() error {
	s.w.Reset(io.Discard) // drops an unfinished group
	return s.to.Close()
}
