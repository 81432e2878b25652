package frontier

import (
	"cmp"
	"hash/maphash"
	"slices"
	"time"
)

// party is what is polite to treat as one: a host, or all hosts at one address
// (paper E). It is in memory while it is in use, rests, or has URLs parked.
type party struct {
	host  Host      // that stands for it
	queue entryHeap // parked URLs in memory
	runs  []*run    // and on disk
	busy  bool
	until time.Time // end of its rest; zero when over

	heap  *heap[*party] // ready, resting, idle, or nil when busy
	place int           // in that heap
}

func newResting() heap[*party] {
	return heap[*party]{
		less:  func(a, b *party) bool { return a.until.Before(b.until) },
		place: func(p *party) *int { return &p.place },
	}
}

// holds says whether URLs are parked at p.
func (p *party) holds() bool { return len(p.queue) > 0 || len(p.runs) > 0 }

// find returns the host that stands for a host's party.
func (f *Frontier) find(h Host) Host {
	for {
		up, ok := f.alias[h]
		if !ok {
			return h
		}
		if top, ok := f.alias[up]; ok {
			f.alias[h] = top // halve the way for the next one
		}
		h = up
	}
}

// party returns the party of a host, made when it is not in memory.
func (f *Frontier) party(h Host) *party {
	h = f.find(h)
	p, ok := f.parties[h]
	if !ok {
		p = &party{host: h}
		f.parties[h] = p
	}
	return p
}

// Join says at which address a host is: from now on it is one party with the
// hosts that were said to be there before, at most one of them is in use, and
// they rest together. The host itself must not be in use: its Done would end
// the use of another.
func (f *Frontier) Join(h Host, address string) {
	at := maphash.String(f.seed, address)
	first, ok := f.addresses[at]
	if !ok {
		f.addresses[at] = h
		return
	}
	from, to := f.find(h), f.find(first)
	if from == to {
		return
	}
	f.alias[from] = to
	p := f.parties[from]
	if p == nil {
		return
	}
	f.leave(p)
	delete(f.parties, from)
	q := f.party(to)
	for _, e := range p.queue {
		q.queue.push(e)
	}
	q.runs = append(q.runs, p.runs...)
	q.until = later(q.until, p.until)
	f.settle(q)
}

// Rest makes a host rest until the given time at least, whether it has URLs or
// not: how a restart puts back the rests that were running.
func (f *Frontier) Rest(h Host, until time.Time) {
	p := f.party(h)
	p.until = later(p.until, until)
	f.settle(p)
}

// RestAll makes every host rest until the given time at least, also those not
// heard of yet.
func (f *Frontier) RestAll(until time.Time) { f.floor = later(f.floor, until) }

// Take marks a host as in use outside Next, on behalf of another host that is
// in use already: it succeeds when the host is free and rested, or is one party
// with the other. Done ends it as usual.
func (f *Frontier) Take(h, onBehalf Host, now time.Time) bool {
	if f.find(h) == f.find(onBehalf) {
		return true
	}
	return f.Claim(h, now)
}

// Claim marks a host as in use outside Next, for an exchange that is for no queued
// URL: it succeeds when the host is free and rested. Done ends it as usual.
func (f *Frontier) Claim(h Host, now time.Time) bool {
	p := f.party(h)
	free := !p.busy && !p.until.After(now) && !f.floor.After(now)
	p.busy = p.busy || free
	f.settle(p)
	return free
}

// OneParty says whether two hosts are treated as one.
func (f *Frontier) OneParty(a, b Host) bool { return f.find(a) == f.find(b) }

// settle puts a party where it belongs after any change: with the ready ones,
// with the resting ones, nowhere while it is in use, or out of memory.
func (f *Frontier) settle(p *party) {
	var want *heap[*party]
	switch {
	case p.busy:
	case !p.until.IsZero() && p.holds():
		want = &f.resting
	case !p.until.IsZero():
		want = &f.idle
	case p.holds():
		if f.load(p); f.err != nil {
			return
		}
		want = &f.ready
	default:
		delete(f.parties, p.host)
	}
	if p.heap == want && want != nil {
		want.fix(p)
		return
	}
	f.leave(p)
	if want != nil {
		want.push(p)
		p.heap = want
	}
}

func (f *Frontier) leave(p *party) {
	if p.heap != nil {
		p.heap.remove(p)
		p.heap = nil
	}
}

// parksATurn bounds what Next puts aside at once, to some 20 ms: where a whole queue's
// hosts rest it would be millions.
const parksATurn = 1 << 14

// park puts an entry aside until its party may be fetched.
func (f *Frontier) park(p *party, e entry) {
	p.queue.push(e)
	f.parked++
	f.settle(p)
	if f.parked > f.unloadAt && f.err == nil {
		f.err = f.unload()
	}
}

const (
	parkBlock = 256 // entries; see load
	// parkBest is how many URLs of a party stay in memory when it is unloaded.
	parkBest = 8
)

// load reads blocks of the party's runs until its best URL is in memory.
func (f *Frontier) load(p *party) {
	var block []entry
	for i := 0; i < len(p.runs) && f.err == nil; {
		r := p.runs[i]
		if len(p.queue) > 0 && p.queue[0].before(&r.bound) {
			i++ // all that is left of it comes later, and the top only gets better
			continue
		}
		if block, f.err = r.read(block[:0]); f.err != nil {
			return
		}
		for _, e := range block {
			p.queue.push(e)
		}
		f.parked += len(block)
		f.parkOnDisk -= len(block)
		if r.left == 0 {
			p.runs = slices.Delete(p.runs, i, i+1)
		}
	}
}

// unload writes what the parties hold to disk until half of the room is free: the
// largest ones first, and of each all but its best URLs; in the worst case, as
// many parties as there is room, all but one.
func (f *Frontier) unload() error {
	if !f.tail.hold && f.parkFiles.crowded(f.parkOnDisk) {
		if err := f.repack(f.current); err != nil {
			return err
		}
	}
	parties := f.holders()
	slices.SortStableFunc(parties, func(a, b *party) int { return cmp.Compare(len(b.queue), len(a.queue)) })
	_, err := f.parkFiles.write(func(w *runWriter) error {
		for _, keep := range []int{parkBest, 1} {
			for _, p := range parties {
				if f.parked <= f.parkLimit/2 || len(p.queue) < 2*keep {
					continue
				}
				if err := f.unloadParty(w, p, keep); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range parties {
		f.settle(p)
	}
	// Where every party has but one there is nothing to gain from asking again soon.
	f.unloadAt = max(f.parkLimit, f.parked+f.parkLimit/2)
	return f.err
}

func (f *Frontier) unloadParty(w *runWriter, p *party, keep int) error {
	f.leave(p)
	f.parked -= len(p.queue)
	byRank(p.queue)
	w.begin(f.parkBlock)
	kept := 0
	for _, e := range p.queue {
		switch {
		case !f.current(&e):
		case kept < keep:
			p.queue[kept] = e
			kept++
		default:
			if err := w.add(e); err != nil {
				return err
			}
		}
	}
	return f.exchange(p, slices.Clone(p.queue[:kept]), w) // a copy: the room of the others is the aim
}
