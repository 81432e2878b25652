package frontier

import (
	"cmp"
	"slices"
	"time"
)

// lane is what is parked at a party: all of it, or the URLs of one host that rests
// longer than its party, by a wish of its own. Such a lane is in memory while that
// rest lasts, and as long as it has URLs.
type lane struct {
	host  Host      // whose it is; a party's key when it is the common one
	of    *party    // of the common one; nil of a host's own, whose party is that of the host
	queue entryHeap // parked URLs in memory
	runs  []*run    // and on disk
	until time.Time // end of the host's own rest; zero when over

	heap  *heap[*lane] // its party's ready ones, resting, idle, or nil
	place int          // in that heap
	out   bool         // of it, for a change; see leave
	made  int          // how many lanes there were before it
}

func newReadyLanes() heap[*lane] {
	return heap[*lane]{
		less:  func(a, b *lane) bool { return a.queue[0].before(&b.queue[0]) },
		place: func(l *lane) *int { return &l.place },
	}
}

func newRestingLanes() heap[*lane] {
	return heap[*lane]{
		less:  func(a, b *lane) bool { return a.until.Before(b.until) },
		place: func(l *lane) *int { return &l.place },
	}
}

// holds says whether URLs are parked at l.
func (l *lane) holds() bool { return len(l.queue) > 0 || len(l.runs) > 0 }

// laneOf returns where a host's URLs are parked.
func (f *Frontier) laneOf(h Host) *lane {
	if l := f.home(h); l != nil {
		return l
	}
	return &f.party(h).common
}

// home returns the lane of a host; nil when it is not in memory.
func (f *Frontier) home(h Host) *lane {
	if l := f.lanes[h]; l != nil {
		return l
	}
	if p := f.parties[f.find(h)]; p != nil {
		return &p.common
	}
	return nil
}

// holder returns the lane at which URLs of a host are parked; nil when none are.
func (f *Frontier) holder(h Host) *lane {
	if l := f.home(h); l != nil && l.holds() {
		return l
	}
	return nil
}

// partyOf returns the party of a lane.
func (f *Frontier) partyOf(l *lane) *party {
	if l.of != nil {
		return l.of
	}
	return f.party(l.host)
}

// Rest makes a host rest until the given time at least, whether it has URLs or
// not, and nobody else: what a host asks for binds no other at its address.
func (f *Frontier) Rest(h Host, until time.Time) {
	l := f.lanes[h]
	if l == nil {
		if until.IsZero() {
			return
		}
		if p := f.parties[f.find(h)]; p != nil && !p.until.Before(until) {
			return // it rests as long with its party
		}
		f.made++
		l = &lane{host: h, made: f.made}
		f.lanes[h] = l
	}
	l.until = later(l.until, until)
	f.settle(l)
}

// rested says whether a host's own rest is over.
func (f *Frontier) rested(h Host, now time.Time) bool {
	l := f.lanes[h]
	return l == nil || !l.until.After(now)
}

// settle puts a lane where it belongs after any change: with the ready ones of its
// party, with those that rest, or out of memory.
func (f *Frontier) settle(l *lane) {
	p := f.partyOf(l)
	l.out = false
	var want *heap[*lane]
	switch {
	case !l.until.IsZero() && l.holds():
		want = &f.resting
	case !l.until.IsZero():
		want = &f.idle
	case l.holds():
		if f.load(l); f.err != nil {
			return
		}
		want = &p.ready
	case l.of == nil:
		delete(f.lanes, l.host)
	}
	if l.heap == want && want != nil {
		want.fix(l)
	} else {
		if l.heap != nil {
			l.heap.remove(l)
			l.heap = nil
		}
		if want != nil {
			want.push(l)
			l.heap = want
		}
	}
	f.settleParty(p)
}

// leave takes a lane out of its heap, for a change of what it holds; settle puts it
// back.
func (f *Frontier) leave(l *lane) {
	l.out = true
	if l.heap == nil {
		return
	}
	l.heap.remove(l)
	l.heap = nil
	f.settleParty(f.partyOf(l))
}

// there says whether a lane is still what its host's URLs are parked at.
func (f *Frontier) there(l *lane) bool {
	if l.of != nil {
		return f.parties[l.of.key] == l.of
	}
	return f.lanes[l.host] == l
}

// parksATurn bounds what Next puts aside at once, to some 20 ms: where a whole queue's
// hosts rest it would be millions.
const parksATurn = 1 << 14

// park puts an entry aside until its host may be fetched.
func (f *Frontier) park(l *lane, e entry) {
	l.queue.push(e)
	f.parked++
	f.settle(l)
	if f.parked > f.unloadAt && f.err == nil {
		f.err = f.unload()
	}
}

const (
	parkBlock = 256 // entries; see load
	// parkBest is how many URLs of a lane stay in memory when it is unloaded.
	parkBest = 8
)

// load reads blocks of the lane's runs until its best URL is in memory.
func (f *Frontier) load(l *lane) {
	var block []entry
	for i := 0; i < len(l.runs) && f.err == nil; {
		r := l.runs[i]
		if len(l.queue) > 0 && l.queue[0].before(&r.bound) {
			i++ // all that is left of it comes later, and the top only gets better
			continue
		}
		if block, f.err = r.read(block[:0]); f.err != nil {
			return
		}
		for _, e := range block {
			l.queue.push(e)
		}
		f.parked += len(block)
		f.parkOnDisk -= len(block)
		if r.left == 0 {
			l.runs = slices.Delete(l.runs, i, i+1)
		}
	}
}

// unload writes what the lanes hold to disk until half of the room is free: the
// largest ones first, and of each all but its best URLs; in the worst case, as
// many lanes as there is room, all but one.
func (f *Frontier) unload() error {
	if !f.tail.hold && f.parkFiles.crowded(f.parkOnDisk) {
		if err := f.repack(f.current); err != nil {
			return err
		}
	}
	lanes := f.holders()
	slices.SortStableFunc(lanes, func(a, b *lane) int { return cmp.Compare(len(b.queue), len(a.queue)) })
	_, err := f.parkFiles.write(func(w *runWriter) error {
		for _, keep := range []int{parkBest, 1} {
			for _, l := range lanes {
				if f.parked <= f.parkLimit/2 || len(l.queue) < 2*keep {
					continue
				}
				if err := f.unloadLane(w, l, keep); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, l := range lanes {
		f.settle(l)
	}
	// Where every lane has but one there is nothing to gain from asking again soon.
	f.unloadAt = max(f.parkLimit, f.parked+f.parkLimit/2)
	return f.err
}

func (f *Frontier) unloadLane(w *runWriter, l *lane, keep int) error {
	f.leave(l)
	f.parked -= len(l.queue)
	byRank(l.queue)
	w.begin(f.parkBlock)
	kept := 0
	for _, e := range l.queue {
		switch {
		case !f.current(&e):
		case kept < keep:
			l.queue[kept] = e
			kept++
		default:
			if err := w.add(e); err != nil {
				return err
			}
		}
	}
	return f.exchange(l, slices.Clone(l.queue[:kept]), w) // a copy: the room of the others is the aim
}
