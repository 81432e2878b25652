package frontier

import "time"

// party is what is polite to treat as one: a host, or all hosts at one address
// (paper E). One request at a time is made at it, and it rests after each. It is in
// memory while it is in use, rests, or has URLs that could be fetched.
type party struct {
	key    Host      // a host, or an address; see hosts.find
	common backQueue // of the hosts that have no rest of their own
	busy   bool
	until  time.Time        // end of its rest; zero when over
	ready  heap[*backQueue] // of its back queues, those that have URLs and rest no more: by best URL
	heap   *heap[*party]    // ready, restingParties, idleParties, or nil when busy
	place  int              // in that heap
}

func newRestingParties() heap[*party] {
	return heap[*party]{
		less:  func(a, b *party) bool { return a.until.Before(b.until) },
		place: func(p *party) *int { return &p.place },
	}
}

// best is the first entry that p would give; it has one.
func (p *party) best() *entry { return &p.ready.top().queue[0] }

// Done ends the use of a host that Next gave; its party rests until the given time.
// What the host itself is to rest longer is told by Rest.
func (f *Frontier) Done(host Host, until time.Time) {
	f.hosts.done(host, until)
	for _, o := range f.also {
		o.hosts.done(host, until)
	}
}

// Rest makes a host rest until the given time at least, whether it has URLs or
// not, and nobody else. What a host asks for binds no other at its address.
func (f *Frontier) Rest(h Host, until time.Time) {
	f.hosts.rest(h, until)
	for _, o := range f.also {
		o.hosts.rest(h, until)
	}
}

// RestInDoubt is Rest for a host that failed: nobody knows whether it will answer then, so
// Survey leaves it out until the rest is over.
func (f *Frontier) RestInDoubt(h Host, until time.Time) {
	f.hosts.restInDoubt(h, until)
	for _, o := range f.also {
		o.hosts.restInDoubt(h, until)
	}
}

// RestAddress makes all hosts at an address rest until the given time at least, also
// those that will be found there.
func (f *Frontier) RestAddress(address string, until time.Time) {
	f.hosts.restAddress(address, until)
	for _, o := range f.also {
		o.hosts.restAddress(address, until)
	}
}

// RestAll makes every host rest until the given time at least, also those not
// heard of yet.
func (f *Frontier) RestAll(until time.Time) {
	f.hosts.floor = later(f.hosts.floor, until)
	for _, o := range f.also {
		o.RestAll(until)
	}
}

// Until returns when a host's rest is over, and that of its party: a time that may
// be past. A host in use is not looked at.
func (f *Frontier) Until(h Host) time.Time { return f.hosts.until(h) }

// Join says at which address a host is. From now on it is one party with the
// others there, at most one of them is in use, and the party rests as a whole.
// What the host itself rests longer, see Rest, it takes along. The host must
// not be in use: its Done would end the use of another.
func (f *Frontier) Join(h Host, address string) { f.move(h, f.hosts.addressKey(address)) }

// Leave says that nobody knows any more at which address a host is. The host must
// not be in use.
func (f *Frontier) Leave(h Host) { f.move(h, h) }

func (f *Frontier) move(h, to Host) {
	f.hosts.move(h, to)
	for _, o := range f.also {
		o.hosts.move(h, to)
	}
}

// OneParty says whether two hosts are treated as one.
func (f *Frontier) OneParty(a, b Host) bool { return f.hosts.find(a) == f.hosts.find(b) }

// Take marks a host as in use outside Next, on behalf of another host that is
// in use already. It succeeds when the host is free and rested, or has rested
// and is one party with the other. Done ends it as usual.
func (f *Frontier) Take(h, onBehalf Host, now time.Time) bool {
	if f.OneParty(h, onBehalf) {
		return h == onBehalf || f.hosts.rested(h, now)
	}
	return f.Claim(h, now)
}

// Claim marks a host as in use outside Next, for an exchange that is for no queued
// URL: it succeeds when the host is free and rested. Done ends it as usual.
func (f *Frontier) Claim(h Host, now time.Time) bool {
	free := f.hosts.claim(h, now)
	for _, o := range f.also {
		if free {
			o.hosts.use(o.hosts.party(h))
		}
	}
	return free
}

// Resting counts the parties, and the hosts by themselves, that have URLs and rest.
func (f *Frontier) Resting() int { return f.hosts.restingParties.len() + f.hosts.resting.len() }
