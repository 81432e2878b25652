package frontier

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"fossick/internal/heap"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
)

// run is the unread part of a sorted sequence of entries in a file.
type run struct {
	file *file
	at   int64 // of the next block in the file
	left int   // entries from there on
	per  int   // entries per block; the last may have fewer

	// bound ranks no later than the remaining entries: the run's first entry, then the last
	// one read.
	bound entry

	block []entry // the last block read, while the run is in a merge
	taken int     // of block
	place int32   // in the merge
}

// read appends the next block to dst and frees the file after the last one.
func (r *run) read(dst []entry) ([]entry, error) {
	n := min(r.per, r.left)
	s := r.file.scratch
	if size := blockBytes(n); cap(s.buf) < size {
		s.buf = make([]byte, size)
	}
	buf := s.buf[:blockBytes(n)]
	if _, err := r.file.ReadAt(buf, r.at); err != nil {
		return dst, fmt.Errorf("frontier %s, offset %d: %w", r.file.Name(), r.at, err)
	}
	had := len(dst)
	dst, err := parseBlock(dst, buf)
	if err == nil && len(dst)-had != n {
		err = fmt.Errorf("%w: %d records, want %d", errDamaged, len(dst)-had, n)
	}
	if err != nil {
		return dst, fmt.Errorf("frontier %s, offset %d: %w; resume the crawl, which makes the file again", r.file.Name(), r.at, err)
	}
	r.at += int64(len(buf))
	r.left -= n
	r.bound = dst[len(dst)-1]
	if r.left == 0 {
		return dst, r.file.release()
	}
	return dst, nil
}

// runWriter writes runs one after another: begin, add…, end.
type runWriter struct {
	file  *file
	out   *bufio.Writer
	at    int64
	run   *run
	block []entry
	runs  []*run
}

// begin starts a run with per entries a block.
func (w *runWriter) begin(per int) {
	w.run = &run{file: w.file, at: w.at, per: per}
}

func (w *runWriter) add(e entry) error {
	if w.run.left == 0 {
		w.run.bound = e
	}
	w.run.left++
	w.block = append(w.block, e)
	if len(w.block) < w.run.per {
		return nil
	}
	return w.flush()
}

// end returns the run; nil when it is empty.
func (w *runWriter) end() (*run, error) {
	r := w.run
	if r.left == 0 {
		return nil, nil
	}
	w.runs = append(w.runs, r)
	return r, w.flush()
}

func (w *runWriter) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	s := w.file.scratch
	s.buf = appendBlock(s.buf[:0], w.block)
	w.block = w.block[:0]
	n, err := w.out.Write(s.buf)
	w.at += int64(n)
	return err
}

// merge yields the entries of many runs in order of rank.
type merge struct{ runs heap.Heap[*run] }

func newMerge() *merge {
	return &merge{heap.Heap[*run]{
		Before: func(a, b *run) bool { return a.block[a.taken].before(&b.block[b.taken]) },
		Place:  func(r *run) *int32 { return &r.place },
	}}
}

// add adds the unread part of a run.
func (m *merge) add(r *run) error {
	if ok, err := r.advance(); !ok {
		return err
	}
	m.runs.Push(r)
	return nil
}

func (m *merge) top() *entry {
	if m.runs.Len() == 0 {
		return nil
	}
	r := m.runs.Top()
	return &r.block[r.taken]
}

func (m *merge) pop() (entry, error) {
	r := m.runs.Top()
	e := r.block[r.taken]
	r.taken++
	ok, err := r.advance()
	if ok {
		m.runs.Fix(r)
	} else {
		m.runs.Remove(r)
	}
	return e, err
}

// advance reads the next block when the present one is used up; false at the end.
func (r *run) advance() (ok bool, err error) {
	if r.taken < len(r.block) {
		return true, nil
	}
	if r.left == 0 {
		r.block = nil
		return false, nil
	}
	if r.block == nil {
		r.block = make([]entry, 0, min(r.per, r.left))
	}
	r.taken = 0
	r.block, err = r.read(r.block[:0])
	return err == nil, err
}

// drain calls f with every remaining entry.
func (r *run) drain(f func(entry) error) error {
	for {
		ok, err := r.advance()
		if !ok {
			return err
		}
		for ; r.taken < len(r.block); r.taken++ {
			if err := f(r.block[r.taken]); err != nil {
				return err
			}
		}
	}
}

// unread returns the number of remaining entries.
func (r *run) unread() int { return r.left + len(r.block) - r.taken }

// ErrDamaged reports a scratch block that differs from the block written.
var errDamaged = errors.New("damaged block")

// A block is a count, a checksum and the records (docs/frontier.md).
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

// parseBlock appends the entries of a block to dst. data must be exactly that block.
func parseBlock(dst []entry, data []byte) ([]entry, error) {
	if len(data) < headerBytes {
		return dst, fmt.Errorf("%w: %d bytes, want at least %d", errDamaged, len(data), headerBytes)
	}
	count, sum := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
	records := data[headerBytes:]
	if uint64(len(records)) != uint64(count)*recordBytes {
		return dst, fmt.Errorf("%w: %d bytes of records, want %d of %d", errDamaged, len(records), count, recordBytes)
	}
	if got := crc32.Checksum(records, castagnoli); got != sum {
		return dst, fmt.Errorf("%w: checksum %08x, want %08x", errDamaged, got, sum)
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

// scratch is the folder of the overflow files.
type scratch struct {
	dir     string // "" when there is none
	pattern string // prefix of the names
	made    bool
	next    int // number of the next file

	maxFiles int
	maxRuns  int
	maxWaste int64 // useless bytes that are always tolerated

	files map[*file]struct{}
	bytes int64 // of all files
	runs  int   // not read to the end
	buf   []byte
}

func newScratch(dir, pattern string) scratch {
	return scratch{
		dir: dir, pattern: pattern, files: map[*file]struct{}{},
		maxFiles: 256, maxRuns: 1 << 19, maxWaste: 64 << 20, // a run takes about 110 bytes of memory
	}
}

// file holds the runs of one spill; it is removed when no run needs it.
type file struct {
	*os.File
	scratch *scratch
	number  int
	bytes   int64
	runs    int
}

func (s *scratch) clear() error {
	if s.dir == "" {
		return nil
	}
	left, err := filepath.Glob(filepath.Join(s.dir, s.pattern+"*"))
	if err != nil {
		return fmt.Errorf("frontier %s: %w", s.dir, err)
	}
	for _, name := range left {
		if err := os.Remove(name); err != nil {
			return fmt.Errorf("frontier: a file left by an earlier crawl: %w; remove it", err)
		}
	}
	return nil
}

// write makes a file of the runs that fill writes, and returns them.
func (s *scratch) write(fill func(w *runWriter) error) (runs []*run, err error) {
	if !s.made {
		if err := os.MkdirAll(s.dir, 0o755); err != nil {
			return nil, fmt.Errorf("frontier: %w", err)
		}
		s.made = true
	}
	s.next++
	name := filepath.Join(s.dir, fmt.Sprintf("%s%06d", s.pattern, s.next))
	opened, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("frontier: %w", err)
	}
	f := &file{File: opened, scratch: s, number: s.next}
	s.files[f] = struct{}{}
	w := &runWriter{file: f, out: bufio.NewWriterSize(opened, 128<<10)}
	if err := errors.Join(fill(w), w.out.Flush()); err != nil {
		return nil, fmt.Errorf("frontier: %w; make room on the disk and resume", errors.Join(err, f.remove()))
	}
	f.bytes, f.runs = w.at, len(w.runs)
	s.bytes += f.bytes
	s.runs += f.runs
	if f.runs == 0 {
		return nil, f.remove()
	}
	return w.runs, nil
}

// release records that a run is read or no longer needed.
func (f *file) release() error {
	f.scratch.runs--
	if f.runs--; f.runs > 0 {
		return nil
	}
	f.scratch.bytes -= f.bytes
	return f.remove()
}

func (f *file) remove() error {
	delete(f.scratch.files, f)
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return fmt.Errorf("frontier: %w", err)
	}
	return nil
}

// crowded reports whether files or runs are too many, or hold mostly used entries. live is the
// number of entries that still count.
func (s *scratch) crowded(live int) bool {
	return len(s.files) > s.maxFiles || s.runs > s.maxRuns || s.bytes > 4*recordBytes*int64(live)+s.maxWaste
}

// close removes all files.
func (s *scratch) close() error {
	var all error
	for f := range s.files {
		all = errors.Join(all, f.remove())
	}
	if s.made {
		_ = os.Remove(s.dir) // another process's file keeps the folder
	}
	return all
}
