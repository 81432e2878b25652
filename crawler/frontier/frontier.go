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
	Host     Host    // the same each time this URL is pushed
	Priority float64 // larger is fetched sooner; NaN counts as -Inf
	Key      uint64  // the caller's own, for Reprioritise
}

// Options say how a frontier overflows; the zero value keeps all in memory.
type Options struct {
	// Dir is this frontier's own folder for scratch files, created when memory is first full.
	Dir string
	// Memory is the approximate number of URLs in memory [262144], 32 bytes each; half as many
	// again may be parked at hosts.
	Memory int
	// Orders is the number of orders in which URLs wait [1]; see Frontier.Order. They share
	// the memory.
	Orders int
}

const defaultMemory = 1 << 18

// Frontier is the queue of a crawl.
type Frontier struct {
	urls  waiting // which URLs wait
	tail  tail    // entries in order of rank, except those parked at hosts
	hosts hosts   // uses and rests of hosts, and the parked entries
	err   error   // first error of the disk

	also []*Frontier // the further orders, of the same URLs and hosts
	turn *Frontier   // the order that Next uses

	slack  int    // superfluous entries that never cause a sweep
	pass   *pass  // of Renew, while it goes on
	survey survey // room for Survey
}

// New returns an empty frontier. It removes the files that an earlier process left in the
// folder.
func New(opt Options) (*Frontier, error) {
	memory := opt.Memory
	if memory <= 0 {
		memory = defaultMemory
	}
	orders := max(1, opt.Orders)
	memory = max(memory/orders, 8) // halves and quarters must not be empty
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

// newOrder returns a frontier of one order whose files' names begin with prefix.
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

// Err returns the first error of the disk. After it the frontier gives nothing and must be
// rebuilt from the journal.
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

// Queued reports whether a URL waits.
func (f *Frontier) Queued(id ID) bool { return f.urls.queued.has(id) }

// Spilled reports whether URLs are on disk, where a change of priority costs a copy.
func (f *Frontier) Spilled() bool { return f.tail.onDisk+f.hosts.room.onDisk > 0 }

// Host returns the number of a host by its name:port. It is valid in this frontier alone.
func (f *Frontier) Host(name string) Host { return f.hosts.number(name) }

// Push queues a URL, or gives a queued one the new priority. also holds its priorities in the
// further orders; a missing one is that of the first.
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

// Set changes a queued URL in this order alone.
func (f *Frontier) Set(it Item) {
	e := it.entry()
	if f.urls.push(&e) {
		f.insert(e)
	}
}

// Raise changes a queued URL in this order alone if the new priority is higher (increase-key).
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

// insert adds an entry to its host's back queue when others are parked there, else to the
// tail.
func (f *Frontier) insert(e entry) {
	if f.Err() != nil {
		return
	}
	if f.pass != nil {
		f.pass.seen.remove(e.id) // this copy may be better, or the only one
	}
	if q := f.hosts.holder(e.host); q != nil {
		f.park(q, e)
	} else {
		f.err = f.tail.push(e, f.urls.current)
	}
	f.tidy()
}

// park parks an entry, and makes room when memory is full.
func (f *Frontier) park(q *backQueue, e entry) {
	f.hosts.park(q, e)
	if f.hosts.room.full() && f.Err() == nil {
		f.err = f.hosts.unload(f.urls.current, f.tail.hold)
	}
}

// Next hands out the best URL that may be fetched at time now and marks its host as in use
// until Done. It returns false when there is none (see Wake), after an error (see Err), and
// after parking many URLs, so that the caller can do other work; then Wake returns a past
// time.
func (f *Frontier) Next(now time.Time) (Item, bool) { return f.NextFrom(now, math.Inf(-1)) }

// NextFrom is Next with a least priority. If the best URL is below it, NextFrom returns that
// URL with false and leaves it queued.
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

// best removes the best entry of the tail and of the ready parties. Entries parked elsewhere
// cannot be fetched now.
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

// Wake returns the earliest end of a rest when Next has nothing to give; false when only Done
// or Push can change that.
func (f *Frontier) Wake() (time.Time, bool) { return f.turn.wake() }

func (f *Frontier) wake() (time.Time, bool) {
	if f.tail.len() > 0 { // only the floor blocks it
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

// Reprioritise computes a new priority for every queued URL from its key and present priority;
// where ok is false the URL keeps it. It costs O(queue) and rewrites the files.
func (f *Frontier) Reprioritise(priority func(key uint64, was float64) (p float64, ok bool)) {
	if f.Err() != nil {
		return
	}
	f.pass = nil
	f.tail.hold = true // while all is read anew, the files seem empty and would be merged at each spill
	defer func() { f.tail.hold = false }()
	var renewed, copied bits
	change := func(e *entry) bool {
		if !f.urls.current(e) {
			return false
		}
		p, ok := priority(e.key, e.priority)
		several := f.urls.copied.has(e.id)
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
	f.urls.copied = copied
	clear(f.urls.set)
}

// renew calls change for every entry; back queues' entries on disk return to the tail to be
// sorted again.
func (f *Frontier) renew(change func(*entry) bool) error {
	queues := f.hosts.holders()
	var runs []*run
	for _, q := range queues {
		f.hosts.leave(q)
		f.hosts.room.filter(q, change)
		runs = append(runs, q.runs...)
		q.runs = nil
	}
	f.hosts.room.onDisk = 0
	if err := f.tail.renew(change); err != nil {
		return err
	}
	for _, r := range runs {
		if err := f.tail.takeIn(r, change); err != nil {
			return err
		}
	}
	for _, q := range queues {
		f.hosts.settle(q)
	}
	return nil
}

// tidy sweeps when three quarters of the entries are stale or the map of set priorities is
// full. A sweep leaves at most two entries a URL, so its cost is amortised.
func (f *Frontier) tidy() {
	entries := f.tail.len() + f.hosts.room.len()
	if f.Err() == nil && (entries > 4*f.urls.n+f.slack || f.urls.full()) {
		f.err = f.sweep()
	}
}

// sweep drops stale entries. Of several current ones of a URL it keeps the first in order of
// rank.
func (f *Frontier) sweep() error {
	if err := f.tail.rewrite(f.urls.firsts()); err != nil {
		return err
	}
	if err := f.hosts.repack(f.urls.firsts(), f.urls.current); err != nil {
		return err
	}
	clear(f.urls.set) // the remaining entries agree with it
	return nil
}

// A crawl that mixes orderings keeps its URLs in several orders at once. Each order is a
// frontier over the same URLs and hosts, with its own priorities. A URL taken from one order
// leaves all.

// Order returns one of the orders, from 0, for Set, Raise, Renew or Reprioritise in it alone.
// Call all other methods on the frontier itself.
func (f *Frontier) Order(i int) *Frontier {
	if i == 0 {
		return f
	}
	return f.also[i-1]
}

// Turn sets the order that Next uses.
func (f *Frontier) Turn(i int) { f.turn = f.Order(i) }

// taken removes a URL that one order has given from the others. Its entries there are passed
// over later; since the URL may wait again by then, it counts as copied.
func (f *Frontier) taken(it Item) {
	for i := range 1 + len(f.also) {
		if o := f.Order(i); o != f.turn {
			o.urls.take(it.ID)
			o.urls.copied.add(it.ID)
			o.hosts.use(o.hosts.party(it.Host))
		}
	}
}

// waiting records which URLs wait and which of their entries count. A changed priority adds an
// entry; the stale one is passed over when it comes up (lazy deletion).
type waiting struct {
	n        int            // URLs that wait
	queued   bits           // these
	copied   bits           // URLs that may have more than one entry
	set      map[ID]float64 // priorities of copied URLs that were set by Push
	setLimit int            // of set, see full
}

// push adds a URL with a new priority; false when it has this one already.
func (w *waiting) push(e *entry) bool {
	known := !w.queued.add(e.id)
	if !known {
		w.n++
	}
	if known || w.copied.has(e.id) { // there may be other entries, of any priority
		if p, ok := w.set[e.id]; ok && p == e.priority && known {
			return false
		}
		w.copied.add(e.id)
		w.set[e.id] = e.priority
	}
	return true
}

// raise adds another entry of a waiting URL; false when it is known to be no better. The
// higher of the two comes up first.
func (w *waiting) raise(e *entry) bool {
	if p, ok := w.set[e.id]; ok {
		if e.priority <= p {
			return false
		}
		w.set[e.id] = e.priority
	}
	w.copied.add(e.id)
	return true
}

func (w *waiting) take(id ID) {
	w.queued.remove(id)
	w.n--
}

// current reports whether an entry counts for its URL. If the URL's priority was only raised,
// all do, and the best comes first.
func (w *waiting) current(e *entry) bool {
	if !w.queued.has(e.id) {
		return false
	}
	if !w.copied.has(e.id) {
		return true
	}
	p, ok := w.set[e.id]
	return !ok || p == e.priority
}

// changed records that a current entry has another priority.
func (w *waiting) changed(e *entry) {
	if _, set := w.set[e.id]; set { // else it would be stale
		w.set[e.id] = e.priority
	}
}

// firsts returns a test for current entries that accepts only the first of each URL.
func (w *waiting) firsts() func(*entry) bool {
	var seen bits
	return func(e *entry) bool {
		return w.current(e) && (!w.copied.has(e.id) || seen.add(e.id))
	}
}

func (w *waiting) full() bool { return len(w.set) > w.setLimit }
