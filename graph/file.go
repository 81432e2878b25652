package graph

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
)

var errFormat = errors.New("unknown format")

const (
	magic      = "FSKGRAPH"
	version    = 1
	headerSize = 256
)

// The sections of a file, in order.
const (
	sectionSuccessors = iota // bit stream, see encoder, and padBytes
	sectionOffsets           // see packOffsets
	sectionNames             // see frontCoder
	sectionBlocks            // start of each block of names, 64 bits each
	sectionHosts             // see Runs
	sectionSites
	sections
)

// padBytes of zeros after the bit stream allow reading whole words.
const padBytes = 8

var crcTable = crc32.MakeTable(crc32.Castagnoli)

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

// decodeHeader reads the header and validates it as far as possible without reading further.
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

func (h *header) check() error {
	stream := h.sections[sectionSuccessors].size
	switch {
	case h.window < 0 || h.window > maxWindow || h.chain < 0 || h.chain > maxChain || h.zeta < 1 || h.zeta > maxZeta,
		h.nodes > maxNodes,
		stream < padBytes || (h.bits+7)/8 != stream-padBytes,
		h.nodes > h.bits: // each node has at least one bit, which bounds all sizes
		return fmt.Errorf("%w: its header has impossible numbers; build the file again", errDamaged)
	}
	return nil
}

// Limits of a file. The last node number is None.
const (
	maxNodes  = 1<<32 - 1
	maxWindow = 32
	maxChain  = 32
	maxZeta   = 7
)

// fileWriter writes a graph file node by node, with about two bytes of memory per node. Not safe for concurrent
// use.
type fileWriter struct {
	path    string
	file    *os.File // temporary file beside path
	out     *bufio.Writer
	err     error
	h       header
	enc     *encoder
	at      uint64 // bytes written
	crc     uint32 // of the section
	next    uint32 // next node to add
	lengths []byte // code length of each node in bits, as varints
	hosts   []byte // see Runs
	sites   []byte
}

// createFile begins a graph with a number of nodes. Finish puts the file at path; Close before that removes it.
func createFile(path string, nodes int) (*fileWriter, error) {
	return create(path, nodes, params{defaultWindow, defaultChain, defaultZeta})
}

func create(path string, nodes int, p params) (*fileWriter, error) {
	if nodes < 0 || nodes > maxNodes {
		return nil, fmt.Errorf("graph %s: %d nodes; this format holds at most %d", path, nodes, maxNodes)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return nil, fmt.Errorf("graph %s: %w", path, err)
	}
	w := &fileWriter{path: path, file: f, out: bufio.NewWriterSize(f, 1<<20), enc: &encoder{params: p, ring: make([][]uint32, p.window+1), depth: make([]int, p.window+1), lens: newCodeLens(p.zeta)}}
	w.h.params, w.h.nodes = p, uint64(nodes)
	w.write(make([]byte, headerSize)) // placeholder for the header
	w.begin(sectionSuccessors)
	return w, nil
}

// Add writes the successors of the next node, strictly increasing.
func (w *fileWriter) Add(successors []uint32) error {
	v := w.next
	if uint64(v) >= w.h.nodes {
		return w.fail("successors of node %d, of %d nodes", v, w.h.nodes)
	}
	for i, s := range successors {
		if uint64(s) >= w.h.nodes || i > 0 && s <= successors[i-1] {
			return w.fail("node %d: successor %d does not follow the one before, or is not one of %d nodes", v, s, w.h.nodes)
		}
	}
	before := w.enc.w.pos()
	w.enc.add(v, successors)
	w.lengths = binary.AppendUvarint(w.lengths, w.enc.w.pos()-before)
	w.h.edges += uint64(len(successors))
	w.next++
	if len(w.enc.w.buf) >= 1<<16 {
		w.write(w.enc.w.take())
	}
	return w.err
}

func (w *fileWriter) fail(format string, args ...any) error {
	if w.err == nil {
		w.err = fmt.Errorf("graph %s: "+format, append([]any{w.path}, args...)...)
	}
	return w.err
}

// belong sets the host and site of the nodes from v on; v must increase. Numbers start at 0 without gaps;
// None means no host.
func (w *fileWriter) belong(v, host, site uint32) {
	w.hosts, w.sites = appendRun(w.hosts, v, host), appendRun(w.sites, v, site)
	if host != None {
		w.h.hosts = max(w.h.hosts, uint64(host)+1)
	}
	if site != None {
		w.h.sites = max(w.h.sites, uint64(site)+1)
	}
}

// Finish completes the file; nodes without Add have no successors. names yields the key of each node (see
// appendKey), or is nil for nodes without names.
func (w *fileWriter) Finish(names iter.Seq2[[]byte, error]) error {
	for uint64(w.next) < w.h.nodes && w.err == nil {
		w.err = w.Add(nil)
	}
	w.h.bits = w.enc.w.pos()
	w.enc.w.flush()
	w.write(w.enc.w.take())
	w.write(make([]byte, padBytes))
	w.end(sectionSuccessors)
	w.section(sectionOffsets, packOffsets(w.h.nodes, w.h.bits, w.eachLength))
	w.begin(sectionNames)
	var blocks []byte
	if names != nil {
		blocks = w.writeNames(names)
	}
	w.end(sectionNames)
	w.section(sectionBlocks, blocks)
	w.section(sectionHosts, w.hosts)
	w.section(sectionSites, w.sites)
	return w.publish()
}

func (w *fileWriter) eachLength(yield func(uint64) bool) {
	for b := w.lengths; len(b) > 0; {
		x, n := binary.Uvarint(b)
		if b = b[n:]; !yield(x) {
			return
		}
	}
}

func (w *fileWriter) write(b []byte) {
	if w.err != nil {
		return
	}
	if _, err := w.out.Write(b); err != nil {
		w.err = fmt.Errorf("graph %s: %w; free some space and build it again", w.path, err)
	}
	w.crc = crc32.Update(w.crc, crcTable, b)
	w.at += uint64(len(b))
}

func (w *fileWriter) begin(i int) {
	w.write(make([]byte, -w.at&7)) // align to 8 bytes
	w.crc = 0
	w.h.sections[i].at = w.at
}

func (w *fileWriter) end(i int) {
	s := &w.h.sections[i]
	s.size, s.crc = w.at-s.at, w.crc
}

func (w *fileWriter) section(i int, b []byte) {
	w.begin(i)
	w.write(b)
	w.end(i)
}

func (w *fileWriter) publish() error {
	if w.err == nil {
		w.err = w.out.Flush()
	}
	if w.err == nil {
		_, w.err = w.file.WriteAt(w.h.encode(), 0)
	}
	if w.err == nil {
		w.err = w.file.Sync()
	}
	if w.err != nil {
		return errors.Join(w.err, w.Close())
	}
	if err := w.file.Chmod(0o644); err != nil { // temporary files are readable by the owner only
		return errors.Join(err, w.Close())
	}
	name := w.file.Name()
	if err := w.file.Close(); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	w.file = nil
	if err := os.Rename(name, w.path); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// Close removes an unfinished file; after Finish it does nothing.
func (w *fileWriter) Close() error {
	if w.file == nil {
		return nil
	}
	name := w.file.Name()
	err := errors.Join(w.file.Close(), os.Remove(name))
	w.file = nil
	return err
}

// Lists gives access to the successors of all nodes.
type Lists interface {
	Nodes() int
	// Scan calls do with the successors of nodes from … to−1, valid until the next call. It stops at do's
	// first error and returns it.
	Scan(from, to int, do func(v uint32, successors []uint32) error) error
}

func eof(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Names are stored as sorted keys in blocks of nameBlock. A block's first key is length (varint) and bytes;
// each other key is the shared prefix length, the length of the rest, and the rest.
const (
	nameBlock    = 16
	maxNameBytes = 1 << 16 // of a key
)

type frontCoder struct {
	last []byte
	n    int
}

// append appends the code of the next key; first reports whether it begins a block.
func (c *frontCoder) append(dst, key []byte) (out []byte, first bool) {
	first = c.n%nameBlock == 0
	c.n++
	shared := 0
	if !first {
		for shared < len(key) && shared < len(c.last) && key[shared] == c.last[shared] {
			shared++
		}
		dst = binary.AppendUvarint(dst, uint64(shared))
	}
	c.last = append(c.last[:0], key...)
	dst = binary.AppendUvarint(dst, uint64(len(key)-shared))
	return append(dst, key[shared:]...), first
}

func (w *fileWriter) writeNames(keys iter.Seq2[[]byte, error]) (blocks []byte) {
	var c frontCoder
	var buf []byte
	begin := w.at
	for key, err := range keys {
		if err != nil {
			w.err = err
			return nil
		}
		at := w.at
		var first bool
		buf, first = c.append(buf[:0], key)
		if first {
			blocks = binary.LittleEndian.AppendUint64(blocks, at-begin)
		}
		if w.write(buf); w.err != nil {
			return nil
		}
	}
	if uint64(c.n) != w.h.nodes {
		w.err = fmt.Errorf("graph %s: %d names for %d nodes", w.path, c.n, w.h.nodes)
	}
	return blocks
}

type names struct {
	data, blocks []byte
	n            uint64 // 0: nodes have no names but their numbers
}

func openNames(data, blocks []byte, nodes uint64) (names, bool) {
	if len(blocks) == 0 {
		return names{}, len(data) == 0
	}
	return names{data, blocks, nodes}, uint64(len(blocks)) == (nodes+nameBlock-1)/nameBlock*8
}

// key returns the key of node v in buf, or false if the section is damaged.
func (s *names) key(buf []byte, v uint64) ([]byte, bool) {
	at := binary.LittleEndian.Uint64(s.blocks[v/nameBlock*8:])
	if at > uint64(len(s.data)) {
		return nil, false
	}
	data, buf := s.data[at:], buf[:0]
	for i := uint64(0); ; i++ {
		shared := uint64(0)
		if i > 0 {
			x, n := binary.Uvarint(data)
			if n <= 0 || x > uint64(len(buf)) {
				return nil, false
			}
			shared, data = x, data[n:]
		}
		size, n := binary.Uvarint(data)
		if n <= 0 || size > uint64(len(data)-n) || size > math.MaxInt32 {
			return nil, false
		}
		buf = append(buf[:shared], data[n:n+int(size)]...)
		data = data[n+int(size):]
		if i == v%nameBlock {
			return buf, true
		}
	}
}

// Name returns the name of node v: its URL, or its name in the edge list.
func (g *Graph) Name(v uint32) (string, error) {
	if g.names.n == 0 {
		return strconv.FormatUint(uint64(v), 10), nil
	}
	if uint64(v) < g.names.n {
		if key, ok := g.names.key(nil, uint64(v)); ok {
			if name, ok := nameOfKey(key); ok {
				return name, nil
			}
		}
	}
	return "", fmt.Errorf("graph %s: %w: node %d has no readable name; build the file again", g.path, errDamaged, v)
}

// Node returns the first node with a name. O(log nodes).
func (g *Graph) Node(name string) (v uint32, ok bool, err error) {
	if g.names.n == 0 {
		x, err := strconv.ParseUint(name, 10, 32)
		return uint32(x), err == nil && x < g.h.nodes, nil
	}
	want := appendKey(nil, []byte(name))
	var key []byte
	i := sort.Search(int(g.names.n), func(i int) bool {
		var sound bool
		if key, sound = g.names.key(key, uint64(i)); !sound {
			err = fmt.Errorf("graph %s: %w: the name of node %d cannot be read; build the file again", g.path, errDamaged, i)
			return true
		}
		return bytes.Compare(key, want) >= 0
	})
	if err != nil || i == int(g.names.n) {
		return 0, false, err
	}
	key, _ = g.names.key(key, uint64(i))
	return uint32(i), bytes.Equal(key, want), nil
}

// None is the host and site of a node whose name is not a URL.
const None = 1<<32 - 1

// Runs maps nodes to hosts or sites. It stores runs of consecutive nodes: first node and number, 32 bits
// each.
type Runs struct {
	raw []byte
	n   int // number of hosts or sites, without None
}

func appendRun(raw []byte, v, number uint32) []byte {
	if n := len(raw); n > 0 && binary.LittleEndian.Uint32(raw[n-4:]) == number {
		return raw
	}
	raw = binary.LittleEndian.AppendUint32(raw, v)
	return binary.LittleEndian.AppendUint32(raw, number)
}

func openRuns(raw []byte, nodes, n uint64) (Runs, bool) {
	if len(raw)%8 != 0 || n > uint64(len(raw)/8) {
		return Runs{}, false
	}
	r := Runs{raw, int(n)}
	for i := range r.len() {
		first, number := r.run(i)
		before := uint32(0)
		if i > 0 {
			before, _ = r.run(i - 1)
		}
		if i == 0 && first != 0 || i > 0 && first <= before || uint64(first) >= nodes ||
			number != None && uint64(number) >= n {
			return Runs{}, false
		}
	}
	return r, true
}

func (r Runs) Count() int { return r.n }

func (r Runs) len() int { return len(r.raw) / 8 }

func (r Runs) run(i int) (first, number uint32) {
	return binary.LittleEndian.Uint32(r.raw[8*i:]), binary.LittleEndian.Uint32(r.raw[8*i+4:])
}

// Array returns the number of each node; 4 bytes per node.
func (r Runs) Array(nodes int) []uint32 {
	all := make([]uint32, nodes)
	number, next := uint32(None), 0
	for v := range all {
		for next < r.len() {
			first, n := r.run(next)
			if int(first) > v {
				break
			}
			number = n
			next++
		}
		all[v] = number
	}
	return all
}
