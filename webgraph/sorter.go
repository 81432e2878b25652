package webgraph

import (
	"bufio"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
)

// sorter sorts more edges than memory has room for. An edge is a 64-bit key,
// source << 32 | target; equal ones are dropped and counted. Runs of limit keys
// are sorted in memory and written as gaps in varints, then merged.
type sorter struct {
	dir      string
	limit    int
	keys     []uint64
	spare    []uint64 // for the radix sort
	runs     []*os.File
	repeated int64
}

func newSorter(dir string, memory int) *sorter {
	return &sorter{dir: dir, limit: max(1024, memory/16)}
}

func (s *sorter) empty() bool { return len(s.keys) == 0 && len(s.runs) == 0 }

func (s *sorter) add(key uint64) error {
	if len(s.keys) >= s.limit {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.keys = append(s.keys, key)
	return nil
}

// sort sorts what is in memory and drops what repeats.
func (s *sorter) sort() {
	if cap(s.spare) < len(s.keys) {
		s.spare = make([]uint64, cap(s.keys))
	}
	s.keys, s.spare = radixSort(s.keys, s.spare[:len(s.keys)])
	s.spare = s.spare[:0]
	unique := s.keys[:0]
	for i, k := range s.keys {
		if i > 0 && k == unique[len(unique)-1] {
			s.repeated++
			continue
		}
		unique = append(unique, k)
	}
	s.keys = unique
}

// spill writes a run.
func (s *sorter) spill() error {
	s.sort()
	f, err := os.CreateTemp(s.dir, "edges-")
	if err != nil {
		return fmt.Errorf("sorting edges: %w", err)
	}
	s.runs = append(s.runs, f)
	w := bufio.NewWriterSize(f, 1<<18)
	var buf []byte
	last := uint64(0)
	for _, k := range s.keys {
		buf = binary.AppendUvarint(buf[:0], k-last)
		last = k
		if _, err := w.Write(buf); err != nil {
			break // Flush gives it again
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("sorting edges: %w; free some space in %s", err, s.dir)
	}
	s.keys = s.keys[:0]
	return nil
}

// each calls do with every edge once, in order, and ends with its error.
func (s *sorter) each(ctx context.Context, do func(key uint64) error) error {
	if len(s.runs) == 0 {
		s.sort()
		return eachKey(ctx, s.keys, do)
	}
	if len(s.keys) > 0 {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.keys, s.spare = nil, nil // the merge needs none of it
	var m keyHeap
	for _, f := range s.runs {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("merging edges: %w", err)
		}
		r := &keyRun{r: bufio.NewReaderSize(f, 1<<18)}
		if more, err := r.next(); err != nil {
			return err
		} else if more {
			m = append(m, r)
		}
	}
	heap.Init(&m)
	return s.merge(ctx, m, do)
}

func (s *sorter) merge(ctx context.Context, m keyHeap, do func(key uint64) error) error {
	last, any := uint64(0), false
	for n := 0; len(m) > 0; n++ {
		if n%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r := m[0]
		key := r.key
		more, err := r.next()
		if err != nil {
			return err
		}
		if more {
			heap.Fix(&m, 0)
		} else {
			heap.Pop(&m)
		}
		if any && key == last {
			s.repeated++
			continue
		}
		last, any = key, true
		if err := do(key); err != nil {
			return err
		}
	}
	return nil
}

func eachKey(ctx context.Context, keys []uint64, do func(key uint64) error) error {
	for i, k := range keys {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := do(k); err != nil {
			return err
		}
	}
	return nil
}

// close removes the runs.
func (s *sorter) close() (err error) {
	for _, f := range s.runs {
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	s.runs, s.keys, s.spare = nil, nil, nil
	return err
}

// keyRun is a run that is being merged.
type keyRun struct {
	r   *bufio.Reader
	key uint64
}

func (r *keyRun) next() (more bool, err error) {
	gap, err := binary.ReadUvarint(r.r)
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("merging edges: %w", err)
	}
	r.key += gap
	return true, nil
}

type keyHeap []*keyRun

func (h keyHeap) Len() int           { return len(h) }
func (h keyHeap) Less(i, j int) bool { return h[i].key < h[j].key }
func (h keyHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *keyHeap) Push(x any)        { *h = append(*h, x.(*keyRun)) }
func (h *keyHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// radixSort sorts keys with the help of as much spare memory, digit by digit from
// the lowest; digits that are equal in all keys are passed over. It returns the
// sorted slice, which is one of the two, and the other.
func radixSort(keys, spare []uint64) (sorted, rest []uint64) {
	const digit = 11
	differ, inOrder := uint64(0), true
	for i, k := range keys {
		differ |= k ^ keys[0]
		inOrder = inOrder && (i == 0 || keys[i-1] <= k)
	}
	if inOrder {
		return keys, spare
	}
	for differ != 0 {
		shift := bits.TrailingZeros64(differ)
		var place [1 << digit]int
		for _, k := range keys {
			place[k>>shift&(1<<digit-1)]++
		}
		at := 0
		for i, n := range place {
			place[i] = at
			at += n
		}
		for _, k := range keys {
			d := k >> shift & (1<<digit - 1)
			spare[place[d]] = k
			place[d]++
		}
		keys, spare = spare, keys
		differ &^= (1<<digit - 1) << shift
	}
	return keys, spare
}
