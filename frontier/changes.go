package frontier

import (
	"cmp"
	"slices"
)

// Reprioritise gives every queued URL a new priority, from its key and the one that
// it has; one for which ok is false keeps it. It costs O(queue), and reads and writes what
// is on disk.
func (f *Frontier) Reprioritise(priority func(key uint64, was float64) (p float64, ok bool)) {
	if f.err != nil {
		return
	}
	f.pass = nil
	f.tail.hold = true // with all read anew, the files would seem to hold nothing else: merged at each spill
	defer func() { f.tail.hold = false }()
	var renewed, copied bits
	change := func(e *entry) bool {
		if !f.current(e) {
			return false
		}
		p, ok := priority(e.key, e.priority)
		several := f.copied.has(e.id)
		if !ok {
			if several {
				copied.add(e.id)
			}
			return true
		}
		*e = Item{ID: e.id, Host: e.host, Priority: p, Key: e.key}.entry()
		return !several || renewed.add(e.id) // its entries are all alike now
	}
	f.err = f.renew(change)
	f.copied = copied
	clear(f.set)
}

// renew asks change about every entry; what lanes have on disk goes back to the
// tail, for it must be sorted again.
func (f *Frontier) renew(change func(*entry) bool) error {
	holders := f.holders()
	var runs []*run
	for _, l := range holders {
		f.leave(l)
		f.parked -= len(l.queue)
		l.queue.filter(change, f.announce)
		f.parked += len(l.queue)
		runs = append(runs, l.runs...)
		l.runs = nil
	}
	f.parkOnDisk = 0
	if err := f.tail.renew(change, f.announce); err != nil {
		return err
	}
	for _, r := range runs {
		err := r.drain(func(e entry) error {
			if !change(&e) {
				return nil
			}
			return f.tail.push(e, always)
		})
		if err != nil {
			return err
		}
	}
	for _, l := range holders {
		f.settle(l)
	}
	return nil
}

// announce tells who is to expect them of entries that are asked about next.
func (f *Frontier) announce(row []entry) {
	if f.expect == nil {
		return
	}
	for i := range row {
		f.expect(row[i].key, row[i].priority)
	}
}

// noRow is for who announces nothing.
func noRow([]entry) {}

// holders returns the lanes with something parked, in the order of a URL of theirs:
// that of a map, or of host numbers, would differ from process to process.
func (f *Frontier) holders() []*lane {
	var all []*lane
	for _, l := range f.lanes {
		if l.holds() {
			all = append(all, l)
		}
	}
	for _, p := range f.parties {
		if p.common.holds() {
			all = append(all, &p.common)
		}
	}
	slices.SortFunc(all, byFirst)
	return all
}

// byFirst orders lanes by the URL that stands first in their queue or run: when its host
// moved, in two of them.
func byFirst(a, b *lane) int {
	return cmp.Or(cmp.Compare(a.first(), b.first()), cmp.Compare(a.made, b.made))
}

func (l *lane) first() ID {
	if len(l.queue) > 0 {
		return l.queue[0].id
	}
	return l.runs[0].bound.id
}

// tidy sweeps when entries that are not current make up three quarters of all, or
// the map of set priorities is full. As a sweep leaves at most two entries a URL,
// one in the tail and one parked, it pays for itself.
func (f *Frontier) tidy() {
	entries := f.tail.len() + f.parked + f.parkOnDisk
	if f.err == nil && (entries > 4*f.n+f.slack || len(f.set) > f.setLimit) {
		f.err = f.sweep()
	}
}

// sweep drops the entries that are not current. Of several current ones of a URL
// the first in order of rank stays, as it is the one that would be taken.
func (f *Frontier) sweep() error {
	first := func() func(*entry) bool {
		var seen bits
		return func(e *entry) bool {
			return f.current(e) && (!f.copied.has(e.id) || seen.add(e.id))
		}
	}
	if err := f.tail.rewrite(first()); err != nil {
		return err
	}
	if err := f.repack(first()); err != nil {
		return err
	}
	clear(f.set) // what is left agrees with it
	return nil
}

// repack asks keep about every parked entry, lane by lane in order of rank, and
// makes one run of what a lane has on disk.
func (f *Frontier) repack(keep func(*entry) bool) error {
	holders := f.holders()
	for _, l := range holders {
		f.leave(l)
	}
	pack := func(w *runWriter) error {
		for _, l := range holders {
			if err := f.repackLane(w, l, keep); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	if f.parkOnDisk == 0 {
		err = pack(nil)
	} else {
		_, err = f.parkFiles.write(pack)
	}
	if err != nil {
		return err
	}
	for _, l := range holders {
		f.settle(l)
	}
	return f.err
}

// repackLane merges what a lane has in memory and on disk; w is nil when no
// lane has anything on disk.
func (f *Frontier) repackLane(w *runWriter, l *lane, keep func(*entry) bool) error {
	m := newMerge()
	best := len(l.queue)
	for _, r := range l.runs {
		best = parkBest
		f.parkOnDisk -= r.left
		if err := m.add(r); err != nil {
			return err
		}
	}
	f.parked -= len(l.queue)
	queue := l.queue
	byRank(queue)
	var kept entryHeap
	if w != nil {
		w.begin(f.parkBlock)
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
		wanted := keep
		if f.home(e.host) != l {
			wanted = f.current // its host has moved since, so there may be a better copy elsewhere
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
	l.runs = nil
	return f.exchange(l, kept, w)
}

// exchange gives a lane what is left of its queue, in order of rank, and the run
// that w has written, if any.
func (f *Frontier) exchange(l *lane, queue entryHeap, w *runWriter) error {
	l.queue = queue
	f.parked += len(queue)
	if w == nil {
		return nil
	}
	r, err := w.end()
	if r != nil {
		l.runs = append(l.runs, r)
		f.parkOnDisk += r.left
	}
	return err
}
