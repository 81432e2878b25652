package datasets

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

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
	n, text := 0, int64(0)
	for i, group := range table.RowGroups() {
		columns := textColumns(table.Schema(), f, info.Size())
		for c := range columns {
			if err := columns[c].open(&table.Metadata().RowGroups[i].Columns[columns[c].number].MetaData, group.NumRows()); err != nil {
				return columns[c].wrap(err)
			}
		}
		for range group.NumRows() {
			e := &Example{}
			for c := range columns {
				bytes, err := columns[c].next(e)
				if err != nil {
					return fmt.Errorf("row %d: %w", n+1, columns[c].wrap(err))
				}
				text += int64(bytes)
			}
			if reading.Bomb(info.Size(), text) {
				return fmt.Errorf("row %d: %w", n+1, reading.ErrBomb)
			}
			if n++; !row(n, e) {
				return nil
			}
		}
	}
	return nil
}

// column reads the texts of one column in a group of rows, a page at a time.
type column struct {
	name     string
	number   int
	optional bool

	file          io.ReaderAt
	size, at, end int64 // of the file; of the next page; of the last
	codec         format.CompressionCodec
	rows, paged   int64 // of the group; how many were in pages so far

	dictionary texts
	page       struct {
		values, value int     // how many rows; how many of them were read
		levels        []uint8 // where the column is optional: 0 is a row without text
		places        []int32 // in the dictionary, nil where the texts are the page's own
		own           texts
		text          int // how many texts were read
	}
}

// texts are many in one piece; offsets are where they begin, and where the last ends.
type texts struct {
	bytes   []byte
	offsets []uint32
}

// next gives a row its text, and says how many bytes that has.
func (c *column) next(e *Example) (bytes int, err error) {
	for c.page.value >= c.page.values {
		if err := c.load(); err != nil {
			return 0, err
		}
	}
	p := &c.page
	p.value++
	if c.optional {
		if p.value > len(p.levels) {
			return 0, io.ErrUnexpectedEOF
		}
		if p.levels[p.value-1] == 0 {
			return 0, nil
		}
	}
	from, place := p.own, p.text
	if p.places != nil {
		if p.text >= len(p.places) {
			return 0, io.ErrUnexpectedEOF
		}
		from, place = c.dictionary, int(p.places[p.text])
	}
	p.text++
	if place < 0 || place >= len(from.offsets)-1 {
		return 0, fmt.Errorf("%w: text %d of %d", errTable, place+1, max(0, len(from.offsets)-1))
	}
	text := from.bytes[from.offsets[place]:from.offsets[place+1]]
	e.set(c.name, strings.ToValidUTF8(string(text), "\uFFFD"))
	return len(text), nil
}

func (c *column) wrap(err error) error {
	return fmt.Errorf("%w: column %s: %w", errNotParquet, c.name, err)
}

// textColumns are the columns that hold text.
func textColumns(s *parquet.Schema, file io.ReaderAt, size int64) (columns []column) {
	for i, path := range s.Columns() {
		leaf, ok := s.Lookup(path...)
		if ok && len(path) == 1 && leaf.Node.Type().Kind() == parquet.ByteArray && !leaf.Node.Repeated() {
			columns = append(columns, column{name: path[0], number: i, optional: leaf.Node.Optional(), file: file, size: size})
		}
	}
	return columns
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
