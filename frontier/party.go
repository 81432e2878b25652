package frontier

import (
	"hash/maphash"
	"time"
)

// party is what is polite to treat as one: a host, or all hosts at one address
// (paper E). One request at a time is made at it, and it rests after each. It is in
// memory while it is in use, rests, or has URLs that could be fetched.
type party struct {
	key    Host // a host, or an address; see find
	common lane // of the hosts that have no rest of their own
	busy   bool
	until  time.Time     // end of its rest; zero when over
	ready  heap[*lane]   // of its lanes, those that have URLs and rest no more: by best URL
	heap   *heap[*party] // ready, restingParties, idleParties, or nil when busy
	place  int           // in that heap
}

func newRestingParties() heap[*party] {
	return heap[*party]{
		less:  func(a, b *party) bool { return a.until.Before(b.until) },
		place: func(p *party) *int { return &p.place },
	}
}

// best is the first entry that p would give; it has one.
func (p *party) best() *entry { return &p.ready.top().queue[0] }

// find returns the key of a host's party: that of its address, or the host itself
// while no address is known.
func (f *Frontier) find(h Host) Host {
	if key, ok := f.at[h]; ok {
		return key
	}
	return h
}

// party returns the party of a host, made when it is not in memory.
func (f *Frontier) party(h Host) *party { return f.partyBy(f.find(h)) }

func (f *Frontier) partyBy(key Host) *party {
	p, ok := f.parties[key]
	if !ok {
		f.made++
		p = &party{key: key, common: lane{host: key, made: f.made}, ready: newReadyLanes()}
		p.common.of = p
		f.parties[key] = p
	}
	return p
}

// Join says at which address a host is: from now on it is one party with the
// others there, at most one of them is in use, and the party rests as a whole. What
// the host itself rests longer, see Rest, it takes along. The host must not be in
// use: its Done would end the use of another.
func (f *Frontier) Join(h Host, address string) {
	f.move(h, f.addressKey(address))
}

// addressKey is the key of an address. It equals that of a host as seldom as two hosts'
// are equal.
func (f *Frontier) addressKey(address string) Host { return Host(maphash.String(f.seed, "@"+address)) }

// Leave says that nobody knows any more at which address a host is. The host must
// not be in use.
func (f *Frontier) Leave(h Host) { f.move(h, h) }

func (f *Frontier) move(h, to Host) {
	from := f.find(h)
	if from == to {
		return
	}
	old, own := f.parties[from], f.lanes[h]
	if own != nil {
		f.leave(own)
	}
	if f.at[h] = to; to == h {
		delete(f.at, h)
	}
	if own != nil {
		f.settle(own)
	}
	if old == nil {
		return
	}
	f.Rest(h, old.until) // which was for its sake perhaps
	if from == h {       // all that is parked there is the host's
		c, into := &old.common, f.laneOf(h)
		f.leave(c)
		for _, e := range c.queue {
			into.queue.push(e)
		}
		into.runs = append(into.runs, c.runs...)
		c.queue, c.runs = nil, nil
		f.settle(into)
		f.settle(c)
	}
}

// RestAddress makes all hosts at an address rest until the given time at least, also
// those that will be found there.
func (f *Frontier) RestAddress(address string, until time.Time) {
	p := f.partyBy(f.addressKey(address))
	p.until = later(p.until, until)
	f.settleParty(p)
}

// RestAll makes every host rest until the given time at least, also those not
// heard of yet.
func (f *Frontier) RestAll(until time.Time) { f.floor = later(f.floor, until) }

// Take marks a host as in use outside Next, on behalf of another host that is
// in use already: it succeeds when the host is free and rested, or has rested and
// is one party with the other. Done ends it as usual.
func (f *Frontier) Take(h, onBehalf Host, now time.Time) bool {
	if f.find(h) == f.find(onBehalf) {
		return h == onBehalf || f.rested(h, now)
	}
	return f.Claim(h, now)
}

// Claim marks a host as in use outside Next, for an exchange that is for no queued
// URL: it succeeds when the host is free and rested. Done ends it as usual.
func (f *Frontier) Claim(h Host, now time.Time) bool {
	p := f.party(h)
	free := !p.busy && !p.until.After(now) && !f.floor.After(now) && f.rested(h, now)
	p.busy = p.busy || free
	f.settleParty(p)
	return free
}

// Until returns when a host's rest is over, and that of its party: a time that may
// be past. A host in use is not looked at.
func (f *Frontier) Until(h Host) time.Time {
	until := f.floor
	if p := f.parties[f.find(h)]; p != nil {
		until = later(until, p.until)
	}
	if l := f.lanes[h]; l != nil {
		until = later(until, l.until)
	}
	return until
}

// OneParty says whether two hosts are treated as one.
func (f *Frontier) OneParty(a, b Host) bool { return f.find(a) == f.find(b) }

// settleParty puts a party where it belongs after any change: with the ready ones,
// with the resting ones, nowhere while it is in use, or out of memory.
func (f *Frontier) settleParty(p *party) {
	var want *heap[*party]
	switch {
	case p.busy:
	case !p.until.IsZero() && p.ready.len() > 0:
		want = &f.restingParties
	case !p.until.IsZero():
		want = &f.idleParties
	case p.ready.len() > 0:
		want = &f.ready
	case !p.common.holds() && !p.common.out:
		delete(f.parties, p.key)
	}
	if p.heap == want && want != nil {
		want.fix(p)
		return
	}
	if p.heap != nil {
		p.heap.remove(p)
		p.heap = nil
	}
	if want != nil {
		want.push(p)
		p.heap = want
	}
}
