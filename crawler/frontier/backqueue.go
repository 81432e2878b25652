package frontier

import (
	"cmp"
	"slices"
	"time"
)

// backQueue is what is parked at a party: all of it, or the URLs of one host that rests
// longer than its party, by a wish of its own. The latter is in memory while that rest
// lasts, and as long as it has URLs.
type backQueue struct {
	host  Host      // whose it is; a party's key when it is the common one
	of    *party    // of the common one; nil of a host's own, whose party is that of the host
	queue entryHeap // parked URLs in memory
	runs  []*run    // and on disk
	until time.Time // end of the host's own rest; zero when over
	doubt bool      // whether the host will answer after it

	heap  *heap[*backQueue] // its party's ready ones, resting, idle, or nil
	place int               // in that heap
	out   bool              // of it, for a change; see leave
	made  int               // how many back queues there were before it
}

func newReadyQueues() heap[*backQueue] {
	return heap[*backQueue]{
		less:  func(a, b *backQueue) bool { return a.queue[0].before(&b.queue[0]) },
		place: func(q *backQueue) *int { return &q.place },
	}
}

func newRestingQueues() heap[*backQueue] {
	return heap[*backQueue]{
		less:  func(a, b *backQueue) bool { return a.until.Before(b.until) },
		place: func(q *backQueue) *int { return &q.place },
	}
}

// holds says whether URLs are parked in q.
func (q *backQueue) holds() bool { return len(q.queue) > 0 || len(q.runs) > 0 }

// byFirst orders back queues by the URL that stands first in their queue or run: when its
// host moved, in two of them.
func byFirst(a, b *backQueue) int {
	return cmp.Or(cmp.Compare(a.first(), b.first()), cmp.Compare(a.made, b.made))
}

func (q *backQueue) first() ID {
	if len(q.queue) > 0 {
		return q.queue[0].id
	}
	return q.runs[0].bound.id
}

// room is the room that all back queues share: so many URLs in memory, the others in
// runs on disk.
type room struct {
	inMemory int // URLs
	limit    int // of these
	unloadAt int // URLs in memory from which some are written
	onDisk   int // URLs
	files    scratch
	block    int // entries a block of these
}

const (
	// parksATurn bounds what Next puts aside at once, to some 20 ms: where a whole queue's
	// hosts rest it would be millions.
	parksATurn = 1 << 14
	parkBlock  = 256 // entries; see load
	// parkBest is how many URLs of a back queue stay in memory when it is unloaded.
	parkBest = 8
)

// full says whether back queues are to be unloaded.
func (r *room) full() bool { return r.inMemory > r.unloadAt }

// len returns the entries in memory and on disk.
func (r *room) len() int { return r.inMemory + r.onDisk }

func (r *room) push(q *backQueue, e entry) {
	q.queue.push(e)
	r.inMemory++
}

func (r *room) pop(q *backQueue) entry {
	r.inMemory--
	return q.queue.pop()
}

// load reads blocks of a queue's runs until its best URL is in memory.
func (r *room) load(q *backQueue) error {
	var block []entry
	for i := 0; i < len(q.runs); {
		from := q.runs[i]
		if len(q.queue) > 0 && q.queue[0].before(&from.bound) {
			i++ // all that is left of it comes later, and the top only gets better
			continue
		}
		var err error
		if block, err = from.read(block[:0]); err != nil {
			return err
		}
		for _, e := range block {
			q.queue.push(e)
		}
		r.inMemory += len(block)
		r.onDisk -= len(block)
		if from.left == 0 {
			q.runs = slices.Delete(q.runs, i, i+1)
		}
	}
	return nil
}

// filter asks change about what a queue has in memory; see entryHeap.
func (r *room) filter(q *backQueue, change func(*entry) bool) {
	r.inMemory -= len(q.queue)
	q.queue.filter(change)
	r.inMemory += len(q.queue)
}

// unload writes what a queue has in memory, but for its best current ones.
func (r *room) unload(w *runWriter, q *backQueue, keep int, current func(*entry) bool) error {
	r.inMemory -= len(q.queue)
	byRank(q.queue)
	w.begin(r.block)
	kept := 0
	for i := range q.queue { // a copy of each would be on the heap
		switch e := &q.queue[i]; {
		case !current(e):
		case kept < keep:
			q.queue[kept] = *e
			kept++
		default:
			if err := w.add(*e); err != nil {
				return err
			}
		}
	}
	return r.exchange(q, slices.Clone(q.queue[:kept]), w) // a copy: the room of the others is the aim
}

// repack merges what a queue has in memory and on disk, as far as it is wanted; w is nil
// when no queue has anything on disk.
func (r *room) repack(w *runWriter, q *backQueue, wanted func(*entry) bool) error {
	m := newMerge()
	best := len(q.queue)
	for _, from := range q.runs {
		best = parkBest
		r.onDisk -= from.left
		if err := m.add(from); err != nil {
			return err
		}
	}
	r.inMemory -= len(q.queue)
	queue := q.queue
	byRank(queue)
	var kept entryHeap
	if w != nil {
		w.begin(r.block)
	}
	for len(queue) > 0 || m.top() != nil {
		var e entry
		if top := m.top(); top == nil || len(queue) > 0 && queue[0].before(top) {
			e, queue = queue[0], queue[1:]
		} else {
			var err error
			if e, err = m.pop(); err != nil {
				return err
			}
		}
		switch {
		case !wanted(&e):
		case len(kept) < best:
			kept = append(kept, e)
		default:
			if err := w.add(e); err != nil {
				return err
			}
		}
	}
	q.runs = nil
	return r.exchange(q, kept, w)
}

// exchange gives a queue what is left of it, in order of rank, and the run that w has
// written, if any.
func (r *room) exchange(q *backQueue, left entryHeap, w *runWriter) error {
	q.queue = left
	r.inMemory += len(left)
	if w == nil {
		return nil
	}
	written, err := w.end()
	if written != nil {
		q.runs = append(q.runs, written)
		r.onDisk += written.left
	}
	return err
}
