package datasets

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"

	"fossick/internal/reading"
)

// readParquet reads a table with a row a page: columns of text by the names that rows of
// JSON have. Other columns of text go into Fields, the rest is passed over. A row's line is
// its number.
func readParquet(path string) reader {
	return func(rep *Report, yield func(*Example, error) bool) {
		if err := eachParquet(path, func(n int, e *Example) bool {
			if err := e.complete(); err != nil {
				return yield(nil, &RowError{path, n, err})
			}
			e.File, e.Line = path, n
			return yield(e, nil)
		}); err != nil {
			yield(nil, fmt.Errorf("%s: %w", path, err))
		}
	}
}

// errNotParquet reports what the library cannot read, or what made it panic.
var errNotParquet = errors.New("not a Parquet file that can be read")

// eachParquet calls row for each row until it returns false. The library panics over some
// files that are no Parquet inside; that ends here.
func eachParquet(path string, row func(n int, e *Example) bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errNotParquet, p)
		}
	}()
	f, err := reading.OpenNamed(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	table, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return fmt.Errorf("%w: %w", errNotParquet, err)
	}
	if table.NumRows() > info.Size() { // each has a URL of its own
		return fmt.Errorf("%w: it says that it has %d rows", errNotParquet, table.NumRows())
	}
	columns := textColumns(table.Schema())
	rows := parquet.NewReader(table)
	defer rows.Close()
	buf := make([]parquet.Row, 16)
	for n := 1; ; {
		read, err := rows.ReadRows(buf)
		for _, values := range buf[:read] {
			if !row(n, exampleOf(columns, values)) {
				return nil
			}
			n++
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("row %d: %w: %w", n, errNotParquet, err)
		case read == 0:
			return nil
		}
	}
}

// textColumns are the names of the columns that hold text, by number.
func textColumns(s *parquet.Schema) map[int]string {
	names := map[int]string{}
	for i, path := range s.Columns() {
		leaf, ok := s.Lookup(path...)
		if ok && len(path) == 1 && leaf.Node.Type().Kind() == parquet.ByteArray && !leaf.Node.Repeated() {
			names[i] = path[0]
		}
	}
	return names
}

func exampleOf(columns map[int]string, values parquet.Row) *Example {
	e := &Example{}
	for _, v := range values {
		name, ok := columns[v.Column()]
		if !ok || v.IsNull() {
			continue
		}
		text := strings.ToValidUTF8(string(v.ByteArray()), "\uFFFD")
		if dst := e.known(name); dst != nil {
			*dst = text
			continue
		}
		if e.Fields == nil {
			e.Fields = map[string]string{}
		}
		e.Fields[name] = text
	}
	return e
}

// complete says what a row of a table lacks.
func (e *Example) complete() error {
	if e.URL == "" {
		return errors.New(`no "url"; each row needs one, as the page's name`)
	}
	e.tidyLabels()
	return nil
}
