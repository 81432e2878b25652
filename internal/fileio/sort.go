package fileio

import (
	"bufio"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// SortOptions of a sorter; only Dir, Sort and Unique may be left out.
type SortOptions[T any] struct {
	Dir     string // folder of the scratch file [the system's]
	Limit   int    // most items in memory
	Compare func(a, b T) int
	// Sort sorts items by Compare, if there is a faster way than slices.SortFunc.
	Sort func(items []T)
	// Append encodes x after the item before, which is zero at the start of a run.
	Append func(dst []byte, before, x T) []byte
	// Read inverts Append.
	Read func(r *bufio.Reader, before T) (T, error)
	// Unique drops items equal to another; Repeated counts them.
	Unique bool
}

// Sorter sorts more items than fit into memory: it writes sorted runs to a scratch file and merges
// them. It is not safe for concurrent use.
type Sorter[T any] struct {
	opt      SortOptions[T]
	items    []T // in memory
	file     *os.File
	size     int64
	runs     []*io.SectionReader
	repeated int64
}

// NewSorter returns a sorter, which must be closed.
func NewSorter[T any](opt SortOptions[T]) *Sorter[T] {
	if opt.Sort == nil {
		opt.Sort = func(items []T) { slices.SortFunc(items, opt.Compare) }
	}
	return &Sorter[T]{opt: opt}
}

func (s *Sorter[T]) Limit() int { return s.opt.Limit }

// Repeated returns the number of items dropped so far.
func (s *Sorter[T]) Repeated() int64 { return s.repeated }

func (s *Sorter[T]) Add(x T) error {
	if len(s.items) >= s.opt.Limit {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.items = append(s.items, x)
	return nil
}

// AddAll takes ownership of at most Limit items.
func (s *Sorter[T]) AddAll(items []T) error {
	if len(s.items) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.items = items
	return nil
}

func (s *Sorter[T]) sort() {
	s.opt.Sort(s.items)
	if !s.opt.Unique {
		return
	}
	n := len(s.items)
	s.items = slices.CompactFunc(s.items, func(a, b T) bool { return s.opt.Compare(a, b) == 0 })
	s.repeated += int64(n - len(s.items))
}

// spill writes the items in memory as a run.
func (s *Sorter[T]) spill() (err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.opt.Dir, "fossick-sort-*"); err != nil {
			return fmt.Errorf("sorting: %w", err)
		}
	}
	s.sort()
	w := bufio.NewWriterSize(s.file, 1<<18)
	var buf []byte
	var before T
	size := int64(0)
	for _, x := range s.items {
		buf = s.opt.Append(buf[:0], before, x)
		before = x
		size += int64(len(buf))
		if _, err := w.Write(buf); err != nil {
			break // Flush returns the error
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("sorting: %w; free some space in the folder of %s", err, s.file.Name())
	}
	s.runs = append(s.runs, io.NewSectionReader(s.file, s.size, size))
	s.size += size
	s.items = s.items[:0]
	return nil
}

// Each calls do with all items in order, and returns its error. It can be called again, but nothing
// can be added afterwards.
func (s *Sorter[T]) Each(ctx context.Context, do func(x T) error) error {
	if len(s.runs) == 0 {
		s.sort()
		for i, x := range s.items {
			if err := ended(ctx, i); err != nil {
				return err
			}
			if err := do(x); err != nil {
				return err
			}
		}
		return nil
	}
	if len(s.items) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.items = nil // not needed by the merge
	var runs []*sortedRun[T]
	for _, r := range s.runs {
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("merging: %w", err)
		}
		runs = append(runs, &sortedRun[T]{opt: &s.opt, r: bufio.NewReaderSize(r, 1<<18)})
	}
	var last T
	any := false
	return Merge(ctx, runs, func(a, b *sortedRun[T]) bool { return s.opt.Compare(a.item, b.item) < 0 }, func(r *sortedRun[T]) error {
		if s.opt.Unique && any && s.opt.Compare(r.item, last) == 0 {
			s.repeated++
			return nil
		}
		last, any = r.item, true
		return do(r.item)
	})
}

// Close removes the scratch file.
func (s *Sorter[T]) Close() error {
	s.items, s.runs = nil, nil
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.file.Close(), os.Remove(s.file.Name()))
	s.file = nil
	return err
}

type sortedRun[T any] struct {
	opt  *SortOptions[T]
	r    *bufio.Reader
	item T
}

func (r *sortedRun[T]) Next() (more bool, err error) {
	if _, err := r.r.Peek(1); err == io.EOF {
		return false, nil
	}
	if r.item, err = r.opt.Read(r.r, r.item); err != nil {
		return false, fmt.Errorf("merging: %w", err)
	}
	return true, nil
}

// Cursor iterates over a sorted run.
type Cursor interface {
	// Next moves to the next item; false if there is none.
	Next() (more bool, err error)
}

// Merge merges runs: it calls do with the run whose current item is next, and returns its error.
func Merge[C Cursor](ctx context.Context, runs []C, before func(a, b C) bool, do func(r C) error) error {
	h := &merging[C]{before: before}
	for _, r := range runs {
		more, err := r.Next()
		if err != nil {
			return err
		}
		if more {
			h.runs = append(h.runs, r)
		}
	}
	heap.Init(h)
	for n := 0; len(h.runs) > 0; n++ {
		if err := ended(ctx, n); err != nil {
			return err
		}
		r := h.runs[0]
		if err := do(r); err != nil {
			return err
		}
		more, err := r.Next()
		if err != nil {
			return err
		}
		if more {
			heap.Fix(h, 0)
		} else {
			heap.Pop(h)
		}
	}
	return nil
}

func ended(ctx context.Context, n int) error {
	if n%(1<<14) == 0 {
		return ctx.Err()
	}
	return nil
}

type merging[C any] struct {
	runs   []C
	before func(a, b C) bool
}

func (h *merging[C]) Len() int           { return len(h.runs) }
func (h *merging[C]) Less(i, j int) bool { return h.before(h.runs[i], h.runs[j]) }
func (h *merging[C]) Swap(i, j int)      { h.runs[i], h.runs[j] = h.runs[j], h.runs[i] }
func (h *merging[C]) Push(x any)         { h.runs = append(h.runs, x.(C)) }
func (h *merging[C]) Pop() any {
	last := h.runs[len(h.runs)-1]
	h.runs = h.runs[:len(h.runs)-1]
	return last
}
