package frontier

import (
	"hash/maphash"
	"math"
	"time"
)

// ID numbers URLs in the order of their discovery, from 1, without large gaps. Of
// two URLs with equal priority the one discovered first leaves first.
type ID uint64

// Host names a host (name:port) within one frontier; see Frontier.Host.
type Host uint64

// Item is a queued URL.
type Item struct {
	ID       ID
	Host     Host    // the same whenever this URL is pushed
	Priority float64 // larger is fetched sooner; NaN counts as -Inf
	Key      uint64  // the caller's own, for Reprioritise
}

// Options say how a frontier overflows; the zero value keeps all in memory.
type Options struct {
	// Dir is the folder of the scratch files, made when memory is full for the
	// first time. It must be this frontier's own.
	Dir string
	// Memory is about how many URLs stay in memory [262144], at 32 bytes each;
	// half as many again may be parked at hosts that cannot be fetched.
	Memory int
	// Expect is told of queued URLs, by key and priority, that Reprioritise and Renew
	// are likely to ask about next, some at a time. What is known of them can then be
	// asked for together. Nil is for nobody.
	Expect func(key uint64, was float64)
}

const defaultMemory = 1 << 18

// Frontier is the queue of a crawl.
type Frontier struct {
	seed maphash.Seed // of host names; nothing depends on it but Host's numbers
	err  error        // the first of the disk
	n    int          // queued URLs

	expect func(key uint64, was float64) // see Options; nil for nobody

	tail tail // what is in no party

	parties map[Host]*party // by key
	lanes   map[Host]*lane  // hosts' own
	made    int             // lanes so far
	at      map[Host]Host   // a host → the key of the address that it is at
	floor   time.Time       // until then every host rests
	ready   heap[*party]    // free, rest over, something to be had: by its best URL

	restingParties heap[*party] // free, rest not over, something to be had then: by its end
	idleParties    heap[*party] // the same with nothing
	resting        heap[*lane]  // the host's own rest is not over, something parked: by its end
	idle           heap[*lane]  // the same with nothing parked

	parked     int // URLs in the lanes' memory
	parkLimit  int
	unloadAt   int     // parked URLs from which the lanes are unloaded
	parkOnDisk int     // URLs in the lanes' runs
	parkFiles  scratch // and their files
	parkBlock  int     // entries a block of these

	queued   bits           // URLs that wait
	copied   bits           // URLs that may have more than one entry
	set      map[ID]float64 // priorities of copied URLs that were set by Push
	setLimit int
	slack    int   // entries more than needed that never cause a sweep
	pass     *pass // of Renew, while one goes on
}

// New returns an empty frontier. It removes what an earlier process left in the
// folder.
func New(opt Options) (*Frontier, error) {
	f := &Frontier{
		seed:    maphash.MakeSeed(),
		parties: map[Host]*party{}, lanes: map[Host]*lane{}, at: map[Host]Host{},
		set: map[ID]float64{}, expect: opt.Expect,
		ready: heap[*party]{
			less:  func(a, b *party) bool { return a.best().before(b.best()) },
			place: func(p *party) *int { return &p.place },
		},
		restingParties: newRestingParties(), idleParties: newRestingParties(),
		resting: newRestingLanes(), idle: newRestingLanes(),
	}
	memory := opt.Memory
	if memory <= 0 {
		memory = defaultMemory
	}
	memory = max(memory, 8) // halves and quarters of it must be something
	f.setLimit, f.parkLimit, f.slack = memory/2, memory/2, 2*memory
	f.unloadAt = f.parkLimit
	f.tail = tail{
		scratch: newScratch(opt.Dir, "tail-"), limit: memory, merge: newMerge(), block: tailBlock, maxRuns: maxRuns,
	}
	f.parkFiles, f.parkBlock = newScratch(opt.Dir, "parked-"), parkBlock
	if opt.Dir == "" {
		f.tail.limit, f.unloadAt = memoryOnly, memoryOnly
		return f, nil
	}
	for _, s := range []*scratch{&f.tail.scratch, &f.parkFiles} {
		if err := s.clear(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Close removes the scratch files.
func (f *Frontier) Close() error {
	if err := f.tail.scratch.close(); err != nil {
		return err
	}
	return f.parkFiles.close()
}

// Err returns the first error of the disk. After one the frontier gives nothing
// any more and must be made anew from the journal.
func (f *Frontier) Err() error { return f.err }

// Len returns the number of queued URLs; one handed out by Next is not queued.
func (f *Frontier) Len() int { return f.n }

// Queued says whether a URL waits.
func (f *Frontier) Queued(id ID) bool { return f.queued.has(id) }

// Spilled says whether URLs are on disk, so that a change of priority costs a
// copy there.
func (f *Frontier) Spilled() bool { return f.tail.onDisk+f.parkOnDisk > 0 }

// Host returns the number of a host by its name:port. The numbers of another
// frontier, or another process, are others.
func (f *Frontier) Host(name string) Host { return Host(maphash.String(f.seed, name)) }

// Push queues a URL. One that is queued already takes the new priority, be it
// higher or lower.
func (f *Frontier) Push(it Item) {
	e := it.entry()
	known := !f.queued.add(it.ID)
	if !known {
		f.n++
	}
	if known || f.copied.has(it.ID) { // there may be other entries, of any priority
		if p, ok := f.set[it.ID]; ok && p == e.priority && known {
			return
		}
		f.copied.add(it.ID)
		f.set[it.ID] = e.priority
	}
	f.insert(e)
}

// Raise is Push for a priority that counts only when it is the better one: a
// queued URL keeps the higher of both (increase-key). It needs to know nothing of
// the entry that there is: the higher of the two comes first.
func (f *Frontier) Raise(it Item) {
	if !f.queued.has(it.ID) {
		f.Push(it)
		return
	}
	e := it.entry()
	if p, ok := f.set[it.ID]; ok {
		if e.priority <= p {
			return
		}
		f.set[it.ID] = e.priority
	}
	f.copied.add(it.ID)
	f.insert(e)
}

func (it Item) entry() entry {
	if math.IsNaN(it.Priority) {
		it.Priority = math.Inf(-1)
	}
	return entry{id: it.ID, priority: it.Priority, host: it.Host, key: it.Key}
}

// insert adds an entry: to the host's lane when others are parked there, it
// would only follow them; else to the tail.
func (f *Frontier) insert(e entry) {
	if f.err != nil {
		return
	}
	if f.pass != nil {
		f.pass.seen.remove(e.id) // this copy may be the better one, or the only one
	}
	if l := f.holder(e.host); l != nil {
		f.park(l, e)
	} else {
		f.err = f.tail.push(e, f.current)
	}
	f.tidy()
}

// current says whether an entry is the one that counts for its URL. Of a URL whose
// priority was only raised all are, and the best comes first.
func (f *Frontier) current(e *entry) bool {
	if !f.queued.has(e.id) {
		return false
	}
	if !f.copied.has(e.id) {
		return true
	}
	p, ok := f.set[e.id]
	return !ok || p == e.priority
}

// Next hands out the best URL that may be fetched at time now and marks its
// host as in use until Done. It returns false when there is none, see Wake, and
// after an error, see Err; also when it has put aside so many URLs of hosts that
// may not be fetched that the caller should look at what else there is to do: then
// Wake says at once.
func (f *Frontier) Next(now time.Time) (Item, bool) {
	if now.Before(f.floor) {
		return Item{}, false
	}
	f.wakeAll(now)
	for parks := 0; parks < parksATurn && f.err == nil; {
		e, ok := f.best()
		if !ok {
			break
		}
		if !f.current(&e) {
			continue
		}
		p := f.party(e.host)
		if p.busy || !p.until.IsZero() || !f.rested(e.host, now) {
			f.park(f.laneOf(e.host), e)
			parks++
			continue
		}
		f.queued.remove(e.id)
		f.n--
		p.busy = true
		f.settleParty(p)
		return Item{ID: e.id, Host: e.host, Priority: e.priority, Key: e.key}, true
	}
	return Item{}, false
}

// best takes the best entry of the tail and of the ready parties. Nothing that is parked
// elsewhere may be fetched now.
func (f *Frontier) best() (e entry, ok bool) {
	top := f.tail.top()
	if f.ready.len() > 0 {
		if p := f.ready.top(); top == nil || p.best().before(top) {
			l := p.ready.top()
			f.parked--
			e = l.queue.pop()
			f.settle(l)
			return e, true
		}
	}
	if top == nil {
		return e, false
	}
	e, f.err = f.tail.pop()
	return e, f.err == nil
}

// Done ends the use of a host that Next gave; its party rests until the given time.
// What the host itself is to rest longer is told by Rest.
func (f *Frontier) Done(host Host, until time.Time) {
	p := f.party(host)
	p.busy = false
	p.until = later(p.until, until)
	f.settleParty(p)
}

// Wake returns the earliest end of a rest, when Next has nothing to give; false
// when no rest will bring anything and only Done or Push can.
func (f *Frontier) Wake() (time.Time, bool) {
	if f.ready.len()+f.tail.len() > 0 { // only the floor holds these back
		return f.floor, true
	}
	var first time.Time
	if f.restingParties.len() > 0 {
		first = f.restingParties.top().until
	}
	if f.resting.len() > 0 {
		if l := f.resting.top(); first.IsZero() || l.until.Before(first) {
			first = l.until // its party may rest longer
		}
	}
	if first.IsZero() {
		return first, false
	}
	return later(first, f.floor), true
}

// Resting counts the parties, and the hosts by themselves, that have URLs and rest.
func (f *Frontier) Resting() int { return f.restingParties.len() + f.resting.len() }

// wakeAll makes ready what has rested, and forgets what has nothing parked.
func (f *Frontier) wakeAll(now time.Time) {
	for _, h := range []*heap[*party]{&f.restingParties, &f.idleParties} {
		for h.len() > 0 && !h.top().until.After(now) {
			p := h.top()
			p.until = time.Time{}
			f.settleParty(p)
		}
	}
	for _, h := range []*heap[*lane]{&f.resting, &f.idle} {
		for h.len() > 0 && !h.top().until.After(now) {
			l := h.top()
			l.until = time.Time{}
			f.settle(l)
		}
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
