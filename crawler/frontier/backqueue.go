package frontier

import (
	"cmp"
	"fossick/internal/heap"
	"slices"
	"time"
)

// A backQueue holds the URLs parked at a party, or those of one host that rests longer than
// its party. The latter exists while that rest lasts or it holds URLs.
type backQueue struct {
	host  Host      // its owner; a party's key for the common queue
	of    *party    // set for the common queue; nil for a host's own
	queue entryHeap // parked URLs in memory
	runs  []*run    // and on disk
	until time.Time // end of the host's own rest; zero when over
	doubt bool      // the host may not answer after the rest

	heap  *heap.Heap[*backQueue] // its party's ready ones, resting, idle, or nil
	place int32
	out   bool // taken out of the heap for a change; see leave
	made  int  // number of back queues made before it
}

func newReadyQueues() heap.Heap[*backQueue] {
	return heap.Heap[*backQueue]{
		Before: func(a, b *backQueue) bool { return a.queue[0].before(&b.queue[0]) },
		Place:  func(q *backQueue) *int32 { return &q.place },
	}
}

func newRestingQueues() heap.Heap[*backQueue] {
	return heap.Heap[*backQueue]{
		Before: func(a, b *backQueue) bool { return a.until.Before(b.until) },
		Place:  func(q *backQueue) *int32 { return &q.place },
	}
}

func (q *backQueue) holds() bool { return len(q.queue) > 0 || len(q.runs) > 0 }

// byFirst orders back queues by the first URL in their queue or run; a moved host's URL may
// stand in two of them.
func byFirst(a, b *backQueue) int {
	return cmp.Or(cmp.Compare(a.first(), b.first()), cmp.Compare(a.made, b.made))
}

func (q *backQueue) first() ID {
	if len(q.queue) > 0 {
		return q.queue[0].id
	}
	return q.runs[0].bound.id
}

// room is the memory that all back queues share; the rest of their URLs are in runs on disk.
type room struct {
	inMemory int // URLs
	limit    int // of these
	unloadAt int // URLs in memory from which some are written
	onDisk   int
	files    scratch
	block    int // entries per block on disk
}

const (
	// parksATurn bounds the URLs that one Next parks, to about 20 ms.
	parksATurn = 1 << 14
	parkBlock  = 256 // entries; see load
	// parkBest is how many URLs of a back queue stay in memory when it is unloaded.
	parkBest = 8
)

func (r *room) full() bool { return r.inMemory > r.unloadAt }

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
			i++ // the rest of it comes later, and the top only improves
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

// filter calls change for a queue's entries in memory; see entryHeap.
func (r *room) filter(q *backQueue, change func(*entry) bool) {
	r.inMemory -= len(q.queue)
	q.queue.filter(change)
	r.inMemory += len(q.queue)
}

// unload writes a queue's entries in memory to disk, except its best current ones.
func (r *room) unload(w *runWriter, q *backQueue, keep int, current func(*entry) bool) error {
	r.inMemory -= len(q.queue)
	byRank(q.queue)
	w.begin(r.block)
	kept := 0
	for i := range q.queue { // avoids a heap copy of each
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
	return r.exchange(q, slices.Clone(q.queue[:kept]), w) // copied, to free the memory of the others
}

// repack merges a queue's wanted entries from memory and disk; w is nil when no queue has
// entries on disk.
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

// exchange replaces a queue's contents by the entries left, in order of rank, and the run that
// w wrote, if any.
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

// Uses and rests: the part of the table of hosts that depends on time.

// free reports whether a URL of host h of party p may be handed out.
func (t *hosts) free(p *party, h Host, now time.Time) bool {
	return !p.busy && p.until.IsZero() && t.rested(h, now)
}

func (t *hosts) rested(h Host, now time.Time) bool {
	q := t.own[h]
	return q == nil || !q.until.After(now)
}

func (t *hosts) use(p *party) {
	p.busy = true
	t.settleParty(p)
}

func (t *hosts) done(h Host, until time.Time) {
	p := t.party(h)
	p.busy = false
	p.until = later(p.until, until)
	t.settleParty(p)
}

func (t *hosts) rest(h Host, until time.Time) {
	if t.own[h] == nil {
		if until.IsZero() {
			return
		}
		if p := t.parties[t.find(h)]; p != nil && !p.until.Before(until) {
			return
		}
	}
	t.restAlone(h, until)
}

// restInDoubt lets a host rest that may not answer afterwards.
func (t *hosts) restInDoubt(h Host, until time.Time) {
	if !until.IsZero() {
		t.restAlone(h, until).doubt = true
	}
}

// restAlone lets a host rest in its own back queue.
func (t *hosts) restAlone(h Host, until time.Time) *backQueue {
	q := t.own[h]
	if q == nil {
		t.made++
		q = &backQueue{host: h, made: t.made}
		t.own[h] = q
	}
	q.until = later(q.until, until)
	t.settle(q)
	return q
}

func (t *hosts) inDoubt(h Host) bool {
	q := t.own[h]
	return q != nil && q.doubt
}

func (t *hosts) restAddress(address string, until time.Time) {
	p := t.partyBy(t.addressKey(address))
	p.until = later(p.until, until)
	t.settleParty(p)
}

func (t *hosts) until(h Host) time.Time {
	until := t.floor
	if p := t.parties[t.find(h)]; p != nil {
		until = later(until, p.until)
	}
	if q := t.own[h]; q != nil {
		until = later(until, q.until)
	}
	return until
}

func (t *hosts) claim(h Host, now time.Time) bool {
	p := t.party(h)
	free := !p.busy && !p.until.After(now) && !t.floor.After(now) && t.rested(h, now)
	p.busy = p.busy || free
	t.settleParty(p)
	return free
}

// wake returns the earliest end of a rest that frees a URL.
func (t *hosts) wake() (time.Time, bool) {
	if t.ready.Len() > 0 { // only the floor blocks these
		return t.floor, true
	}
	first, resting := t.nextRest()
	if !resting {
		return first, false
	}
	return later(first, t.floor), true
}

// nextRest returns the earliest end of a rest at which URLs are parked.
func (t *hosts) nextRest() (first time.Time, resting bool) {
	if t.restingParties.Len() > 0 {
		first = t.restingParties.Top().until
	}
	if t.resting.Len() > 0 {
		if q := t.resting.Top(); first.IsZero() || q.until.Before(first) {
			first = q.until // its party may rest longer
		}
	}
	return first, !first.IsZero()
}

// wakeAll makes rested queues ready and forgets empty ones.
func (t *hosts) wakeAll(now time.Time) {
	for _, h := range []*heap.Heap[*party]{&t.restingParties, &t.idleParties} {
		for h.Len() > 0 && !h.Top().until.After(now) {
			p := h.Top()
			p.until = time.Time{}
			t.settleParty(p)
		}
	}
	for _, h := range []*heap.Heap[*backQueue]{&t.resting, &t.idle} {
		for h.Len() > 0 && !h.Top().until.After(now) {
			q := h.Top()
			q.until, q.doubt = time.Time{}, false
			t.settle(q)
		}
	}
}
