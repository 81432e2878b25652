package frontier

import "slices"

// pass is a renewal that goes on; see Renew. Its stages follow one another: back queues,
// then the tail's buffer, then what the tail has on disk.
type pass struct {
	queues []*backQueue // still to come; the first may be begun
	runs   []*run       // of the first one, still to come; nil when it is not begun

	buffered bool // the buffer is done
	next     int  // place in the buffer
	moves    int  // tail.moves when it was true

	tail []*run // still to come
	seen bits   // URLs with copies of which one was met in these
}

// Renew is Reprioritise a part at a time, so that the caller is not held up by a queue
// of millions. Each call asks priority about some n entries, and ends the back queue, block
// or spill that it is at. The first one begins a pass, the one that ends it returns true.
// Entries not met yet keep their place, so that Next gives at any time the best by what is
// known of each. What comes in or moves while a pass goes on may be missed
// by it. Where calls stand between other calls decides the order, and nothing else:
// no clock, no map's order.
func (f *Frontier) Renew(n int, priority func(key uint64, was float64) (p float64, ok bool)) (done bool) {
	if f.pass == nil {
		f.pass = &pass{queues: f.hosts.holders()}
	}
	w := &renewer{f: f, pass: f.pass, left: n, priority: priority}
	f.tail.hold = true // what is merged with others would be missed
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

// renewer does one call's share.
type renewer struct {
	f *Frontier
	*pass
	left     int // entries to ask about
	priority func(key uint64, was float64) (p float64, ok bool)
	known    bool // by priority: the entry that change was last called for
}

// change gives an entry its new priority; false when it is not current.
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

// renewQueue goes on with the first back queue: at once with what it has in memory, by
// blocks with what is on disk. Its URLs stay parked.
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
	// What is still to come is taken off the queue, so that nothing reads on in it.
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

// renewParked reads the next block of a back queue's runs.
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

// renewBuffer goes on with the tail's buffer in the order of the heap's places. One
// that rises passes over what was asked about; for one that sinks another comes up,
// which is asked about next. Where the buffer was sorted anew meanwhile it begins
// again.
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
		w.tail = slices.Clone(t.merge.runs.items)
		slices.SortFunc(w.tail, func(a, b *run) int { return a.file.number - b.file.number })
	}
}

// renewAt asks about the buffer's entry at i and moves it to its place. One that is not
// wanted gives way to the last, which is asked about before it finds its own place: that
// may be above i, where a pass has been. It returns false when another one is at i now.
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

// renewRun goes on with a run of the tail, from its best on. Of the copies of a URL
// that the runs have, one is enough: they are alike now, where priority knows it.
func (w *renewer) renewRun() {
	f, r := w.f, w.tail[0]
	t := &f.tail
	if r.place < 0 { // read, or merged with others
		w.tail = w.tail[1:]
		return
	}
	t.merge.runs.remove(r)
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
		t.merge.runs.push(r)
	} else if f.err == nil {
		f.err = err
	}
}
