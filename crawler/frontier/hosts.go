package frontier

import (
	"cmp"
	"fossick/internal/heap"
	"hash/maphash"
	"slices"
	"time"
)

// hosts is the table of hosts: their parties, uses, rests and parked URLs. Its heaps give the
// next party. It keeps no default state.
type hosts struct {
	seed    maphash.Seed // of host names; only the numbers depend on it
	parties map[Host]*party
	own     map[Host]*backQueue // of hosts that rest longer than their party
	at      map[Host]Host       // a host → the key of its address
	made    int                 // back queues made so far
	floor   time.Time           // every host rests until then

	ready          heap.Heap[*party]     // free, rested, with a URL: by its best URL
	restingParties heap.Heap[*party]     // free, resting, with a URL then: by the end of the rest
	idleParties    heap.Heap[*party]     // the same without URLs
	resting        heap.Heap[*backQueue] // the host's own rest goes on, with URLs: by its end
	idle           heap.Heap[*backQueue] // the same without URLs

	room room  // for parked URLs
	err  error // first error of the disk
}

func newHosts(r room) hosts {
	return hosts{
		seed:    maphash.MakeSeed(),
		parties: map[Host]*party{}, own: map[Host]*backQueue{}, at: map[Host]Host{},
		ready: heap.Heap[*party]{
			Before: func(a, b *party) bool { return a.best().before(b.best()) },
			Place:  func(p *party) *int32 { return &p.place },
		},
		restingParties: newRestingParties(), idleParties: newRestingParties(),
		resting: newRestingQueues(), idle: newRestingQueues(),
		room: r,
	}
}

func (t *hosts) number(name string) Host { return Host(maphash.String(t.seed, name)) }

// addressKey returns the key of an address. A collision with a host's is as rare as between
// two hosts.
func (t *hosts) addressKey(address string) Host { return t.number("@" + address) }

// find returns the key of a host's party: its address, or the host itself while no address is
// known.
func (t *hosts) find(h Host) Host {
	if key, ok := t.at[h]; ok {
		return key
	}
	return h
}

// party returns the party of a host, new if it is not in memory.
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

// queueOf returns the queue in which a host's URLs are parked.
func (t *hosts) queueOf(h Host) *backQueue {
	if q := t.home(h); q != nil {
		return q
	}
	return &t.party(h).common
}

// home returns a host's back queue; nil when it is not in memory.
func (t *hosts) home(h Host) *backQueue {
	if q := t.own[h]; q != nil {
		return q
	}
	if p := t.parties[t.find(h)]; p != nil {
		return &p.common
	}
	return nil
}

// holder returns the back queue that holds URLs of a host; nil when none does.
func (t *hosts) holder(h Host) *backQueue {
	if q := t.home(h); q != nil && q.holds() {
		return q
	}
	return nil
}

// holders returns the back queues that hold URLs, ordered by a URL: the order of a map or of
// host numbers differs between processes.
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

func (t *hosts) partyOf(q *backQueue) *party {
	if q.of != nil {
		return q.of
	}
	return t.party(q.host)
}

// there reports whether a back queue is still in use by its host.
func (t *hosts) there(q *backQueue) bool {
	if q.of != nil {
		return t.parties[q.of.key] == q.of
	}
	return t.own[q.host] == q
}

// settle moves a back queue to its place after a change: its party's ready ones, the resting
// ones, or out of memory.
func (t *hosts) settle(q *backQueue) {
	p := t.partyOf(q)
	q.out = false
	var want *heap.Heap[*backQueue]
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

// settleParty moves a party to its place after a change: ready, resting, none while it is in
// use, or out of memory.
func (t *hosts) settleParty(p *party) {
	var want *heap.Heap[*party]
	switch {
	case p.busy:
	case !p.until.IsZero() && p.ready.Len() > 0:
		want = &t.restingParties
	case !p.until.IsZero():
		want = &t.idleParties
	case p.ready.Len() > 0:
		want = &t.ready
	case !p.common.holds() && !p.common.out:
		delete(t.parties, p.key)
	}
	p.heap = moveTo(p, p.heap, want)
}

// leave takes a back queue out of its heap for a change; settle puts it back.
func (t *hosts) leave(q *backQueue) {
	q.out = true
	if q.heap == nil {
		return
	}
	q.heap = moveTo(q, q.heap, nil)
	t.settleParty(t.partyOf(q))
}

// park parks an entry until its host may be fetched.
func (t *hosts) park(q *backQueue, e entry) {
	t.room.push(q, e)
	t.settle(q)
}

// best returns the ready party with the best URL; nil when none is ready.
func (t *hosts) best() *party {
	if t.ready.Len() == 0 {
		return nil
	}
	return t.ready.Top()
}

// pop removes the best entry of a ready party.
func (t *hosts) pop(p *party) entry {
	q := p.ready.Top()
	e := t.room.pop(q)
	t.settle(q)
	return e
}

// move assigns a host, with its parked URLs, to the party with this key.
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
	t.rest(h, old.until) // this host may have caused that rest
	if from == h {       // all its URLs are the host's
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

// A party is treated as one for politeness: a host, or all hosts at one address (paper E). It
// gets one request at a time and rests after each. It is in memory while it is in use, rests,
// or has URLs to fetch.
type party struct {
	key    Host      // a host, or an address; see hosts.find
	common backQueue // of the hosts without a rest of their own
	busy   bool
	until  time.Time             // end of its rest; zero when over
	ready  heap.Heap[*backQueue] // its back queues that have URLs and are rested: by best URL
	heap   *heap.Heap[*party]    // ready, restingParties, idleParties, or nil while in use
	place  int32
}

func newRestingParties() heap.Heap[*party] {
	return heap.Heap[*party]{
		Before: func(a, b *party) bool { return a.until.Before(b.until) },
		Place:  func(p *party) *int32 { return &p.place },
	}
}

// best returns p's first entry; p must have one.
func (p *party) best() *entry { return &p.ready.Top().queue[0] }

// each calls do for the table of hosts of each order.
func (f *Frontier) each(do func(t *hosts)) {
	do(&f.hosts)
	for _, o := range f.also {
		do(&o.hosts)
	}
}

// Done ends the use of a host that Next gave; its party rests until the given time. Rest sets
// a longer rest of the host itself.
func (f *Frontier) Done(host Host, until time.Time) {
	f.each(func(t *hosts) { t.done(host, until) })
}

// Rest lets a host rest until the given time at least, with or without URLs. It does not bind
// other hosts at its address.
func (f *Frontier) Rest(h Host, until time.Time) {
	f.each(func(t *hosts) { t.rest(h, until) })
}

// RestInDoubt is Rest for a host that failed and may not answer afterwards; Survey leaves it
// out until the rest is over.
func (f *Frontier) RestInDoubt(h Host, until time.Time) {
	f.each(func(t *hosts) { t.restInDoubt(h, until) })
}

// RestAddress lets all hosts at an address rest until the given time at least, including hosts
// found there later.
func (f *Frontier) RestAddress(address string, until time.Time) {
	f.each(func(t *hosts) { t.restAddress(address, until) })
}

// RestAll lets every host rest until the given time at least, including new ones.
func (f *Frontier) RestAll(until time.Time) {
	f.each(func(t *hosts) { t.floor = later(t.floor, until) })
}

// Until returns the end of the rest of a host and its party, which may be past. It ignores
// whether the host is in use.
func (f *Frontier) Until(h Host) time.Time { return f.hosts.until(h) }

// Join assigns a host to an address. It is then one party with the other hosts there: at most
// one of them is in use, and the party rests as a whole. The host keeps its own longer rest.
// The host must not be in use: its Done would end another's use.
func (f *Frontier) Join(h Host, address string) { f.move(h, f.hosts.addressKey(address)) }

// Leave forgets a host's address. The host must not be in use.
func (f *Frontier) Leave(h Host) { f.move(h, h) }

func (f *Frontier) move(h, to Host) {
	f.each(func(t *hosts) { t.move(h, to) })
}

// OneParty reports whether two hosts are one party.
func (f *Frontier) OneParty(a, b Host) bool { return f.hosts.find(a) == f.hosts.find(b) }

// Take marks a host as in use outside Next, on behalf of another host in use. It succeeds when
// the host is free and rested, or is rested and of the other's party. Done ends it as usual.
func (f *Frontier) Take(h, onBehalf Host, now time.Time) bool {
	if f.OneParty(h, onBehalf) {
		return h == onBehalf || f.hosts.rested(h, now)
	}
	return f.Claim(h, now)
}

// Claim marks a host as in use outside Next, for an exchange without a queued URL. It succeeds
// when the host is free and rested. Done ends it as usual.
func (f *Frontier) Claim(h Host, now time.Time) bool {
	free := f.hosts.claim(h, now)
	for _, o := range f.also {
		if free {
			o.hosts.use(o.hosts.party(h))
		}
	}
	return free
}

// Resting counts the resting parties, and hosts with their own rest, that have URLs.
func (f *Frontier) Resting() int { return f.hosts.restingParties.Len() + f.hosts.resting.Len() }

// unload writes back queues to disk until half of the room is free. The largest go first, and
// each keeps its best URLs, in the worst case one. hold forbids merging runs now.
func (t *hosts) unload(current func(*entry) bool, hold bool) error {
	r := &t.room
	if !hold && r.files.crowded(r.onDisk) {
		if err := t.repack(current, current); err != nil {
			return err
		}
	}
	queues := t.holders()
	slices.SortStableFunc(queues, func(a, b *backQueue) int { return cmp.Compare(len(b.queue), len(a.queue)) })
	_, err := r.files.write(func(w *runWriter) error {
		for _, keep := range []int{parkBest, 1} {
			for _, q := range queues {
				if r.inMemory <= r.limit/2 || len(q.queue) < 2*keep {
					continue
				}
				t.leave(q)
				if err := r.unload(w, q, keep, current); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, q := range queues {
		t.settle(q)
	}
	// When every queue has one URL, asking again soon gains nothing.
	r.unloadAt = max(r.limit, r.inMemory+r.limit/2)
	return t.err
}

// repack calls keep for every parked entry, queue by queue in order of rank, and merges a
// queue's runs into one. All current entries of a moved host stay: a better copy may be
// elsewhere.
func (t *hosts) repack(keep, current func(*entry) bool) error {
	queues := t.holders()
	for _, q := range queues {
		t.leave(q)
	}
	pack := func(w *runWriter) error {
		for _, q := range queues {
			wanted := func(e *entry) bool {
				if t.home(e.host) != q {
					return current(e)
				}
				return keep(e)
			}
			if err := t.room.repack(w, q, wanted); err != nil {
				return err
			}
		}
		return nil
	}
	var err error
	if t.room.onDisk == 0 {
		err = pack(nil)
	} else {
		_, err = t.room.files.write(pack)
	}
	if err != nil {
		return err
	}
	for _, q := range queues {
		t.settle(q)
	}
	return t.err
}

// bits is a set of URLs by number, in pages made as the numbers grow. The zero value is empty.
type bits struct{ pages []*[bitsPage]uint64 }

const bitsPage = 1024 // words: 65,536 URLs, 8 KiB

func (b *bits) has(id ID) bool {
	page, word, mask := place(id)
	return page < len(b.pages) && b.pages[page] != nil && b.pages[page][word]&mask != 0
}

// add returns false when id was in the set already.
func (b *bits) add(id ID) bool {
	page, word, mask := place(id)
	for page >= len(b.pages) {
		b.pages = append(b.pages, nil)
	}
	if b.pages[page] == nil {
		b.pages[page] = new([bitsPage]uint64)
	}
	p := &b.pages[page][word]
	if *p&mask != 0 {
		return false
	}
	*p |= mask
	return true
}

func (b *bits) remove(id ID) {
	if page, word, mask := place(id); page < len(b.pages) && b.pages[page] != nil {
		b.pages[page][word] &^= mask
	}
}

func place(id ID) (page, word int, mask uint64) {
	return int(id / (64 * bitsPage)), int(id / 64 % bitsPage), 1 << (id % 64)
}
