package frontier

import (
	"bufio"
	"fmt"
)

// run is the part that was not read yet of a sorted sequence of entries in a
// file.
type run struct {
	file *file
	at   int64 // of the next block in the file
	left int   // entries from there on
	per  int   // entries a block; the last one may have fewer

	// bound is before or equal to all that is left: the run's first entry, then
	// the last one read.
	bound entry

	block []entry // read last; only while the run is in a merge
	taken int     // of block
	place int     // in the merge
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
		err = fmt.Errorf("%w: %d records, want %d", ErrDamaged, len(dst)-had, n)
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

// runWriter writes runs one after the other: begin, add…, end.
type runWriter struct {
	file  *file
	out   *bufio.Writer
	at    int64
	run   *run
	block []entry
	runs  []*run
}

// begin starts a run with so many entries a block.
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

// end returns the run that was begun, nil when it is empty.
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

// merge gives the entries of many runs in order of rank.
type merge struct{ runs heap[*run] }

func newMerge() *merge {
	return &merge{heap[*run]{
		less:  func(a, b *run) bool { return a.block[a.taken].before(&b.block[b.taken]) },
		place: func(r *run) *int { return &r.place },
	}}
}

// add takes a run in, from where it is read to.
func (m *merge) add(r *run) error {
	if ok, err := r.advance(); !ok {
		return err
	}
	m.runs.push(r)
	return nil
}

// top returns the best entry of all, nil when there is none.
func (m *merge) top() *entry {
	if m.runs.len() == 0 {
		return nil
	}
	r := m.runs.top()
	return &r.block[r.taken]
}

// pop takes the best entry.
func (m *merge) pop() (entry, error) {
	r := m.runs.top()
	e := r.block[r.taken]
	r.taken++
	ok, err := r.advance()
	if ok {
		m.runs.fix(r)
	} else {
		m.runs.remove(r)
	}
	return e, err
}

// advance reads a block when there is none to take from; false at the end.
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

// drain calls f with every entry that was not taken yet.
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

// unread returns how many entries were not taken yet.
func (r *run) unread() int { return r.left + len(r.block) - r.taken }
