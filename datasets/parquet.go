package datasets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"fossick/internal/fileio"
)

// readParquet reads a table with one page per row. Text columns have the names of the JSONL fields;
// other text columns go into Fields, and non-text columns are ignored.
func readParquet(path string) reader {
	return func(rep *passReport, yield func(*Example, error) bool) {
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

var errNotParquet = errors.New("not a Parquet file that can be read")

// eachParquet calls row for each row until it returns false. It recovers the library's panics on
// corrupt files.
func eachParquet(path string, row func(n int, e *Example) bool) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errNotParquet, p)
		}
	}()
	f, err := fileio.OpenNamed(path)
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
	if table.NumRows() > info.Size() { // impossible: each row needs its own URL
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
			if fileio.Bomb(info.Size(), text) {
				return fmt.Errorf("row %d: %w", n+1, fileio.ErrBomb)
			}
			if n++; !row(n, e) {
				return nil
			}
		}
	}
	return nil
}

type column struct {
	name     string
	number   int
	optional bool

	file          io.ReaderAt
	size, at, end int64 // file size; offset of the next page; end of the last page
	codec         format.CompressionCodec
	rows, paged   int64 // rows in the group; rows in the pages loaded so far

	dictionary texts
	page       struct {
		values, value int     // rows in the page; rows already read
		levels        []uint8 // definition levels of an optional column: 0 marks a row without text
		places        []int32 // dictionary indexes; nil if the page holds the texts itself
		own           texts
		text          int // texts already read
	}
}

// texts packs many strings into one buffer; offsets has each start, and the end of the last.
type texts struct {
	bytes   []byte
	offsets []uint32
}

// next stores the next row's text in e and returns its size.
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

func textColumns(s *parquet.Schema, file io.ReaderAt, size int64) (columns []column) {
	for i, path := range s.Columns() {
		leaf, ok := s.Lookup(path...)
		if ok && len(path) == 1 && leaf.Node.Type().Kind() == parquet.ByteArray && !leaf.Node.Repeated() {
			columns = append(columns, column{name: path[0], number: i, optional: leaf.Node.Optional(), file: file, size: size})
		}
	}
	return columns
}

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

func (e *Example) complete() error {
	if e.URL == "" {
		return errors.New(`no "url"; each row needs one, as the page's name`)
	}
	e.tidyLabels()
	return nil
}

// decode splits a page into definition levels and texts. It bounds sizes before the library decodes,
// because five bytes can encode a run of a billion values.
func (c *column) decode(p *facts, body []byte) (err error) {
	kind := format.PageType(p[pageType])
	levels := p[pageLevels]
	if levels < 0 || levels > int64(len(body)) || levels > p[pageUnpacked] {
		return fmt.Errorf("%w: %d bytes of levels", errTable, levels)
	}
	level, text := body[:levels], body[levels:]
	if p[pagePlain] == 0 {
		if text, err = unpacked(text, c.codec, p[pageUnpacked]-levels); err != nil {
			return err
		}
	}
	switch {
	case kind == format.DictionaryPage:
		c.dictionary.bytes, c.dictionary.offsets, err = parquet.Plain.DecodeByteArray(nil, text, nil)
		return err
	case kind != format.DataPage && kind != format.DataPageV2:
		return nil
	case kind == format.DataPage && c.optional:
		if len(text) < 4 {
			return io.ErrUnexpectedEOF
		}
		n := int64(binary.LittleEndian.Uint32(text))
		if n > int64(len(text)-4) {
			return fmt.Errorf("%w: %d bytes of levels", errTable, n)
		}
		level, text = text[4:4+n], text[4+n:]
	}
	c.page.values, c.page.value, c.page.text, c.page.own = int(p[pageValues]), 0, 0, texts{}
	if c.optional {
		if err := runs(level, 1, p[pageValues]); err != nil {
			return err
		}
		bits := rle.Encoding{BitWidth: 1}
		if c.page.levels, err = bits.DecodeLevels(nil, level); err != nil {
			return err
		}
	}
	return c.decodeTexts(p, text)
}

func (c *column) decodeTexts(p *facts, text []byte) (err error) {
	const plainDictionary = 2 // deprecated number of RLEDictionary in data pages
	c.page.places = nil
	e := format.Encoding(p[pageEncoding])
	switch e {
	case format.Plain:
	case plainDictionary, format.RLEDictionary:
		if len(text) == 0 {
			return nil
		}
		if err := runs(text[1:], int(text[0]), p[pageValues]); err != nil {
			return err
		}
		c.page.places, err = parquet.RLEDictionary.DecodeInt32(nil, text)
		return err
	case format.DeltaLengthByteArray:
		t := thrift{in: text}
		if _, err := t.lengths(p[pageValues]); err != nil {
			return err
		}
	case format.DeltaByteArray: // each text as the length of the prefix shared with its predecessor, and a suffix
		t := thrift{in: text}
		shared, err := t.lengths(p[pageValues])
		if err != nil {
			return err
		}
		own, err := t.lengths(p[pageValues])
		if err != nil {
			return err
		}
		if tooLarge(shared+own, p[pagePacked]) {
			return fmt.Errorf("%w: a page of %d bytes from %d", fileio.ErrBomb, shared+own, p[pagePacked])
		}
	default:
		return fmt.Errorf("text in the encoding %s; write it plain, with a dictionary or with deltas", e)
	}
	c.page.own.bytes, c.page.own.offsets, err = parquet.LookupEncoding(e).DecodeByteArray(nil, text, nil)
	return err
}

// tooLarge reports whether a page expands implausibly, from in to out bytes.
func tooLarge(out, in int64) bool { return out > mostPage || out > freePage && out/200 > in }

// lengths skips DELTA_BINARY_PACKED text lengths, at most most of them, and returns their sum.
func (t *thrift) lengths(most int64) (sum int64, err error) {
	var head [3]uint64 // block size, miniblocks per block, total count
	for i := range head {
		if head[i], err = t.uvarint(); err != nil {
			return 0, err
		}
	}
	block, parts, left := head[0], head[1], head[2]
	value, err := t.varint()
	if err != nil || left == 0 {
		return 0, err
	}
	if block > 1<<16 || parts == 0 || block/parts == 0 || block%(8*parts) != 0 || left > uint64(most) || value < 0 {
		return 0, fmt.Errorf("%w: %d lengths of texts, of %d, in blocks of %d", errTable, left, most, block)
	}
	sum = value
	for left--; left > 0; {
		least, err := t.varint()
		if err != nil {
			return 0, err
		}
		widths := t.in[t.at:]
		if err := t.skip(parts); err != nil {
			return 0, err
		}
		for _, width := range widths[:min(parts, (left+block/parts-1)/(block/parts))] {
			body := t.in[t.at:]
			if width > 32 {
				return 0, fmt.Errorf("%w: numbers of %d bits", errTable, width)
			}
			if err := t.skip(block / parts * uint64(width) / 8); err != nil {
				return 0, err
			}
			n := min(left, block/parts)
			for i := range n {
				if value += least + packedAt(body, i, uint64(width)); value < 0 || value > mostPage {
					return 0, fmt.Errorf("%w: a text of %d bytes", errTable, value)
				}
				sum += value
			}
			left -= n
		}
	}
	return sum, nil
}

// packedAt returns bit-packed number i, of width ≤ 32 bits.
func packedAt(b []byte, i, width uint64) int64 {
	var word [8]byte
	copy(word[:], b[min(i*width/8, uint64(len(b))):])
	return int64(binary.LittleEndian.Uint64(word[:]) >> (i * width % 8) & (1<<width - 1))
}

// unpacked decompresses b to exactly n bytes; corrupt input costs hardly more memory than n.
func unpacked(b []byte, codec format.CompressionCodec, n int64) ([]byte, error) {
	var r io.Reader
	switch codec {
	case format.Uncompressed:
		r = bytes.NewReader(b)
	case format.Snappy:
		if size, err := snappy.DecodedLen(b); err == nil && int64(size) != n {
			return nil, fmt.Errorf("%w: a page of %d bytes unpacks to %d", errTable, n, size)
		}
		return snappy.Decode(nil, b)
	case format.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		r = z
	case format.Zstd:
		z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostPage))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	case format.Lz4Raw:
		return unpackedLZ4(b, n)
	case format.Lz4: // Hadoop framing: each block has its unpacked and packed length in front
		var text []byte
		for len(b) > 8 {
			size, end := int64(binary.BigEndian.Uint32(b)), 8+int64(binary.BigEndian.Uint32(b[4:]))
			if end > int64(len(b)) || size > n-int64(len(text)) {
				return nil, fmt.Errorf("%w: a block of %d bytes out of %d", errTable, size, end-8)
			}
			block, err := unpackedLZ4(b[8:end], size)
			if err != nil {
				return nil, err
			}
			text, b = append(text, block...), b[end:]
		}
		r = bytes.NewReader(text)
	case format.Brotli:
		r = brotli.NewReader(bytes.NewReader(b))
	default:
		return nil, fmt.Errorf("compressed by %s, which fossick cannot read; write it with zstd, snappy or gzip", codec)
	}
	text, err := fileio.Rest(r, "a page", n)
	if err == nil && int64(len(text)) != n {
		err = io.ErrUnexpectedEOF
	}
	return text, err
}

func unpackedLZ4(b []byte, n int64) ([]byte, error) {
	text := make([]byte, n)
	size, err := lz4.UncompressBlock(b, text)
	if err == nil && int64(size) != n {
		err = fmt.Errorf("%w: %d bytes unpack to %d", errTable, n, size)
	}
	return text, err
}

// runs checks that RLE and bit-packed runs hold at most most numbers of the given bit width.
func runs(b []byte, width int, most int64) error {
	if width > 32 {
		return fmt.Errorf("%w: numbers of %d bits", errTable, width)
	}
	t := thrift{in: b}
	for n := int64(0); t.at < len(b); {
		head, err := t.uvarint()
		if err != nil {
			return err
		}
		count, size := head>>1, uint64(width+7)/8
		if head&1 == 1 {
			count, size = 8*(head>>1), (head>>1)*uint64(width)
		}
		if n += int64(min(count, 1<<32)); n > most+1<<10 || head>>1 > 1<<32 { // writers pad the last run; DuckDB pads to 256
			return fmt.Errorf("%w: runs of %d values, of %d", errTable, n, most)
		}
		if t.skip(min(size, uint64(len(b)-t.at))) != nil {
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}
