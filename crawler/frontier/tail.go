package frontier

import (
	"cmp"
	"math"
	"slices"
)

// tail yields entries in order of rank. New entries enter a heap; when it is full, its worse
// half becomes a sorted run on disk (a sequence heap, after Sanders, Fast Priority Queues for
// Cached Memory, 2000).
type tail struct {
	scratch scratch
	limit   int // entries in the buffer
	buffer  entryHeap
	merge   *merge
	onDisk  int // entries in runs
	block   int // entries a block
	maxRuns int
	moves   int  // how often the buffer was sorted
	hold    bool // runs must not be merged now
}

const (
	tailBlock = 512 // entries
	// maxRuns bounds the blocks in memory: 256 of 16 KiB. With the default buffer, 33 million
	// entries fit before a merge, which blocks everything else.
	maxRuns = 256
)

// memoryOnly is the limit of a frontier without a folder.
const memoryOnly = math.MaxInt

func (t *tail) len() int { return len(t.buffer) + t.onDisk }

// top returns the best entry, valid until the next call; nil when there is none.
func (t *tail) top() *entry {
	best := t.merge.top()
	if len(t.buffer) > 0 && (best == nil || t.buffer[0].before(best)) {
		best = &t.buffer[0]
	}
	return best
}

// pop removes the best entry; there must be one.
func (t *tail) pop() (entry, error) {
	onDisk := t.merge.top()
	if onDisk == nil || len(t.buffer) > 0 && t.buffer[0].before(onDisk) {
		return t.buffer.pop(), nil
	}
	t.onDisk--
	return t.merge.pop()
}

// push adds an entry. current says which entries are worth keeping.
func (t *tail) push(e entry, current func(*entry) bool) error {
	t.buffer.push(e)
	if len(t.buffer) < t.limit {
		return nil
	}
	return t.spill(current)
}

// spill makes room in the buffer: it drops stale entries, then writes a run.
func (t *tail) spill(current func(*entry) bool) error {
	t.moves++
	t.buffer.filter(current)
	if len(t.buffer) < t.limit/4*3 {
		return nil
	}
	byRank(t.buffer) // which makes it a heap
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

// tidy merges runs when they are many, and all of them when their files are mostly used up.
func (t *tail) tidy(current func(*entry) bool) error {
	runs := t.merge.runs.All
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

// join merges some runs into one.
func (t *tail) join(some []*run, current func(*entry) bool) error {
	m := newMerge()
	for _, r := range some {
		t.merge.runs.Remove(r)
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

// rewrite keeps the entries for which keep is true, called in order of rank: the best in
// memory, the others in one run.
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

// renew calls change for every entry, in no order; it may change the rank, or drop the entry
// by returning false.
func (t *tail) renew(change func(*entry) bool) error {
	t.buffer.filter(change)
	old := t.merge.runs.All
	t.merge, t.onDisk = newMerge(), 0
	for _, r := range old {
		if err := t.takeIn(r, change); err != nil {
			return err
		}
	}
	return nil
}

// takeIn adds the entries of a run that change keeps.
func (t *tail) takeIn(r *run, change func(*entry) bool) error {
	return r.drain(func(e entry) error {
		if !change(&e) {
			return nil
		}
		return t.push(e, always)
	})
}

func always(*entry) bool { return true }

// pass is a renewal in progress; see Renew. It visits back queues, then the tail's buffer,
// then the tail's runs.
type pass struct {
	queues []*backQueue // still to visit; the first may be in progress
	runs   []*run       // of the first queue, still to visit; nil before it begins

	buffered bool // the buffer is done
	next     int  // place in the buffer
	moves    int  // tail.moves when next was valid

	tail []*run // still to visit
	seen bits   // URLs met in these runs
}

// Renew is Reprioritise in parts, so that a queue of millions does not block the caller. Each
// call asks priority about some n entries and completes the back queue, block or spill in
// progress. The first call begins a pass; the call that ends it returns true. Entries not met
// yet keep their rank, so Next always gives the best by the present priorities. A pass may
// miss entries that enter or move meanwhile. Its order depends on the sequence of calls alone,
// not on a clock or a map.
func (f *Frontier) Renew(n int, priority func(key uint64, was float64) (p float64, ok bool)) (done bool) {
	if f.pass == nil {
		f.pass = &pass{queues: f.hosts.holders()}
	}
	w := &renewer{f: f, pass: f.pass, left: n, priority: priority}
	f.tail.hold = true // a merged run would be missed
	defer func() { f.tail.hold = false }()
	for w.left > 0 && f.Err() == nil {
		switch {
		case len(w.queues) > 0:
			w.renewQueue()
		case !w.buffered:
			w.renewBuffer()
		case len(w.tail) > 0:
			w.renewRun()
		default:
			f.pass = nil
			return true
		}
	}
	return f.Err() != nil
}

// renewer does the share of one call.
type renewer struct {
	f *Frontier
	*pass
	left     int // entries to ask about
	priority func(key uint64, was float64) (p float64, ok bool)
	known    bool // change was last called for an entry known to priority
}

// change gives an entry its new priority; false when it is stale.
func (w *renewer) change(e *entry) bool {
	w.left--
	if !w.f.urls.current(e) {
		return false
	}
	var p float64
	if p, w.known = w.priority(e.key, e.priority); w.known {
		e.priority = Item{Priority: p}.entry().priority
		w.f.urls.changed(e)
	}
	return true
}

// renewQueue continues with the first back queue: all of its memory at once, its disk by
// blocks. Its URLs stay parked.
func (w *renewer) renewQueue() {
	f, q := w.f, w.queues[0]
	if !f.hosts.there(q) { // gone, or in another one now
		w.queues, w.runs = w.queues[1:], nil
		return
	}
	f.hosts.leave(q)
	if w.runs == nil {
		w.runs = slices.Clone(q.runs)
		f.hosts.room.filter(q, w.change)
	}
	// Take the remaining runs off the queue, so that nothing else reads them.
	w.runs = slices.DeleteFunc(w.runs, func(r *run) bool { return !slices.Contains(q.runs, r) })
	q.runs = slices.DeleteFunc(q.runs, func(r *run) bool { return slices.Contains(w.runs, r) })
	for len(w.runs) > 0 && w.left > 0 && f.Err() == nil {
		w.renewParked(q)
	}
	q.runs = append(q.runs, w.runs...)
	f.hosts.settle(q)
	if len(w.runs) == 0 {
		w.queues, w.runs = w.queues[1:], nil
	}
}

func (w *renewer) renewParked(q *backQueue) {
	f, r := w.f, w.runs[0]
	var block []entry
	if block, f.err = r.read(nil); f.err != nil {
		return
	}
	f.hosts.room.onDisk -= len(block)
	if r.left == 0 {
		w.runs = w.runs[1:]
	}
	for i := range block {
		if w.change(&block[i]) {
			f.park(q, block[i])
		}
	}
}

// renewBuffer continues with the tail's buffer in the order of the heap's places. It restarts
// where the buffer was sorted meanwhile.
func (w *renewer) renewBuffer() {
	t := &w.f.tail
	if w.moves != t.moves {
		w.moves, w.next = t.moves, 0
	}
	for w.left > 0 && w.next < len(t.buffer) {
		if w.renewAt(w.next) {
			w.next++
		}
	}
	if w.next >= len(t.buffer) {
		w.buffered = true
		w.tail = slices.Clone(t.merge.runs.All)
		slices.SortFunc(w.tail, func(a, b *run) int { return a.file.number - b.file.number })
	}
}

// renewAt asks about the buffer's entry at i and moves it to its place. A dropped entry gives
// way to the last, which is asked about before it moves, possibly above i. It returns false
// when another entry is at i now.
func (w *renewer) renewAt(i int) (asked bool) {
	buffer := &w.f.tail.buffer
	for !w.change(&(*buffer)[i]) {
		last := len(*buffer) - 1
		(*buffer)[i] = (*buffer)[last]
		if *buffer = (*buffer)[:last]; i == last {
			return false
		}
	}
	if buffer.down(i) {
		return false
	}
	buffer.up(i)
	return true
}

// renewRun continues with a run of the tail, best first. One copy of a URL is enough, since
// all copies have the same new priority.
func (w *renewer) renewRun() {
	f, r := w.f, w.tail[0]
	t := &f.tail
	if r.place < 0 { // read, or merged with others
		w.tail = w.tail[1:]
		return
	}
	t.merge.runs.Remove(r)
	for w.left > 0 && f.Err() == nil {
		var more bool
		if more, f.err = r.advance(); !more {
			w.tail = w.tail[1:]
			return
		}
		e := r.block[r.taken]
		r.taken++
		t.onDisk--
		if w.change(&e) && (!w.known || !f.urls.copied.has(e.id) || w.seen.add(e.id)) {
			f.err = t.push(e, f.urls.current)
		}
	}
	if more, err := r.advance(); more {
		t.merge.runs.Push(r)
	} else if f.err == nil {
		f.err = err
	}
}
