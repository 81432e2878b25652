package frontier

import (
	"math"
	"strconv"
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
	// Orders is in how many orders the URLs wait at once [1]; see Frontier.Order. They
	// share the memory.
	Orders int
}

const defaultMemory = 1 << 18

// Frontier is the queue of a crawl.
type Frontier struct {
	urls  waiting // which URLs wait
	tail  tail    // their entries, in order of rank, but for those parked at hosts
	hosts hosts   // whose turn it is, and what is parked
	err   error   // the first of the tail's disk

	also []*Frontier // the further orders, of the same URLs and hosts
	turn *Frontier   // the order that Next goes by, this one or one of those

	slack  int    // entries more than needed that never cause a sweep
	pass   *pass  // of Renew, while one goes on
	survey survey // room for Survey
}

// New returns an empty frontier. It removes what an earlier process left in the
// folder.
func New(opt Options) (*Frontier, error) {
	memory := opt.Memory
	if memory <= 0 {
		memory = defaultMemory
	}
	orders := max(1, opt.Orders)
	memory = max(memory/orders, 8) // halves and quarters of it must be something
	f, err := newOrder(opt.Dir, "", memory)
	if err != nil {
		return nil, err
	}
	for i := 1; i < orders; i++ {
		o, err := newOrder(opt.Dir, strconv.Itoa(i)+"-", memory)
		if err != nil {
			return nil, err
		}
		o.hosts.seed = f.hosts.seed
		f.also = append(f.also, o)
	}
	return f, nil
}

// newOrder returns a frontier of one order; prefix is of its files' names.
func newOrder(dir, prefix string, memory int) (*Frontier, error) {
	f := &Frontier{
		urls: waiting{set: map[ID]float64{}, setLimit: memory / 2},
		tail: tail{
			scratch: newScratch(dir, "tail-"+prefix), limit: memory, merge: newMerge(), block: tailBlock, maxRuns: maxRuns,
		},
		hosts: newHosts(room{
			limit: memory / 2, unloadAt: memory / 2, files: newScratch(dir, "parked-"+prefix), block: parkBlock,
		}),
		slack: 2 * memory,
	}
	f.turn = f
	if dir == "" {
		f.tail.limit, f.hosts.room.unloadAt = memoryOnly, memoryOnly
		return f, nil
	}
	for _, s := range []*scratch{&f.tail.scratch, &f.hosts.room.files} {
		if err := s.clear(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// Close removes the scratch files.
func (f *Frontier) Close() error {
	for _, o := range f.also {
		if err := o.Close(); err != nil {
			return err
		}
	}
	if err := f.tail.scratch.close(); err != nil {
		return err
	}
	return f.hosts.room.files.close()
}

// Err returns the first error of the disk. After one the frontier gives nothing
// any more and must be made anew from the journal.
func (f *Frontier) Err() error {
	for _, o := range f.also {
		if err := o.Err(); err != nil {
			return err
		}
	}
	if f.err != nil {
		return f.err
	}
	return f.hosts.err
}

// Len returns the number of queued URLs; one handed out by Next is not queued.
func (f *Frontier) Len() int { return f.urls.n }

// Queued says whether a URL waits.
func (f *Frontier) Queued(id ID) bool { return f.urls.queued.has(id) }

// Spilled says whether URLs are on disk, so that a change of priority costs a
// copy there.
func (f *Frontier) Spilled() bool { return f.tail.onDisk+f.hosts.room.onDisk > 0 }

// Host returns the number of a host by its name:port. The numbers of another
// frontier, or another process, are others.
func (f *Frontier) Host(name string) Host { return f.hosts.number(name) }

// Push queues a URL. One that is queued already takes the new priority, be it
// higher or lower. also are its priorities in the further orders; one that is missing
// is that of the first.
func (f *Frontier) Push(it Item, also ...float64) {
	f.Set(it)
	first := it.Priority
	for i, o := range f.also {
		if it.Priority = first; i < len(also) {
			it.Priority = also[i]
		}
		o.Set(it)
	}
}

// Set is Push of a queued URL in this order alone.
func (f *Frontier) Set(it Item) {
	e := it.entry()
	if f.urls.push(&e) {
		f.insert(e)
	}
}

// Raise is Set for a priority that counts only when it is the better one: a
// queued URL keeps the higher of both (increase-key).
func (f *Frontier) Raise(it Item) {
	if !f.Queued(it.ID) {
		f.Push(it)
		return
	}
	e := it.entry()
	if f.urls.raise(&e) {
		f.insert(e)
	}
}

func (it Item) entry() entry {
	if math.IsNaN(it.Priority) {
		it.Priority = math.Inf(-1)
	}
	return entry{id: it.ID, priority: it.Priority, host: it.Host, key: it.Key}
}

// insert adds an entry: to the host's back queue when others are parked there, it
// would only follow them; else to the tail.
func (f *Frontier) insert(e entry) {
	if f.Err() != nil {
		return
	}
	if f.pass != nil {
		f.pass.seen.remove(e.id) // this copy may be the better one, or the only one
	}
	if q := f.hosts.holder(e.host); q != nil {
		f.park(q, e)
	} else {
		f.err = f.tail.push(e, f.urls.current)
	}
	f.tidy()
}

// park puts an entry aside, and makes room where that was the last.
func (f *Frontier) park(q *backQueue, e entry) {
	f.hosts.park(q, e)
	if f.hosts.room.full() && f.Err() == nil {
		f.err = f.hosts.unload(f.urls.current, f.tail.hold)
	}
}

// Next hands out the best URL that may be fetched at time now and marks its
// host as in use until Done. It returns false when there is none, see Wake, and
// after an error, see Err. It also does when it has put aside many URLs of
// hosts that may not be fetched, so that the caller can look at what else there
// is to do. Then Wake says at once.
func (f *Frontier) Next(now time.Time) (Item, bool) { return f.NextFrom(now, math.Inf(-1)) }

// NextFrom is Next for who wants none with a priority below the least. It then returns the
// best that there is with false, which waits on.
func (f *Frontier) NextFrom(now time.Time, least float64) (Item, bool) {
	it, ok := f.turn.nextFrom(now, least)
	if ok {
		f.taken(it)
	}
	return it, ok
}

func (f *Frontier) nextFrom(now time.Time, least float64) (Item, bool) {
	if now.Before(f.hosts.floor) {
		return Item{}, false
	}
	f.hosts.wakeAll(now)
	for parks := 0; parks < parksATurn && f.Err() == nil; {
		e, ok := f.best()
		if !ok {
			break
		}
		if !f.urls.current(&e) {
			continue
		}
		p := f.hosts.party(e.host)
		if !f.hosts.free(p, e.host, now) {
			f.park(f.hosts.queueOf(e.host), e)
			parks++
			continue
		}
		it := Item{ID: e.id, Host: e.host, Priority: e.priority, Key: e.key}
		if e.priority < least {
			f.park(f.hosts.queueOf(e.host), e)
			return it, false
		}
		f.urls.take(e.id)
		f.hosts.use(p)
		return it, true
	}
	return Item{}, false
}

// best takes the best entry of the tail and of the ready parties. Nothing that is parked
// elsewhere may be fetched now.
func (f *Frontier) best() (e entry, ok bool) {
	top := f.tail.top()
	if p := f.hosts.best(); p != nil && (top == nil || p.best().before(top)) {
		return f.hosts.pop(p), true
	}
	if top == nil {
		return e, false
	}
	e, f.err = f.tail.pop()
	return e, f.err == nil
}

// Wake returns the earliest end of a rest, when Next has nothing to give; false
// when no rest will bring anything and only Done or Push can.
func (f *Frontier) Wake() (time.Time, bool) { return f.turn.wake() }

func (f *Frontier) wake() (time.Time, bool) {
	if f.tail.len() > 0 { // only the floor holds it back
		return f.hosts.floor, true
	}
	return f.hosts.wake()
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
