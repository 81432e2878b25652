package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// ErrDamaged reports a block of a scratch file that is not what was written.
var ErrDamaged = errors.New("damaged block")

// A block is a count, a checksum and so many records (docs/frontier.md).
const (
	headerBytes = 8
	recordBytes = 32
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func blockBytes(records int) int { return headerBytes + records*recordBytes }

// appendBlock appends the block of entries to dst.
func appendBlock(dst []byte, entries []entry) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(entries)))
	dst = append(dst, 0, 0, 0, 0)
	for i := range entries {
		e := &entries[i]
		dst = binary.LittleEndian.AppendUint64(dst, uint64(e.id))
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(e.priority))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(e.host))
		dst = binary.LittleEndian.AppendUint64(dst, e.key)
	}
	sum := crc32.Checksum(dst[start+headerBytes:], castagnoli)
	binary.LittleEndian.PutUint32(dst[start+4:], sum)
	return dst
}

// parseBlock appends the entries of a block to dst. data must be that block and
// no more.
func parseBlock(dst []entry, data []byte) ([]entry, error) {
	if len(data) < headerBytes {
		return dst, fmt.Errorf("%w: %d bytes, want at least %d", ErrDamaged, len(data), headerBytes)
	}
	count, sum := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
	records := data[headerBytes:]
	if uint64(len(records)) != uint64(count)*recordBytes {
		return dst, fmt.Errorf("%w: %d bytes of records, want %d of %d", ErrDamaged, len(records), count, recordBytes)
	}
	if got := crc32.Checksum(records, castagnoli); got != sum {
		return dst, fmt.Errorf("%w: checksum %08x, want %08x", ErrDamaged, got, sum)
	}
	for ; len(records) > 0; records = records[recordBytes:] {
		r := records[:recordBytes]
		dst = append(dst, entry{
			id:       ID(binary.LittleEndian.Uint64(r)),
			priority: math.Float64frombits(binary.LittleEndian.Uint64(r[8:])),
			host:     Host(binary.LittleEndian.Uint64(r[16:])),
			key:      binary.LittleEndian.Uint64(r[24:]),
		})
	}
	return dst, nil
}
