package datasets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

	"fossick/internal/reading"
)

// check looks into a page: that it unpacks to what its head says, and that its runs are of no
// more values. A run of a billion takes five bytes.
func (p *facts) check(body []byte, codec format.CompressionCodec, optional bool) error {
	levels := p[pageLevels]
	if levels < 0 || levels > int64(len(body)) || levels > p[pageUnpacked] {
		return fmt.Errorf("%w: %d bytes of levels", errTable, levels)
	}
	if levels > 0 && optional {
		if err := runs(body[:levels], 1, p[pageValues]); err != nil {
			return err
		}
	}
	text := body[levels:]
	if p[pagePlain] == 0 {
		var err error
		if text, err = unpacked(text, codec, p[pageUnpacked]-levels); err != nil {
			return err
		}
	}
	if format.PageType(p[pageType]) == format.DataPage && optional {
		if len(text) < 4 {
			return io.ErrUnexpectedEOF
		}
		n := int64(binary.LittleEndian.Uint32(text))
		if n > int64(len(text)-4) {
			return fmt.Errorf("%w: %d bytes of levels", errTable, n)
		}
		if err := runs(text[4:4+n], 1, p[pageValues]); err != nil {
			return err
		}
		text = text[4+n:]
	}
	if t := format.PageType(p[pageType]); t != format.DataPage && t != format.DataPageV2 {
		return nil
	}
	return p.checkValues(text)
}

// checkValues looks at the values of a page of text.
func (p *facts) checkValues(text []byte) error {
	const plainDictionary = 2 // the older number of RLEDictionary, in a page of data
	switch e := format.Encoding(p[pageEncoding]); e {
	case format.Plain:
		return nil
	case plainDictionary, format.RLEDictionary:
		if len(text) == 0 {
			return nil
		}
		return runs(text[1:], int(text[0]), p[pageValues])
	case format.DeltaLengthByteArray: // size of a block, of its parts, how many there are
		t := thrift{in: text}
		for range 2 {
			if _, err := t.uvarint(); err != nil {
				return err
			}
		}
		if n, err := t.uvarint(); err != nil || n > uint64(p[pageValues]) {
			return fmt.Errorf("%w: lengths of %d texts, of %d", errTable, n, p[pageValues])
		}
		return nil
	default:
		return fmt.Errorf("text in the encoding %s, in which a few bytes can expand to gigabytes; write it plain or with a dictionary", e)
	}
}

// unpacked returns n bytes, and takes little more memory whatever was packed.
func unpacked(b []byte, codec format.CompressionCodec, n int64) ([]byte, error) {
	var r io.Reader
	switch codec {
	case format.Uncompressed:
		r = bytes.NewReader(b)
	case format.Snappy:
		if size, err := snappy.DecodedLen(b); err != nil || int64(size) != n {
			return nil, fmt.Errorf("%w: a page of %d bytes unpacks to %d: %w", errTable, n, size, err)
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
	case format.Brotli:
		r = brotli.NewReader(bytes.NewReader(b))
	default:
		return nil, fmt.Errorf("compressed by %s, which fossick cannot read; write it with zstd, snappy or gzip", codec)
	}
	text, err := reading.Rest(r, "a page", n)
	if err == nil && int64(len(text)) != n {
		err = io.ErrUnexpectedEOF
	}
	return text, err
}

// runs checks that numbers of so many bits, in runs or packed by eights, are no more than most.
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
		if n += int64(min(count, 1<<32)); n > most+7 || head>>1 > 1<<32 { // the last eight may be filled up
			return fmt.Errorf("%w: runs of %d values, of %d", errTable, n, most)
		}
		if t.skip(min(size, uint64(len(b)-t.at))) != nil {
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}
