package hosts

import "net/netip"

// A newcomer is a host that has answered nothing yet, or answers no more. Anybody can have
// as many as there are names. So all of them together never take the last places among the
// workers: those that answer go on. An IPv6 net of 64 bits, which is what one customer
// gets, counts as one address until its hosts have answered: one exchange at a time.

const (
	// newcomerShare is the share of the workers that newcomers leave free: one in so many.
	newcomerShare = 4
	// customerBits is the length of the IPv6 nets that customers get (RFC 6177).
	customerBits = 64
)

// Newcomers counts the exchanges with them.
type Newcomers struct {
	places int                  // among the workers
	taken  int                  // of these
	nets   map[netip.Prefix]int // exchanges, those beside the workers included
}

// NewNewcomers returns the places that newcomers have among so many workers.
func NewNewcomers(workers int) Newcomers {
	return Newcomers{places: placesOf(workers), nets: map[netip.Prefix]int{}}
}

// Among has newcomers take places among so many workers from now on.
func (n *Newcomers) Among(workers int) { n.places = placesOf(workers) }

// placesOf leaves one place at least to hosts that answer, where there is another.
func placesOf(workers int) int {
	return workers - max(workers/newcomerShare, min(1, workers-1))
}

// Ticket is what an exchange with a newcomer has taken; the zero value is nothing.
type Ticket struct {
	place bool
	net   netip.Prefix // in which it is the only exchange with a newcomer
}

// netOf returns the net that counts as one address with addr; none for IPv4, where those
// at one address are one party, and where a proxy knows the address.
func netOf(addr netip.Addr) netip.Prefix {
	if !addr.Is6() {
		return netip.Prefix{}
	}
	net, err := addr.WithZone("").Prefix(customerBits)
	if err != nil {
		return netip.Prefix{}
	}
	return net
}

// Free says whether there is a place for a newcomer.
func (n *Newcomers) Free() bool { return n.taken < n.places }

// NetBusy says whether a newcomer in the net of addr is being asked.
func (n *Newcomers) NetBusy(addr netip.Addr) bool { return n.nets[netOf(addr)] > 0 }

// Begin takes a place for an exchange with the newcomer at addr.
func (n *Newcomers) Begin(addr netip.Addr) Ticket {
	t := Ticket{true, netOf(addr)}
	n.taken++
	if t.net.IsValid() {
		n.nets[t.net]++
	}
	return t
}

// Aside gives the place back of an exchange that goes on beside the workers.
func (n *Newcomers) Aside(t *Ticket) {
	if t.place {
		t.place = false
		n.taken--
	}
}

// End gives all back.
func (n *Newcomers) End(t *Ticket) {
	n.Aside(t)
	if !t.net.IsValid() {
		return
	}
	if n.nets[t.net]--; n.nets[t.net] == 0 {
		delete(n.nets, t.net)
	}
	t.net = netip.Prefix{}
}
