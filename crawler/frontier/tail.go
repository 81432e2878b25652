package frontier

import (
	"cmp"
	"math"
	"slices"
)

// tail gives entries in order of rank. What comes in stands in a heap. When
// that is full its worse half becomes a sorted run on disk (a sequence heap,
// after Sanders, Fast Priority Queues for Cached Memory, 2000).
type tail struct {
	scratch scratch
	limit   int // entries in the buffer
	buffer  entryHeap
	merge   *merge
	onDisk  int // entries in runs
	block   int // entries a block
	maxRuns int
	moves   int  // times that the buffer was sorted
	hold    bool // runs are not to be merged now
}

const (
	tailBlock = 512 // entries
	// maxRuns bounds the blocks in memory: 256 of 16 KiB. With the buffer's
	// default of 262,144 entries, 33 million fit before runs are merged, which
	// nothing else can happen beside.
	maxRuns = 256
)

// memoryOnly is the limit of a frontier without a folder.
const memoryOnly = math.MaxInt

func (t *tail) len() int { return len(t.buffer) + t.onDisk }

// top returns the best entry, nil when there is none. It is valid until the next
// call.
func (t *tail) top() *entry {
	best := t.merge.top()
	if len(t.buffer) > 0 && (best == nil || t.buffer[0].before(best)) {
		best = &t.buffer[0]
	}
	return best
}

// pop takes the best entry; there must be one.
func (t *tail) pop() (entry, error) {
	onDisk := t.merge.top()
	if onDisk == nil || len(t.buffer) > 0 && t.buffer[0].before(onDisk) {
		return t.buffer.pop(), nil
	}
	t.onDisk--
	return t.merge.pop()
}

// push takes an entry in. current says which entries are worth keeping.
func (t *tail) push(e entry, current func(*entry) bool) error {
	t.buffer.push(e)
	if len(t.buffer) < t.limit {
		return nil
	}
	return t.spill(current)
}

// spill makes room in the buffer: first by what is not current any more, then by
// a run.
func (t *tail) spill(current func(*entry) bool) error {
	t.moves++
	t.buffer.filter(current)
	if len(t.buffer) < t.limit/4*3 {
		return nil
	}
	byRank(t.buffer) // which is a heap
	half := len(t.buffer) / 2
	runs, err := t.scratch.write(func(w *runWriter) error {
		w.begin(t.block)
		for _, e := range t.buffer[half:] {
			if err := w.add(e); err != nil {
				return err
			}
		}
		_, err := w.end()
		return err
	})
	if err != nil {
		return err
	}
	t.onDisk += len(t.buffer) - half
	t.buffer = t.buffer[:half]
	if err := t.merge.add(runs[0]); err != nil {
		return err
	}
	return t.tidy(current)
}

// tidy merges runs when they are many, and all of them when most of what their
// files hold was read.
func (t *tail) tidy(current func(*entry) bool) error {
	runs := t.merge.runs.items
	switch {
	case t.hold:
	case t.scratch.bytes > 4*recordBytes*int64(t.onDisk)+t.scratch.maxWaste:
		return t.rewrite(current)
	case len(runs) > t.maxRuns:
		bySize := slices.SortedFunc(slices.Values(runs), func(a, b *run) int { return cmp.Compare(a.unread(), b.unread()) })
		return t.join(bySize[:len(bySize)/2], current)
	}
	return nil
}

// join makes one run of some.
func (t *tail) join(some []*run, current func(*entry) bool) error {
	m := newMerge()
	for _, r := range some {
		t.merge.runs.remove(r)
		t.onDisk -= r.unread()
		if err := m.add(r); err != nil {
			return err
		}
	}
	runs, err := t.scratch.write(func(w *runWriter) error {
		w.begin(t.block)
		for m.top() != nil {
			e, err := m.pop()
			if err == nil && current(&e) {
				err = w.add(e)
			}
			if err != nil {
				return err
			}
		}
		_, err := w.end()
		return err
	})
	if err != nil {
		return err
	}
	return t.adopt(runs)
}

func (t *tail) adopt(runs []*run) error {
	for _, r := range runs {
		t.onDisk += r.left
		if err := t.merge.add(r); err != nil {
			return err
		}
	}
	return nil
}

// rewrite asks keep about every entry, in order of rank, and leaves those that it
// wants: the best in memory, the others in one run.
func (t *tail) rewrite(keep func(*entry) bool) error {
	t.moves++
	byRank(t.buffer)
	if t.merge.top() == nil {
		t.buffer = slices.DeleteFunc(t.buffer, func(e entry) bool { return !keep(&e) })
		return nil
	}
	best := make([]entry, 0, t.limit/2)
	runs, err := t.scratch.write(func(w *runWriter) error {
		w.begin(t.block)
		for t.top() != nil {
			e, err := t.pop()
			switch {
			case err != nil:
				return err
			case !keep(&e):
			case len(best) < cap(best):
				best = append(best, e)
			default:
				if err := w.add(e); err != nil {
					return err
				}
			}
		}
		_, err := w.end()
		return err
	})
	if err != nil {
		return err
	}
	t.buffer = best
	return t.adopt(runs)
}

// renew asks change about every entry, in no order; it may give the entry another
// rank, or drop it by returning false.
func (t *tail) renew(change func(*entry) bool) error {
	t.buffer.filter(change)
	old := t.merge.runs.items
	t.merge, t.onDisk = newMerge(), 0
	for _, r := range old {
		if err := t.takeIn(r, change); err != nil {
			return err
		}
	}
	return nil
}

// takeIn takes in what change leaves of a run.
func (t *tail) takeIn(r *run, change func(*entry) bool) error {
	return r.drain(func(e entry) error {
		if !change(&e) {
			return nil
		}
		return t.push(e, always)
	})
}

func always(*entry) bool { return true }
