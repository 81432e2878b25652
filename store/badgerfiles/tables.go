package badgerfiles

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"

	"fossick/internal/reading"
)

// pageBytes is what a disk reads at once: where a table cannot be read, what is around it can.
const pageBytes = 4096

// readFile reads a file into buf, or a larger one, and returns it. What the disk cannot
// read is zero, which no checksum takes for what was there. A file that is mapped, as
// Badger maps it, would kill the process instead.
func readFile(name string, buf []byte) ([]byte, error) {
	f, err := reading.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it is only read
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

// checkTable returns what is wrong with a table, the first block of which that is, and how
// many are; nil when Badger can read all of it.
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

// wholeBlocks returns the blocks of a table that can be read: those that its index names,
// or those that can be found where there is no index.
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

// A checksum begins with the number of its field; with the varint it has so many bytes at most.
const (
	sumField    = 2 << 3
	maxSumBytes = 6
)

// findBlocks returns the blocks of a table whose index is lost. A block begins where the one
// before it ends, or after one that is damaged, anywhere. Where it ends is told by its
// checksum's length, which is a small number.
func findBlocks(text []byte, compression badgeroptions.CompressionType) (blocks []block) {
	if compression != badgeroptions.None {
		return nil // of a compressed block nothing shows where it ends
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
		to += 11 // no block is shorter
	}
	return blocks
}

// reach is how far before its end a block is looked for behind damage.
const reach = 64 << 10

// blockEnding returns where a block begins that ends at to: at from, or behind damage
// later. Its checksum is a pb.Checksum of one field. Its first entry is at 0, shares
// nothing with a key before it, and has a key with a version.
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

// errOrder reports keys that are not in order, which no table has.
var errOrder = errors.New("its keys are not in order")

// tableOf returns a table of the entries of blocks, nil when there are none.
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
		// A block is as it was written, or its checksum would be another. An
		// error here is of one that Badger never wrote, and the rest of it is
		// left out.
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

// wellFormed says whether a value begins as Badger's do: two bytes of marks and a varint.
func wellFormed(value []byte) bool {
	if len(value) < 3 {
		return false
	}
	_, n := binary.Uvarint(value[2:])
	return n > 0 && (value[0]&isPointer == 0 || len(value[2+n:]) == pointerBytes)
}

// pointedBytes is how much of the value log a value takes.
func pointedBytes(v y.ValueStruct) uint32 {
	if v.Meta&isPointer == 0 {
		return 0
	}
	return binary.LittleEndian.Uint32(v.Value[4:])
}
