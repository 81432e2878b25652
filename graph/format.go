package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// errFormat reports a file that is no graph, or one that this build cannot read.
var errFormat = errors.New("unknown format")

const (
	magic      = "FSKGRAPH"
	version    = 1
	headerSize = 256
)

// The sections of a file, in this order.
const (
	sectionSuccessors = iota // the bit stream and padBytes
	sectionOffsets           // see offsets.go
	sectionNames             // see names.go
	sectionBlocks            // of names, 64 bits each: where it begins
	sectionHosts             // see runs.go
	sectionSites
	sections
)

// padBytes of zeros after the bit stream let a reader take whole words.
const padBytes = 8

var crcTable = crc32.MakeTable(crc32.Castagnoli)

// section is a part of the file.
type section struct {
	at, size uint64 // in bytes
	crc      uint32 // CRC-32C
}

// header is the first headerSize bytes of a file, little-endian:
//
//	0   magic, 8 bytes
//	8   version, window, chain, zeta: 32 bits each
//	24  nodes, edges, bits of the stream, hosts, sites: 64 bits each
//	64  six sections: at, size 64 bits each, crc 32 bits, 4 bytes of zeros
//	208 zeros
//	252 CRC-32C of the bytes before, 32 bits
type header struct {
	params
	nodes, edges, bits, hosts, sites uint64
	sections                         [sections]section
}

func (h *header) encode() []byte {
	b := append(make([]byte, 0, headerSize), magic...)
	for _, x := range []int{version, h.window, h.chain, h.zeta} {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	for _, x := range []uint64{h.nodes, h.edges, h.bits, h.hosts, h.sites} {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	for _, s := range h.sections {
		b = binary.LittleEndian.AppendUint64(b, s.at)
		b = binary.LittleEndian.AppendUint64(b, s.size)
		b = binary.LittleEndian.AppendUint64(b, uint64(s.crc))
	}
	b = append(b, make([]byte, headerSize-4-len(b))...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crcTable))
}

// decodeHeader reads the header of a file and checks all that can be checked
// without reading more.
func decodeHeader(file []byte) (h header, err error) {
	if len(file) >= len(magic) && len(file) < headerSize && string(file[:len(magic)]) == magic {
		return h, fmt.Errorf("%w: the file ends before its content; copy or build it again", errDamaged)
	}
	if len(file) < headerSize || string(file[:8]) != magic {
		return h, fmt.Errorf("%w: it is not a graph file; make one with fossick graph", errFormat)
	}
	u32 := func(at int) int { return int(binary.LittleEndian.Uint32(file[at:])) }
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(file[at:]) }
	if v := u32(8); v != version {
		return h, fmt.Errorf("%w %d (this build reads %d); build the graph again", errFormat, v, version)
	}
	if uint32(u32(headerSize-4)) != crc32.Checksum(file[:headerSize-4], crcTable) {
		return h, fmt.Errorf("%w: the checksum of its header is wrong; build the file again", errDamaged)
	}
	h.window, h.chain, h.zeta = u32(12), u32(16), u32(20)
	h.nodes, h.edges, h.bits, h.hosts, h.sites = u64(24), u64(32), u64(40), u64(48), u64(56)
	for i := range h.sections {
		s := &h.sections[i]
		s.at, s.size, s.crc = u64(64+24*i), u64(72+24*i), uint32(u64(80+24*i))
		if s.at > uint64(len(file)) || s.size > uint64(len(file))-s.at {
			return h, fmt.Errorf("%w: the file ends before its content; copy or build it again", errDamaged)
		}
	}
	return h, h.check()
}

// check refuses a header that no writer writes.
func (h *header) check() error {
	stream := h.sections[sectionSuccessors].size
	switch {
	case h.window < 0 || h.window > maxWindow || h.chain < 0 || h.chain > maxChain || h.zeta < 1 || h.zeta > maxZeta,
		h.nodes > maxNodes,
		stream < padBytes || (h.bits+7)/8 != stream-padBytes,
		h.nodes > h.bits: // each node has one bit at least: this bounds what the rest may take
		return fmt.Errorf("%w: its header has impossible numbers; build the file again", errDamaged)
	}
	return nil
}

// Limits of a file. A node takes 32 bits, and the last number is kept for "none".
const (
	maxNodes  = 1<<32 - 1
	maxWindow = 32
	maxChain  = 32
	maxZeta   = 7
)
