package datasets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"fossick/internal/fileio"
)

// The Parquet library trusts the sizes in a file before it has read as much: a list of a billion
// columns, a page of gigabytes. This file checks metadata and page headers first, in Thrift's compact
// protocol.

// Bounds of a table.
const (
	mostFooter   = 16 << 20
	mostElements = 1 << 18 // list elements in one metadata struct
	mostNested   = 16
	mostHead     = 16 << 20  // bytes of a page header, which may contain minimum and maximum texts
	mostPage     = 256 << 20 // unpacked bytes of a page
	freePage     = 8 << 20   // unpacked bytes allowed at any compression ratio
	mostInPage   = 1 << 24   // values
)

var errTable = errors.New("its metadata is impossible")

func checkFooter(r io.ReaderAt, size int64) error {
	var end [8]byte
	if size < 12 {
		return io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(end[:], size-8); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if n > mostFooter || n > size-12 {
		return fmt.Errorf("%w: metadata of %d bytes", errTable, n)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, size-8-n); err != nil {
		return err
	}
	t := thrift{in: text}
	return t.structure(0, func([]int16, int64) {})
}

func (c *column) open(meta *format.ColumnMetaData, rows int64) error {
	c.at = meta.DataPageOffset
	if d := meta.DictionaryPageOffset; d > 0 && d < c.at {
		c.at = d
	}
	c.end, c.codec, c.rows = c.at+meta.TotalCompressedSize, meta.Codec, rows
	if c.at < 4 || meta.TotalCompressedSize < 0 || c.end > c.size || meta.NumValues != rows {
		return fmt.Errorf("%w: bytes %d to %d of %d with %d values for %d rows", errTable, c.at, c.end, c.size, meta.NumValues, rows)
	}
	return nil
}

func (c *column) load() error {
	if c.at >= c.end {
		return io.ErrUnexpectedEOF
	}
	p, err := headAt(c.file, c.at, c.size)
	if err != nil {
		return err
	}
	in, out := p[pagePacked], p[pageUnpacked]
	switch c.paged += p[pageValues]; {
	case in < 0 || out < 0 || in > c.end-c.at || tooLarge(out, in):
		return fmt.Errorf("%w: a page of %d bytes from %d", fileio.ErrBomb, out, in)
	case p[pageValues] < 0 || p[pageInDictionary] < 0 || p[pageInDictionary] > mostInPage || p[pageInDictionary] > out || p[pageValues] > mostInPage || c.paged > c.rows:
		return fmt.Errorf("%w: pages of %d values, and %d in the dictionary, for %d rows", errTable, c.paged, p[pageInDictionary], c.rows)
	}
	body := make([]byte, in)
	if _, err := c.file.ReadAt(body, c.at+p[pageHeadBytes]); err != nil {
		return err
	}
	if p[pageSum] != 0 && int32(p[pageSum]) != int32(crc32.ChecksumIEEE(body)) {
		return errors.New("a page is damaged: its check sum differs")
	}
	c.at += p[pageHeadBytes] + in
	return c.decode(&p, body)
}

// Indexes into facts.
const (
	pageUnpacked = iota
	pagePacked
	pageValues
	pageInDictionary
	pageType
	pageEncoding
	pageSum    // CRC-32 of the page after its header; 0 if absent
	pageLevels // bytes of levels, stored uncompressed before the values
	pagePlain  // 1 if the values are not compressed
	pageHeadBytes
	pageFacts
)

type facts [pageFacts]int64

// headAt reads a page header at an offset. It starts with 4 KiB, as most have some dozen bytes.
func headAt(r io.ReaderAt, at, size int64) (p facts, err error) {
	for n := int64(4 << 10); ; n *= 16 {
		head := make([]byte, min(n, size-at))
		if _, err := r.ReadAt(head, at); err != nil {
			return p, err
		}
		if p, err = readHead(head); err == nil || n >= mostHead || n >= size-at {
			return p, err
		}
	}
}

func readHead(b []byte) (facts facts, err error) {
	t := thrift{in: b}
	err = t.structure(0, func(field []int16, v int64) {
		switch {
		case len(field) == 1 && field[0] == 1:
			facts[pageType] = v
		case len(field) == 2 && field[0] == 8 && (field[1] == 5 || field[1] == 6):
			facts[pageLevels] += v
		case len(field) == 2 && field[0] == 8 && field[1] == 7:
			facts[pagePlain] = 1 - v
		case len(field) == 1 && field[0] == 2:
			facts[pageUnpacked] = v
		case len(field) == 1 && field[0] == 3:
			facts[pagePacked] = v
		case len(field) == 1 && field[0] == 4:
			facts[pageSum] = v
		case len(field) == 2 && field[1] == 1 && (field[0] == 5 || field[0] == 8):
			facts[pageValues] = v
		case len(field) == 2 && field[1] == 1 && field[0] == 7:
			facts[pageInDictionary] = v
		case len(field) == 2 && (field[0] == 5 && field[1] == 2 || field[0] == 8 && field[1] == 4):
			facts[pageEncoding] = v
		}
	})
	facts[pageHeadBytes] = int64(t.at)
	return facts, err
}

// thrift skips through a struct in Thrift's compact protocol without storing it.
type thrift struct {
	in       []byte
	at       int
	elements int
	path     []int16 // field numbers from the outermost struct inwards
}

// Types of the protocol.
const (
	thriftByte   = 3
	thriftInt64  = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftStruct = 12
)

func (t *thrift) structure(depth int, number func(field []int16, v int64)) error {
	if depth > mostNested {
		return fmt.Errorf("%w: nested %d deep", errTable, depth)
	}
	field := int16(0)
	for {
		head, err := t.byte()
		if err != nil || head == 0 {
			return err
		}
		if delta := int16(head >> 4); delta > 0 {
			field += delta
		} else {
			n, err := t.varint()
			if err != nil {
				return err
			}
			field = int16(n)
		}
		t.path = append(t.path, field)
		if kind := head & 15; kind <= 2 { // a boolean's value is its type
			number(t.path, int64(2-kind))
		} else {
			if err := t.value(head&15, depth, number); err != nil {
				return err
			}
		}
		t.path = t.path[:len(t.path)-1]
	}
}

func (t *thrift) value(kind byte, depth int, number func(field []int16, v int64)) error {
	switch {
	case kind <= thriftByte:
		_, err := t.byte()
		return err
	case kind <= thriftInt64:
		n, err := t.varint()
		number(t.path, n)
		return err
	case kind == thriftDouble:
		return t.skip(8)
	case kind == thriftBinary:
		n, err := t.uvarint()
		if err != nil {
			return err
		}
		return t.skip(n)
	case kind == thriftList || kind == thriftSet:
		return t.list(depth)
	case kind == thriftStruct:
		return t.structure(depth+1, number)
	}
	return fmt.Errorf("%w: a value of the type %d", errTable, kind) // maps do not occur in Parquet metadata
}

func (t *thrift) list(depth int) error {
	head, err := t.byte()
	if err != nil {
		return err
	}
	n := uint64(head >> 4)
	if n == 15 {
		if n, err = t.uvarint(); err != nil {
			return err
		}
	}
	kind := head & 15
	if kind == thriftStruct || kind == thriftList || kind == thriftSet {
		t.elements += int(min(n, mostElements+1))
	}
	if n > uint64(len(t.in)-t.at) || t.elements > mostElements {
		return fmt.Errorf("%w: a list of %d in %d bytes", errTable, n, len(t.in)-t.at)
	}
	for range n {
		if err := t.value(kind, depth+1, func([]int16, int64) {}); err != nil {
			return err
		}
	}
	return nil
}

func (t *thrift) byte() (byte, error) {
	if t.at >= len(t.in) {
		return 0, io.ErrUnexpectedEOF
	}
	t.at++
	return t.in[t.at-1], nil
}

func (t *thrift) skip(n uint64) error {
	if n > uint64(len(t.in)-t.at) {
		return fmt.Errorf("%w: %d bytes of %d", errTable, n, len(t.in)-t.at)
	}
	t.at += int(n)
	return nil
}

func (t *thrift) uvarint() (uint64, error) {
	v, n := binary.Uvarint(t.in[t.at:])
	if n <= 0 {
		return 0, fmt.Errorf("%w: a number that does not end", errTable)
	}
	t.at += n
	return v, nil
}

func (t *thrift) varint() (int64, error) {
	v, n := binary.Varint(t.in[t.at:])
	if n <= 0 {
		return 0, fmt.Errorf("%w: a number that does not end", errTable)
	}
	t.at += n
	return v, nil
}
