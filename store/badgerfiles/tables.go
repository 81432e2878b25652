package badgerfiles

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/fb"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"github.com/klauspost/compress/snappy"
	"google.golang.org/protobuf/proto"

	"fossick/internal/fileio"
)

// pageBytes is the unit that a disk loses: the rest of a table around it can be read.
const pageBytes = 4096

// readFile reads a file into buf, or into a larger buffer. Unreadable pages become zeros, which
// fail their checksums; with a mapped file they would kill the process.
func readFile(name string, buf []byte) ([]byte, error) {
	f, err := fileio.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if n := int(info.Size()); cap(buf) < n {
		buf = make([]byte, n)
	} else {
		buf = buf[:n]
	}
	if _, err := f.ReadAt(buf, 0); err == nil || errors.Is(err, io.EOF) {
		return buf, nil
	}
	for from := 0; from < len(buf); from += pageBytes {
		page := buf[from:min(from+pageBytes, len(buf))]
		if _, err := f.ReadAt(page, int64(from)); err != nil && !errors.Is(err, io.EOF) {
			clear(page)
		}
	}
	return buf, nil
}

// checkTable returns the first damage of a table and the number of damaged blocks.
func checkTable(text []byte, compression badgeroptions.CompressionType) (bad int, err error) {
	blocks, err := readIndex(text)
	if err != nil {
		return 0, err
	}
	for i, at := range blocks {
		if _, blockErr := readBlock(text[at.from:at.to], compression); blockErr != nil {
			if bad++; err == nil {
				err = fmt.Errorf("block %d of %d: %w", i+1, len(blocks), blockErr)
			}
		}
	}
	return bad, err
}

// wholeBlocks returns the readable blocks of a table, without its index found by their shape.
func wholeBlocks(text []byte, compression badgeroptions.CompressionType) (blocks []block) {
	places, err := readIndex(text)
	if err != nil {
		return findBlocks(text, compression)
	}
	for _, at := range places {
		if b, err := readBlock(text[at.from:at.to], compression); err == nil {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// A checksum begins with its field number and, with the varint, has at most maxSumBytes.
const (
	sumField    = 2 << 3
	maxSumBytes = 6
)

// findBlocks finds the blocks of a table without an index. A block begins where the previous one
// ends, or anywhere after damage. It ends with its checksum's length, a small number.
func findBlocks(text []byte, compression badgeroptions.CompressionType) (blocks []block) {
	if compression != badgeroptions.None {
		return nil // the end of a compressed block cannot be recognised
	}
	for from, to := 0, 12; to <= len(text); to++ {
		if n := binary.BigEndian.Uint32(text[to-4:]); n < 2 || n > maxSumBytes {
			continue
		}
		at, ok := blockEnding(text, from, to)
		if !ok {
			continue
		}
		b, err := readBlock(text[at:to], compression)
		if err != nil {
			continue
		}
		blocks = append(blocks, b)
		from = to
		to += 11
	}
	return blocks
}

const reach = 64 << 10

// blockEnding returns where the block that ends at to begins: at from, or later after damage. Its
// checksum has one field. Its first entry is at offset 0, shares no key bytes and has a key with a
// version.
func blockEnding(text []byte, from, to int) (at int, ok bool) {
	rest := to - 4 - int(binary.BigEndian.Uint32(text[to-4:]))
	if rest-from < 12 || text[rest] != sumField {
		return 0, false
	}
	entries := int(binary.BigEndian.Uint32(text[rest-4:]))
	if entries <= 0 || entries > (rest-4-from)/8 {
		return 0, false
	}
	offsets := rest - 4 - 4*entries
	if binary.LittleEndian.Uint32(text[offsets:]) != 0 {
		return 0, false
	}
	if _, err := readBlock(text[from:to], badgeroptions.None); err == nil {
		return from, true
	}
	latest := offsets - int(binary.LittleEndian.Uint32(text[offsets+4*(entries-1):])) - 4
	for at := max(from+1, latest-reach); at <= latest; at++ {
		if binary.LittleEndian.Uint16(text[at:]) != 0 || binary.LittleEndian.Uint16(text[at+2:]) <= 8 {
			continue
		}
		if _, err := readBlock(text[at:to], badgeroptions.None); err == nil {
			return at, true
		}
	}
	return 0, false
}

var errOrder = errors.New("its keys are not in order")

func tableOf(blocks []block, compression badgeroptions.CompressionType, o badger.Options) []byte {
	bytes := 0
	for _, b := range blocks {
		bytes += len(b.entries) + len(b.offsets)
	}
	builder := table.NewTableBuilder(table.Options{
		TableSize: uint64(bytes) + 1<<16, BlockSize: o.BlockSize, BloomFalsePositive: o.BloomFalsePositive,
		Compression: compression, ZSTDCompressionLevel: o.ZSTDCompressionLevel,
	})
	defer builder.Close()
	var last []byte
	for _, b := range blocks {
		// An error despite the right checksum means that Badger never wrote the block: skip its
		// rest.
		_ = b.each(func(key, value []byte) error {
			if last != nil && y.CompareKeys(last, key) >= 0 || !wellFormed(value) {
				return errOrder
			}
			last = append(last[:0], key...)
			var v y.ValueStruct
			v.Decode(value)
			builder.Add(append([]byte(nil), key...), v, pointedBytes(v))
			return nil
		})
	}
	if builder.Empty() {
		return nil
	}
	return builder.Finish()
}

func wellFormed(value []byte) bool {
	if len(value) < 3 {
		return false
	}
	_, n := binary.Uvarint(value[2:])
	return n > 0 && (value[0]&isPointer == 0 || len(value[2+n:]) == pointerBytes)
}

func pointedBytes(v y.ValueStruct) uint32 {
	if v.Meta&isPointer == 0 {
		return 0
	}
	return binary.LittleEndian.Uint32(v.Value[4:])
}

// A table of Badger's, read without trusting any byte. Badger slices a block by the numbers in it
// before it verifies the checksum, and panics.
//
//	table = block… · index · its length (4) · checksum of the index · its length (4)
//	block = entry… · offsets of the entries (4 each, little-endian) · how many (4) · checksum of all before · its length (4)
//	entry = bytes shared with the block's first key (2) · further key bytes (2), both little-endian · these bytes · value
//
// Numbers are big-endian unless noted. A checksum is a pb.Checksum of CRC-32C. A key ends with its
// version: 8 bytes, all ones minus the version. In older stores Snappy compresses each block with
// its checksum.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of text.
func Checksum(text []byte) uint32 { return crc32.Checksum(text, castagnoli) }

// maxUnpacked is Snappy's largest ratio: a copy of 64 bytes takes three.
const maxUnpacked = 22

const maxKeyBytes = 1<<16 - 1

type place struct {
	from, to int
	key      []byte
}

func readIndex(table []byte) (blocks []place, err error) {
	index, rest, err := tableIndex(table)
	if err != nil {
		return nil, err
	}
	defer func() { // the flatbuffers reader panics on corrupt data
		if recover() != nil {
			blocks, err = nil, errors.New("its index cannot be read")
		}
	}()
	root := fb.GetRootAsTableIndex(index, 0)
	n := root.OffsetsLength()
	if n <= 0 || n > len(index)/4 {
		return nil, fmt.Errorf("its index names %d blocks", n)
	}
	blocks = make([]place, 0, n)
	var b fb.BlockOffset
	for i := range n {
		if !root.Offsets(&b, i) {
			return nil, fmt.Errorf("its index has no block %d", i)
		}
		from, length := int(b.Offset()), int(b.Len())
		if from > rest || length > rest-from || length < 12 || len(b.KeyBytes()) < 8 {
			return nil, fmt.Errorf("its index has block %d at %d with %d bytes, outside the %d that there are", i, from, length, rest)
		}
		blocks = append(blocks, place{from, from + length, b.KeyBytes()})
	}
	_ = root.BloomFilterBytes() // verify it too: Badger reads it on each look-up
	return blocks, nil
}

func newestIn(table []byte) uint64 {
	index, _, err := tableIndex(table)
	if err != nil {
		return 0
	}
	return fb.GetRootAsTableIndex(index, 0).MaxVersion()
}

// tableIndex returns a table's verified index and the number of bytes before it.
func tableIndex(table []byte) (index []byte, rest int, err error) {
	checksum, rest, err := cutLast(table, len(table), "checksum")
	if err != nil {
		return nil, 0, err
	}
	index, rest, err = cutLast(table, rest, "index")
	switch {
	case err != nil:
		return nil, 0, err
	case len(index) < 8:
		return nil, 0, fmt.Errorf("its index has %d bytes", len(index))
	case rest == 0:
		return nil, 0, errors.New("it has no blocks")
	case !sumIs(index, checksum):
		return nil, 0, errors.New("its index has another checksum")
	}
	return index, rest, nil
}

// cutLast returns the part of a table whose length is in the four bytes before end.
func cutLast(table []byte, end int, what string) (part []byte, rest int, err error) {
	if end < 4 {
		return nil, 0, fmt.Errorf("it is too short for its %s", what)
	}
	n := binary.BigEndian.Uint32(table[end-4:])
	if int64(n) > int64(end-4) {
		return nil, 0, fmt.Errorf("its %s claims %d bytes, more than there are", what, n)
	}
	rest = end - 4 - int(n)
	return table[rest : end-4], rest, nil
}

func sumIs(of, checksum []byte) bool {
	var sum pb.Checksum
	return len(checksum) > 0 && proto.Unmarshal(checksum, &sum) == nil &&
		sum.Algo == pb.Checksum_CRC32C && sum.Sum == uint64(Checksum(of))
}

type block struct {
	entries []byte
	offsets []byte
}

func readBlock(text []byte, compression badgeroptions.CompressionType) (b block, err error) {
	if text, err = unpackBlock(text, compression); err != nil {
		return b, err
	}
	checksum, rest, err := cutLast(text, len(text), "checksum")
	if err != nil {
		return b, err
	}
	if rest < 4 {
		return b, errors.New("it is too short for its entries")
	}
	if !sumIs(text[:rest], checksum) {
		return b, errors.New("it has another checksum")
	}
	n := binary.BigEndian.Uint32(text[rest-4:])
	if n == 0 || int64(n)*4 > int64(rest-4) {
		return b, fmt.Errorf("it claims %d entries", n)
	}
	offsets := rest - 4 - 4*int(n)
	return block{text[:offsets], text[offsets : rest-4]}, nil
}

func unpackBlock(text []byte, compression badgeroptions.CompressionType) ([]byte, error) {
	switch compression {
	case badgeroptions.None:
		return text, nil
	case badgeroptions.Snappy:
		if n, err := snappy.DecodedLen(text); err != nil || n > maxUnpacked*len(text) {
			return nil, errors.New("it cannot be unpacked")
		}
		return snappy.Decode(nil, text)
	}
	return nil, fmt.Errorf("it has a compression (%d) that no fossick writes", compression)
}

// each calls f with the keys and values of a block, which are valid only during the call.
func (b block) each(f func(key, value []byte) error) error {
	var first, key []byte
	for i := 0; i < len(b.offsets); i += 4 {
		from, to := binary.LittleEndian.Uint32(b.offsets[i:]), uint32(len(b.entries))
		if i+8 <= len(b.offsets) {
			to = binary.LittleEndian.Uint32(b.offsets[i+4:])
		}
		if from > to || to > uint32(len(b.entries)) || to-from < 4 {
			return fmt.Errorf("entry %d is at %d to %d of %d", i/4, from, to, len(b.entries))
		}
		entry := b.entries[from:to]
		common, more := int(binary.LittleEndian.Uint16(entry)), int(binary.LittleEndian.Uint16(entry[2:]))
		if entry = entry[4:]; common > len(first) || more > len(entry) || common+more < 8 || common+more > maxKeyBytes {
			return fmt.Errorf("entry %d has a key of %d and %d bytes", i/4, common, more)
		}
		key = append(append(key[:0], first[:common]...), entry[:more]...)
		if i == 0 {
			first = append(first, key...)
		}
		if err := f(key, entry[more:]); err != nil {
			return err
		}
	}
	return nil
}
