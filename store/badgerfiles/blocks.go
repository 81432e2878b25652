package badgerfiles

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/dgraph-io/badger/v4/fb"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/klauspost/compress/snappy"
	"google.golang.org/protobuf/proto"
)

// A table of Badger's, read without trusting a byte of it. Badger itself slices a block by
// numbers that stand in it before it looks at its checksum, and panics.
//
//	table = block… · index · its length (4) · checksum of the index · its length (4)
//	block = entry… · offsets of the entries (4 each, little-endian) · how many (4) · checksum of all before · its length (4)
//	entry = bytes in common with the block's first key (2) · bytes that follow (2), both little-endian · these bytes · value
//
// Lengths and numbers are big-endian where nothing else is said. A checksum is a
// pb.Checksum of CRC-32C. A key ends with its version: 8 bytes, all ones less the version.
// Older stores have each block compressed by Snappy, checksum and all.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C of text, by which Badger and we tell what was damaged.
func Checksum(text []byte) uint32 { return crc32.Checksum(text, castagnoli) }

// maxUnpacked is how many bytes a compressed one may stand for: in Snappy a copy of 64 bytes
// takes three.
const maxUnpacked = 22

// maxKeyBytes is the longest key that Badger writes to a table.
const maxKeyBytes = 1<<16 - 1

// place is where a block lies in its table, and the first key in it.
type place struct {
	from, to int
	key      []byte
}

// readIndex returns where the blocks of a table lie.
func readIndex(table []byte) (blocks []place, err error) {
	index, rest, err := tableIndex(table)
	if err != nil {
		return nil, err
	}
	defer func() { // the reader of flat buffers panics on what its writer would not write
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
	_ = root.BloomFilterBytes() // which Badger reads with each look-up
	return blocks, nil
}

// newestIn returns the newest version in a table whose index can be read.
func newestIn(table []byte) uint64 {
	index, _, err := tableIndex(table)
	if err != nil {
		return 0
	}
	return fb.GetRootAsTableIndex(index, 0).MaxVersion()
}

// tableIndex returns the index of a table, whose checksum is right, and how many bytes stand
// before it.
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

// cutLast returns the part of a table whose length stands in the four bytes before end.
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

// sumIs says whether a checksum, as it stands in a file, is that of these bytes.
func sumIs(of, checksum []byte) bool {
	var sum pb.Checksum
	return len(checksum) > 0 && proto.Unmarshal(checksum, &sum) == nil &&
		sum.Algo == pb.Checksum_CRC32C && sum.Sum == uint64(Checksum(of))
}

// block is what stands in a block whose checksum is right.
type block struct {
	entries []byte
	offsets []byte // four bytes each
}

// readBlock looks at a block's checksum, and at all that Badger takes for granted in it.
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

// each calls f with the keys and values of a block, which are valid only inside it.
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
