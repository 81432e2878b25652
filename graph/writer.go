package graph

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"
	"path/filepath"
)

// Writer writes a graph file, node by node. Besides the file it takes about two
// bytes a node. Not safe for concurrent use.
type Writer struct {
	path    string
	file    *os.File // beside path, until it is whole
	out     *bufio.Writer
	err     error
	h       header
	enc     *encoder
	at      uint64 // bytes written
	crc     uint32 // of the section
	next    uint32 // the node whose successors come next
	lengths []byte // of each node's code in bits, as varints
	hosts   []byte // runs
	sites   []byte
}

// Create begins a graph of so many nodes. The file appears under its path only
// when Finish has made it whole; Close removes what there is before.
func Create(path string, nodes int) (*Writer, error) {
	return create(path, nodes, params{defaultWindow, defaultChain, defaultZeta})
}

func create(path string, nodes int, p params) (*Writer, error) {
	if nodes < 0 || nodes > maxNodes {
		return nil, fmt.Errorf("graph %s: %d nodes; this format holds at most %d", path, nodes, maxNodes)
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return nil, fmt.Errorf("graph %s: %w", path, err)
	}
	w := &Writer{path: path, file: f, out: bufio.NewWriterSize(f, 1<<20), enc: newEncoder(p)}
	w.h.params, w.h.nodes = p, uint64(nodes)
	w.write(make([]byte, headerSize)) // until it is known
	w.begin(sectionSuccessors)
	return w, nil
}

// Add gives the successors of the next node, growing and without repetition.
func (w *Writer) Add(successors []uint32) error {
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

// fail keeps an error of the caller.
func (w *Writer) fail(format string, args ...any) error {
	if w.err == nil {
		w.err = fmt.Errorf("graph %s: "+format, append([]any{w.path}, args...)...)
	}
	return w.err
}

// Belong says to which host and site nodes belong, from v on; numbers count from
// 0 without gaps, None is for no host. Nodes must come in their order.
func (w *Writer) Belong(v, host, site uint32) {
	w.hosts, w.sites = appendRun(w.hosts, v, host), appendRun(w.sites, v, site)
	if host != None {
		w.h.hosts = max(w.h.hosts, uint64(host)+1)
	}
	if site != None {
		w.h.sites = max(w.h.sites, uint64(site)+1)
	}
}

// Finish writes what is left: nodes that were not given have no successors. names
// yields the key of each node's name (see appendKey); nil when nodes have none.
func (w *Writer) Finish(names iter.Seq2[[]byte, error]) error {
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

func (w *Writer) eachLength(yield func(uint64) bool) {
	for b := w.lengths; len(b) > 0; {
		x, n := binary.Uvarint(b)
		if b = b[n:]; !yield(x) {
			return
		}
	}
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	if _, err := w.out.Write(b); err != nil {
		w.err = fmt.Errorf("graph %s: %w; free some space and build it again", w.path, err)
	}
	w.crc = crc32.Update(w.crc, crcTable, b)
	w.at += uint64(len(b))
}

func (w *Writer) begin(i int) {
	w.write(make([]byte, -w.at&7)) // at a whole word
	w.crc = 0
	w.h.sections[i].at = w.at
}

func (w *Writer) end(i int) {
	s := &w.h.sections[i]
	s.size, s.crc = w.at-s.at, w.crc
}

func (w *Writer) section(i int, b []byte) {
	w.begin(i)
	w.write(b)
	w.end(i)
}

// publish writes the header and gives the file its name.
func (w *Writer) publish() error {
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
	if err := w.file.Chmod(0o644); err != nil { // a temporary file is its owner's alone
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

// Close removes a file that was not finished; after Finish it does nothing.
func (w *Writer) Close() error {
	if w.file == nil {
		return nil
	}
	name := w.file.Name()
	err := errors.Join(w.file.Close(), os.Remove(name))
	w.file = nil
	return err
}

// Lists are the successors of all nodes, as algorithms ask for them.
type Lists interface {
	// Nodes returns the number of nodes.
	Nodes() int
	// Scan calls do with the successors of the nodes from, …, to−1, which are good
	// until the next call, and ends with its error.
	Scan(from, to int, do func(v uint32, successors []uint32) error) error
}

// eof makes io.EOF in the middle of something an error.
func eof(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
