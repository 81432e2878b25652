package links

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// ErrDamaged reports a file that is not as it was written.
var ErrDamaged = errors.New("the link file is damaged; make it again with fossick convert")

// ErrVersion reports a file of a later fossick.
var ErrVersion = errors.New("unknown version of the link file")

const (
	magic       = "FSKLINKS"
	version     = 1
	headerBytes = 52
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Header is what a file says of itself.
type Header struct {
	Pages   uint64 // ids are below
	Records uint64 // pages that have links
	Links   uint64

	bodyBytes uint64
	bodySum   uint32 // CRC-32C
}

// append appends the header as it stands in a file.
func (h *Header) append(dst []byte) []byte {
	le, from := binary.LittleEndian, len(dst)
	dst = append(dst, magic...)
	dst = le.AppendUint32(dst, version)
	dst = le.AppendUint32(dst, h.bodySum)
	for _, n := range []uint64{h.Pages, h.Records, h.Links, h.bodyBytes} {
		dst = le.AppendUint64(dst, n)
	}
	return le.AppendUint32(dst, crc32.Checksum(dst[from:], castagnoli))
}

// parseHeader reads a header of headerBytes.
func parseHeader(b []byte) (h Header, err error) {
	le := binary.LittleEndian
	if string(b[:len(magic)]) != magic {
		return h, fmt.Errorf("%w: it does not begin with %s", ErrDamaged, magic)
	}
	if v := le.Uint32(b[8:]); v != version {
		return h, fmt.Errorf("%w: %d, and this build reads %d; use that version of fossick", ErrVersion, v, version)
	}
	if le.Uint32(b[48:]) != crc32.Checksum(b[:48], castagnoli) {
		return h, fmt.Errorf("%w: the checksum of its header is wrong", ErrDamaged)
	}
	h = Header{
		Pages: le.Uint64(b[16:]), Records: le.Uint64(b[24:]), Links: le.Uint64(b[32:]),
		bodySum: le.Uint32(b[12:]), bodyBytes: le.Uint64(b[40:]),
	}
	if h.Pages > maxPages || h.Records > h.Pages || h.Links < h.Records {
		return h, fmt.Errorf("%w: %d links of %d of %d pages", ErrDamaged, h.Links, h.Records, h.Pages)
	}
	return h, nil
}

// maxPages bounds ids to 32 bits.
const maxPages = 1<<32 - 1
