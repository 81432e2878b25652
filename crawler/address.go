package crawler

import (
	"net/netip"
	"time"

	"fossick/crawler/health"
	"fossick/fetch"
)

// A host is one party with those at its address, and its address is that which
// answers. A name server may name others first that have nothing to do with it.
// So a look-up asks who takes a connection, outside of any party. Exchanges
// connect to that address alone, while its party is leased for them. When it
// takes no connection any more the host leaves the party and is looked up
// again.

// lookUpAgain is how long an address holds, as robots.txt does.
const lookUpAgain = fetch.RobotsTTL

// settleAddress takes note of a host's address and makes it one party with those at
// the same address. No exchange with the host may be going on.
func (t *hostTable) settleAddress(h *host, addr netip.Addr) {
	h.resolved = true
	t.resolved[h.party] = t.opt.Now().Unix()
	if !addr.IsValid() {
		return // a proxy looks it up
	}
	if is := addr.String(); is != h.Address {
		if h.Address != "" {
			h.Moved = t.opt.Now().UnixMilli()
		}
		h.Address = is
	}
	t.frontier.Join(h.party, h.Address)
}

// forgetAddress has a host looked up again.
func (t *hostTable) forgetAddress(h *host) {
	h.resolved = false
	delete(t.resolved, h.party)
	t.frontier.Leave(h.party)
}

// reviewAddress compares what is known of a host's address with an exchange that is
// over.
func (t *hostTable) reviewAddress(h *host, r *fetch.Response, due health.Rest) {
	if !h.resolved {
		return
	}
	now := t.opt.Now()
	switch {
	case r.Addr.IsValid() && r.Addr.String() != h.Address: // over a connection from before
		t.settleAddress(h, r.Addr)
		t.frontier.RestAddress(h.Address, now.Add(due.Address))
	case r.State == fetch.StateConnectError, r.State == fetch.StateConnectTimeout,
		now.Sub(time.Unix(t.resolved[h.party], 0)) > lookUpAgain:
		t.forgetAddress(h)
	}
}

// address is where exchanges with a host go: to the address that was found, or the
// zero address, when a proxy will look it up or nobody has yet.
func (h *host) address() netip.Addr {
	if !h.resolved || h.Address == "" {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(h.Address)
	if err != nil {
		return netip.Addr{}
	}
	return addr
}
