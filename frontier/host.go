package frontier

import "time"

// host is a name:port; party is what is polite to treat as one: a host, or all
// hosts at one address.
type host struct {
	name  string
	party *party
}

type party struct {
	number    int // order of appearance, to break ties
	members   []*host
	addresses []string
	queue     heap[*entry]
	busy      bool
	until     time.Time // end of its rest; zero when over

	heap  *heap[*party] // ready, resting, or nil when busy or empty
	place int           // in that heap
}

// host returns the record of a host, made when it is new.
func (f *Frontier) host(name string) *host {
	h, ok := f.hosts[name]
	if !ok {
		h = &host{name: name, party: newParty(len(f.hosts))}
		h.party.members = []*host{h}
		f.hosts[name] = h
	}
	return h
}

func newParty(number int) *party {
	return &party{
		number: number,
		queue: heap[*entry]{
			less:  (*entry).before,
			place: func(e *entry) *int { return &e.place },
		},
	}
}

// Join says at which address a host is: from now on it is one party with the
// hosts that were said to be there before, at most one of them is in use, and
// they rest together. The host itself must not be in use: its Done would end
// the use of another.
func (f *Frontier) Join(hostName, address string) {
	from := f.host(hostName).party
	to, ok := f.addresses[address]
	if !ok {
		f.addresses[address] = from
		from.addresses = append(from.addresses, address)
		return
	}
	if from == to {
		return
	}
	f.leave(from)
	for from.queue.len() > 0 {
		to.queue.push(from.queue.pop())
	}
	for _, member := range from.members {
		member.party = to
	}
	to.members = append(to.members, from.members...)
	for _, other := range from.addresses { // it had others before: they are one party now
		f.addresses[other] = to
	}
	to.addresses = append(to.addresses, from.addresses...)
	to.until = later(to.until, from.until)
	f.settle(to)
}

// Rest makes a host rest until the given time at least, whether it has URLs or
// not: how a restart puts back the rests that were running.
func (f *Frontier) Rest(hostName string, until time.Time) {
	p := f.host(hostName).party
	p.until = later(p.until, until)
	f.settle(p)
}

// Hosts returns the number of hosts that were ever queued.
func (f *Frontier) Hosts() int { return len(f.hosts) }

// settle puts a party where it belongs after any change: with the ready ones,
// with the resting ones, or nowhere.
func (f *Frontier) settle(p *party) {
	var want *heap[*party]
	switch {
	case p.busy || p.queue.len() == 0:
	case p.until.IsZero():
		want = &f.ready
	default:
		want = &f.resting
	}
	if p.heap == want {
		if want != nil {
			want.fix(p)
		}
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

// Take marks a host as in use outside Next, on behalf of another host that is
// in use already: it succeeds when the host is free and rested, or is one party
// with the other. Done ends it as usual.
func (f *Frontier) Take(hostName, onBehalf string, now time.Time) bool {
	p := f.host(hostName).party
	if p == f.host(onBehalf).party {
		return true
	}
	if p.busy || p.until.After(now) {
		return false
	}
	p.busy = true
	f.settle(p)
	return true
}
