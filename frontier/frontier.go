package frontier

import "time"

// ID numbers URLs in the order of their discovery, from 1. Of two URLs with
// equal priority the one discovered first leaves first.
type ID uint64

// Item is a queued URL.
type Item struct {
	ID       ID
	Host     string  // name:port
	Priority float64 // larger is fetched sooner
	Key      uint64  // the caller's own, for Reprioritise
}

// Frontier is the queue of a crawl.
type Frontier struct {
	queued map[ID]*entry
	hosts  map[string]*host

	addresses map[string]*party // by the address they were joined at

	ready   heap[*party] // free, rest over, something queued: by its best URL
	resting heap[*party] // free, rest not over: by its end
}

type entry struct {
	id       ID
	priority float64
	key      uint64
	host     *host
	place    int // in its party's heap
}

// before says which of two URLs is fetched first.
func (e *entry) before(o *entry) bool {
	if e.priority != o.priority {
		return e.priority > o.priority
	}
	return e.id < o.id
}

// New returns an empty frontier.
func New() *Frontier {
	return &Frontier{
		queued: map[ID]*entry{},
		hosts:  map[string]*host{},

		addresses: map[string]*party{},

		ready: heap[*party]{
			less:  func(a, b *party) bool { return a.queue.top().before(b.queue.top()) },
			place: func(p *party) *int { return &p.place },
		},
		resting: heap[*party]{
			less: func(a, b *party) bool {
				if !a.until.Equal(b.until) {
					return a.until.Before(b.until)
				}
				return a.number < b.number
			},
			place: func(p *party) *int { return &p.place },
		},
	}
}

// Len returns the number of queued URLs; one handed out by Next is not queued.
func (f *Frontier) Len() int { return len(f.queued) }

// Priority returns the priority of a queued URL.
func (f *Frontier) Priority(id ID) (priority float64, queued bool) {
	e, ok := f.queued[id]
	if !ok {
		return 0, false
	}
	return e.priority, true
}

// Push queues a URL. One that is queued already takes the new priority, be it
// higher or lower: whether a better parent counts more is the ordering's to say.
func (f *Frontier) Push(it Item) {
	if e, ok := f.queued[it.ID]; ok {
		f.reprioritise(e, it.Priority)
		return
	}
	h := f.host(it.Host)
	e := &entry{id: it.ID, priority: it.Priority, key: it.Key, host: h}
	f.queued[it.ID] = e
	h.party.queue.push(e)
	f.settle(h.party)
}

func (f *Frontier) reprioritise(e *entry, priority float64) {
	if e.priority == priority {
		return
	}
	e.priority = priority
	e.host.party.queue.fix(e)
	f.settle(e.host.party)
}

// Reprioritise gives every queued URL a new priority, from its key; one for
// which ok is false keeps its own. It costs O(queue), not a sort.
func (f *Frontier) Reprioritise(priority func(key uint64) (p float64, ok bool)) {
	for _, e := range f.queued {
		if p, ok := priority(e.key); ok {
			e.priority = p
		}
	}
	for _, h := range f.hosts {
		if h == h.party.members[0] { // once a party
			h.party.queue.heapify()
		}
	}
	f.ready.heapify()
}

// Next hands out the best URL that may be fetched at time now and marks its
// host as in use until Done. It returns false when there is none: see Wake.
func (f *Frontier) Next(now time.Time) (Item, bool) {
	f.wakeAll(now)
	if f.ready.len() == 0 {
		return Item{}, false
	}
	p := f.ready.pop()
	p.heap = nil
	p.busy = true
	e := p.queue.pop()
	delete(f.queued, e.id)
	return Item{ID: e.id, Host: e.host.name, Priority: e.priority, Key: e.key}, true
}

// Done ends the use of a host that Next gave; it rests until the given time.
func (f *Frontier) Done(hostName string, until time.Time) {
	p := f.host(hostName).party
	p.busy = false
	p.until = later(p.until, until)
	f.settle(p)
}

// Wake returns the earliest end of a rest, when Next has nothing to give; false
// when no rest will bring anything and only Done or Push can.
func (f *Frontier) Wake() (time.Time, bool) {
	if f.resting.len() == 0 {
		return time.Time{}, false
	}
	return f.resting.top().until, true
}

// wakeAll makes ready the parties whose rest is over.
func (f *Frontier) wakeAll(now time.Time) {
	for f.resting.len() > 0 && !f.resting.top().until.After(now) {
		p := f.resting.top()
		p.until = time.Time{}
		f.settle(p)
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
