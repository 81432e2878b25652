package hosts

import (
	"net/netip"
	"time"

	"fossick/crawler/fetch"
)

// A host is one party with those at its address, and its address is that which
// answers. A name server may name others first that have nothing to do with it.
// So a look-up asks who takes a connection, outside of any party. Exchanges
// connect to that address alone, while its party is leased for them. When it
// takes no connection any more the host leaves the party and is looked up
// again.

// lookUpAgain is how long an address holds, as robots.txt does.
const lookUpAgain = fetch.RobotsTTL

// SettleAddress takes note of a host's address and makes it one party with those at
// the same address. No exchange with the host may be going on.
func (t *Table) SettleAddress(h *Host, addr netip.Addr) {
	h.Resolved = true
	t.resolved[h.Party] = t.opt.Now().Unix()
	if !addr.IsValid() {
		return // a proxy looks it up
	}
	if is := addr.String(); is != h.Address {
		if h.Address != "" {
			h.Moved = t.opt.Now().UnixMilli()
		}
		h.Address = is
	}
	t.frontier.Join(h.Party, h.Address)
}

// forgetAddress has a host looked up again.
func (t *Table) forgetAddress(h *Host) {
	h.Resolved = false
	delete(t.resolved, h.Party)
	t.frontier.Leave(h.Party)
}

// ReviewAddress compares what is known of a host's address with an exchange that is
// over.
func (t *Table) ReviewAddress(h *Host, r *fetch.Response, due Rest) {
	if !h.Resolved {
		return
	}
	now := t.opt.Now()
	switch {
	case r.Addr.IsValid() && r.Addr.String() != h.Address: // over a connection from before
		t.SettleAddress(h, r.Addr)
		t.frontier.RestAddress(h.Address, now.Add(due.Address))
	case r.State == fetch.StateConnectError, r.State == fetch.StateConnectTimeout,
		now.Sub(time.Unix(t.resolved[h.Party], 0)) > lookUpAgain:
		t.forgetAddress(h)
	}
}

// Addr is where exchanges with a host go: to the address that was found, or the
// zero address, when a proxy will look it up or nobody has yet.
func (h *Host) Addr() netip.Addr {
	if !h.Resolved || h.Address == "" {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(h.Address)
	if err != nil {
		return netip.Addr{}
	}
	return addr
}
