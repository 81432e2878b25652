package hosts

import "net/netip"

// A newcomer is a host that has not answered yet, or no longer answers. A site can create any
// number of them by name. So all together never take the last places among the workers. An
// IPv6 net of 64 bits, one customer's, counts as one address until its hosts have answered:
// one exchange at a time.

const (
	// newcomerShare: newcomers leave one worker in so many free.
	newcomerShare = 4
	// customerBits is the length of a customer's IPv6 net (RFC 6177).
	customerBits = 64
)

// Newcomers counts the exchanges with newcomers.
type Newcomers struct {
	places int                  // among the workers
	taken  int                  // places in use
	nets   map[netip.Prefix]int // exchanges, including those beside the workers
}

// NewNewcomers returns the newcomers' places among so many workers.
func NewNewcomers(workers int) Newcomers {
	return Newcomers{places: placesOf(workers), nets: map[netip.Prefix]int{}}
}

// Among sets the number of workers.
func (n *Newcomers) Among(workers int) { n.places = placesOf(workers) }

func placesOf(workers int) int {
	return workers - max(workers/newcomerShare, min(1, workers-1))
}

// Ticket is what an exchange with a newcomer holds; the zero value holds nothing.
type Ticket struct {
	place bool
	net   netip.Prefix // the net in which it is the only such exchange
}

// netOf returns the net that counts as one address with addr; none for IPv4, whose hosts at
// one address are one party, and behind a proxy.
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

// Free reports whether there is a place for a newcomer.
func (n *Newcomers) Free() bool { return n.taken < n.places }

// NetBusy reports whether a newcomer in addr's net is being asked.
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

// Aside returns the place of an exchange that goes on beside the workers.
func (n *Newcomers) Aside(t *Ticket) {
	if t.place {
		t.place = false
		n.taken--
	}
}

// End returns the ticket.
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
