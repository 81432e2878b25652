package datasets

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
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
	if err := checkFooter(f, info.Size()); err != nil {
		return fmt.Errorf("%w: %w", errNotParquet, err)
	}
	table, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("%w: %w", errNotParquet, err)
	}
	if table.NumRows() > info.Size() { // each has a URL of its own
		return fmt.Errorf("%w: it claims to have %d rows", errNotParquet, table.NumRows())
	}
	columns := textColumns(table.Schema())
	n, text := 0, int64(0)
	for i, group := range table.RowGroups() {
		for c := range columns {
			if err := checkPages(f, &table.Metadata().RowGroups[i].Columns[c].MetaData, group.ColumnChunks()[c].(*parquet.FileColumnChunk).Node().Optional(), group.NumRows(), info.Size()); err != nil {
				return fmt.Errorf("%w: column %s: %w", errNotParquet, columns[c], err)
			}
		}
		readers := readersOf(group, columns)
		for range group.NumRows() {
			e := &Example{}
			for i := range readers {
				bytes, err := readers[i].next(e)
				if err != nil {
					return fmt.Errorf("row %d: %w: %w", n+1, errNotParquet, err)
				}
				text += int64(bytes)
			}
			if reading.Bomb(info.Size(), text) {
				return fmt.Errorf("row %d: %w", n+1, reading.ErrBomb)
			}
			if n++; !row(n, e) {
				return closeAll(readers)
			}
		}
		if err := closeAll(readers); err != nil {
			return err
		}
	}
	return nil
}

// columnReader reads the values of one column of a group of rows, a page at a time.
type columnReader struct {
	name   string
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buf    [16]parquet.Value
	left   []parquet.Value
}

func readersOf(group parquet.RowGroup, columns map[int]string) []columnReader {
	var readers []columnReader
	for _, c := range slices.Sorted(maps.Keys(columns)) {
		readers = append(readers, columnReader{name: columns[c], pages: group.ColumnChunks()[c].Pages()})
	}
	return readers
}

// next gives a row its value, and says how many bytes that has.
func (r *columnReader) next(e *Example) (bytes int, err error) {
	for len(r.left) == 0 {
		if r.values == nil {
			if r.page, err = r.pages.ReadPage(); err != nil {
				return 0, fmt.Errorf("column %s: %w", r.name, unexpected(err))
			}
			r.values = r.page.Values()
		}
		n, err := r.values.ReadValues(r.buf[:])
		r.left = r.buf[:n]
		switch {
		case n == 0 && err == io.EOF:
			parquet.Release(r.page)
			r.page, r.values = nil, nil
		case err != nil && err != io.EOF:
			return 0, fmt.Errorf("column %s: %w", r.name, err)
		case n == 0:
			return 0, fmt.Errorf("column %s: %w", r.name, io.ErrNoProgress)
		}
	}
	v := r.left[0]
	r.left = r.left[1:]
	if v.IsNull() {
		return 0, nil
	}
	e.set(r.name, strings.ToValidUTF8(string(v.ByteArray()), "\uFFFD"))
	return len(v.ByteArray()), nil
}

// unexpected says that values are missing.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

func closeAll(readers []columnReader) (err error) {
	for i := range readers {
		if r := &readers[i]; r.page != nil {
			parquet.Release(r.page)
		}
		err = errors.Join(err, readers[i].pages.Close())
	}
	return err
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

// set gives a field its text.
func (e *Example) set(name, text string) {
	if dst := e.known(name); dst != nil {
		*dst = text
		return
	}
	if e.Fields == nil {
		e.Fields = map[string]string{}
	}
	e.Fields[name] = text
}

// complete says what a row of a table lacks.
func (e *Example) complete() error {
	if e.URL == "" {
		return errors.New(`no "url"; each row needs one, as the page's name`)
	}
	e.tidyLabels()
	return nil
}
