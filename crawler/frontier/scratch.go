package frontier

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// scratch is the folder of the files that memory overflows into.
type scratch struct {
	dir     string // "" when there is none
	pattern string // names begin with it
	made    bool
	next    int // number of the next file

	maxFiles int
	maxRuns  int
	maxWaste int64 // bytes that may be of no use whatever the share

	files map[*file]struct{}
	bytes int64 // of all files
	runs  int   // in them, not read to the end
	buf   []byte
}

func newScratch(dir, pattern string) scratch {
	return scratch{
		dir: dir, pattern: pattern, files: map[*file]struct{}{},
		maxFiles: 256, maxRuns: 1 << 19, maxWaste: 64 << 20, // a run has some 110 bytes in memory
	}
}

// file holds the runs of one spill; it is removed when no run needs it.
type file struct {
	*os.File
	scratch *scratch
	number  int // they rise
	bytes   int64
	runs    int
}

// clear removes what an earlier process left in the folder.
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

// release takes note that a run is read to its end, or not needed any more.
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

// crowded says whether files or runs are many, or hold mostly what was read already.
// live is the number of entries that they are there for.
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
		_ = os.Remove(s.dir) // another's file in it keeps it
	}
	return all
}
