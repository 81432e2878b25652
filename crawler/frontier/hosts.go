package frontier

import (
	"hash/maphash"
	"slices"
	"time"
)

// hosts is the table of hosts: which are one party, in use or resting, and what waits at
// each. Its heaps say whose turn it is. What says nothing is not kept.
type hosts struct {
	seed    maphash.Seed // of host names; nothing depends on it but the numbers
	parties map[Host]*party
	own     map[Host]*backQueue // of hosts that rest longer than their party
	at      map[Host]Host       // a host → the key of the address that it is at
	made    int                 // back queues so far
	floor   time.Time           // until then every host rests

	ready          heap[*party]     // free, rest over, something to be had: by its best URL
	restingParties heap[*party]     // free, rest not over, something to be had then: by its end
	idleParties    heap[*party]     // the same with nothing
	resting        heap[*backQueue] // the host's own rest is not over, something parked: by its end
	idle           heap[*backQueue] // the same with nothing parked

	room room  // for what is parked
	err  error // the first of the disk
}

func newHosts(r room) hosts {
	return hosts{
		seed:    maphash.MakeSeed(),
		parties: map[Host]*party{}, own: map[Host]*backQueue{}, at: map[Host]Host{},
		ready: heap[*party]{
			less:  func(a, b *party) bool { return a.best().before(b.best()) },
			place: func(p *party) *int { return &p.place },
		},
		restingParties: newRestingParties(), idleParties: newRestingParties(),
		resting: newRestingQueues(), idle: newRestingQueues(),
		room: r,
	}
}

func (t *hosts) number(name string) Host { return Host(maphash.String(t.seed, name)) }

// addressKey is the key of an address. It equals that of a host as seldom as two hosts'
// are equal.
func (t *hosts) addressKey(address string) Host { return t.number("@" + address) }

// find returns the key of a host's party: that of its address, or the host itself
// while no address is known.
func (t *hosts) find(h Host) Host {
	if key, ok := t.at[h]; ok {
		return key
	}
	return h
}

// party returns the party of a host, made when it is not in memory.
func (t *hosts) party(h Host) *party { return t.partyBy(t.find(h)) }

func (t *hosts) partyBy(key Host) *party {
	p, ok := t.parties[key]
	if !ok {
		t.made++
		p = &party{key: key, common: backQueue{host: key, made: t.made}, ready: newReadyQueues()}
		p.common.of = p
		t.parties[key] = p
	}
	return p
}

// queueOf returns where a host's URLs are parked.
func (t *hosts) queueOf(h Host) *backQueue {
	if q := t.home(h); q != nil {
		return q
	}
	return &t.party(h).common
}

// home returns the back queue of a host; nil when it is not in memory.
func (t *hosts) home(h Host) *backQueue {
	if q := t.own[h]; q != nil {
		return q
	}
	if p := t.parties[t.find(h)]; p != nil {
		return &p.common
	}
	return nil
}

// holder returns the back queue in which URLs of a host are parked; nil when none are.
func (t *hosts) holder(h Host) *backQueue {
	if q := t.home(h); q != nil && q.holds() {
		return q
	}
	return nil
}

// holders returns the back queues with something parked, in the order of a URL of theirs:
// that of a map, or of host numbers, would differ from process to process.
func (t *hosts) holders() []*backQueue {
	var all []*backQueue
	for _, q := range t.own {
		if q.holds() {
			all = append(all, q)
		}
	}
	for _, p := range t.parties {
		if p.common.holds() {
			all = append(all, &p.common)
		}
	}
	slices.SortFunc(all, byFirst)
	return all
}

// partyOf returns the party of a back queue.
func (t *hosts) partyOf(q *backQueue) *party {
	if q.of != nil {
		return q.of
	}
	return t.party(q.host)
}

// there says whether a back queue is still what its host's URLs are parked in.
func (t *hosts) there(q *backQueue) bool {
	if q.of != nil {
		return t.parties[q.of.key] == q.of
	}
	return t.own[q.host] == q
}

// settle puts a back queue where it belongs after any change: with the ready ones of its
// party, with those that rest, or out of memory.
func (t *hosts) settle(q *backQueue) {
	p := t.partyOf(q)
	q.out = false
	var want *heap[*backQueue]
	switch {
	case !q.until.IsZero() && q.holds():
		want = &t.resting
	case !q.until.IsZero():
		want = &t.idle
	case q.holds():
		if t.err == nil {
			t.err = t.room.load(q)
		}
		if t.err != nil {
			return
		}
		want = &p.ready
	case q.of == nil:
		delete(t.own, q.host)
	}
	q.heap = moveTo(q, q.heap, want)
	t.settleParty(p)
}

// settleParty puts a party where it belongs after any change: with the ready ones,
// with the resting ones, nowhere while it is in use, or out of memory.
func (t *hosts) settleParty(p *party) {
	var want *heap[*party]
	switch {
	case p.busy:
	case !p.until.IsZero() && p.ready.len() > 0:
		want = &t.restingParties
	case !p.until.IsZero():
		want = &t.idleParties
	case p.ready.len() > 0:
		want = &t.ready
	case !p.common.holds() && !p.common.out:
		delete(t.parties, p.key)
	}
	p.heap = moveTo(p, p.heap, want)
}

// leave takes a back queue out of its heap, for a change of what it holds; settle puts it
// back.
func (t *hosts) leave(q *backQueue) {
	q.out = true
	if q.heap == nil {
		return
	}
	q.heap = moveTo(q, q.heap, nil)
	t.settleParty(t.partyOf(q))
}

// park puts an entry aside until its host may be fetched.
func (t *hosts) park(q *backQueue, e entry) {
	t.room.push(q, e)
	t.settle(q)
}

// best returns the ready party with the best URL, nil when none is ready.
func (t *hosts) best() *party {
	if t.ready.len() == 0 {
		return nil
	}
	return t.ready.top()
}

// pop takes the best entry of a ready party.
func (t *hosts) pop(p *party) entry {
	q := p.ready.top()
	e := t.room.pop(q)
	t.settle(q)
	return e
}

// move makes a host one of the party with this key, with what is parked for it.
func (t *hosts) move(h, to Host) {
	from := t.find(h)
	if from == to {
		return
	}
	old, own := t.parties[from], t.own[h]
	if own != nil {
		t.leave(own)
	}
	if t.at[h] = to; to == h {
		delete(t.at, h)
	}
	if own != nil {
		t.settle(own)
	}
	if old == nil {
		return
	}
	t.rest(h, old.until) // which was for its sake perhaps
	if from == h {       // all that is parked there is the host's
		c, into := &old.common, t.queueOf(h)
		t.leave(c)
		for _, e := range c.queue {
			into.queue.push(e)
		}
		into.runs = append(into.runs, c.runs...)
		c.queue, c.runs = nil, nil
		t.settle(into)
		t.settle(c)
	}
}
