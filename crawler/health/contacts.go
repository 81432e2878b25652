package health

import (
	"net/netip"
	"slices"
)

const (
	contactsKept  = 8 // hosts that answered last, each of another net
	contactsLeast = 2 // fewer cannot tell their own death from that of the network
)

// Contact is a host that may be asked whether we have a network.
type Contact struct {
	Host, Robots string // name:port, URL of its robots.txt
	net          string
}

// contacts are the hosts that answered last, the one to be asked next first.
type contacts []Contact

// add keeps a host as one that answers.
func (cs *contacts) add(h *Host, robots string) {
	k := Contact{h.Record.Name, robots, h.net()}
	if i := slices.IndexFunc(*cs, func(old Contact) bool { return old.net == k.net }); i >= 0 {
		(*cs)[i] = k
		return
	}
	if len(*cs) >= contactsKept {
		*cs = slices.Delete(*cs, 0, 1)
	}
	*cs = append(*cs, k)
}

// net names the part of the network a host is in: its site when a proxy knows
// the address.
func (h *Host) net() string {
	addr, err := netip.ParseAddr(h.Record.Address)
	if err != nil {
		return h.Site
	}
	bits := 48
	if addr.Is4() {
		bits = 24
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return h.Site
	}
	return prefix.String()
}
