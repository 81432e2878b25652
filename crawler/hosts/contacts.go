package hosts

import (
	"net/netip"
	"slices"
)

const (
	contactsKept  = 8 // hosts that answered last, each of another net
	contactsLeast = 2 // fewer cannot tell their own death from that of the network
)

// contact is a host that may be asked whether we have a network.
type contact struct {
	Host, Robots string // name:port, URL of its robots.txt
	net          string
}

// contacts are the hosts that answered last, the one to be asked next first.
type contacts []contact

// add keeps a host as one that answers.
func (cs *contacts) add(h *host, robots string) {
	k := contact{h.Record.Name, robots, h.net()}
	if i := slices.IndexFunc(*cs, func(old contact) bool { return old.net == k.net }); i >= 0 {
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
func (h *host) net() string {
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
