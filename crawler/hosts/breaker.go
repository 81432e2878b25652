package hosts

import (
	"fmt"
	"strings"
	"time"

	"fossick/crawler/fetch"
)

// A host that gave answers and gives none any more is down, for minutes or for
// good. Its URLs must not pay for it, neither one by one with three time-outs
// each nor all at once. So the failures are counted for the host: after
// closeAfter in a row it is only asked for its robots.txt, at growing intervals
// (a circuit breaker, half open). That question has nothing to do with any URL.
// When that stays without an answer too, what was counted against URLs
// meanwhile is taken back; after maxProbes of them the host is closed and its
// URLs end. A host that never answered has no such credit: see
// Host.FailedFirst.

const (
	closeAfter = maxVisits // exchanges in a row without an answer
	maxProbes  = 6         // after these, within half an hour
	// probeBase is the rest after the first probe that fails; it doubles with each
	// further one. The first probe itself comes after the back-off alone.
	probeBase = time.Minute
	probeMost = 15 * time.Minute
	// probeLast is the rest when nobody answers, so that the host may not be to
	// blame. It is longer than what a crawl waits for at most by default: one that has
	// nothing else to do ends then, with its URLs in the queue.
	probeLast = time.Hour
	// closedFor is how long the URLs of a closed host end without a request.
	closedFor = 24 * time.Hour
)

// pause is how long a host rests before its next probe.
func (h *host) pause() time.Duration {
	failed := h.Record.Silent - closeAfter
	switch {
	case !h.Lived() || failed <= 0 || h.Record.Closed != "":
		return 0
	case failed >= maxProbes:
		return probeLast
	}
	return min(probeBase<<(failed-1), probeMost)
}

// Observe takes note of whether a host answered, for the host and for our network.
func (n *Network) Observe(h *host, x Exchange) {
	r := x.Response
	switch {
	case x.Probe && broken(r):
	case r.Code != 0:
		h.Record.Silent, h.Record.SilentSince, h.misses = 0, 0, nil
		if len(n.dead) > 0 {
			delete(n.dead, h.socket())
		}
		if broken(r) {
			n.keep(x.miss())
		} else {
			n.contacts.add(h, x.Robots)
			n.up()
		}
	case Silent(r):
		if h.Record.Silent++; h.Record.Silent == 1 {
			h.Record.SilentSince = r.Start.UnixMilli()
		}
		m := x.miss()
		if m.Page {
			h.misses = append(h.misses, m)
		}
		if h.Lived() || !noSuchHost(r) { // a name that is not there is an answer too
			n.missed(h, m)
		}
	}
}

// FailedProbe counts an exchange for robots.txt, or for the address, of a host that
// answered before and gives no answer now. It returns what was counted against URLs and
// is to be taken back, and whether the host is closed; else it is asked again.
func (n *Network) FailedProbe(h *host, state fetch.State) (back []Miss, closed bool) {
	now := n.now()
	if h.Record.Silent == closeAfter+1 { // it is the host, not its URLs
		back, h.misses = h.misses, nil
	}
	// That the others answer tells a dead host from a dead network.
	others := n.answeredAt.After(h.probedAt)
	h.probedAt = now
	most := maxProbes
	if until, known := n.dead[h.socket()]; known && now.Before(until) {
		most = 1 // another host at this address has been through it
	}
	if h.Record.Silent < closeAfter+most || !others {
		return back, false
	}
	h.Record.Closed, h.Record.ClosedUntil = string(state), now.Add(closedFor).UnixMilli()
	h.Record.Promised = 0
	h.judgeSilence()
	if h.Record.Address != "" && (state == fetch.StateConnectError || state == fetch.StateConnectTimeout) {
		n.dead[h.socket()] = now.Add(closedFor)
	}
	n.log.Info("crawl gives up a host", "host", h.Record.Name, "state", h.Verdict, "reason", h.Why)
	return back, true
}

// judgeSilence gives a closed host its verdict.
func (h *host) judgeSilence() {
	if h.Record.Closed == "" {
		return
	}
	h.Verdict = h.Record.Closed
	h.Why = fmt.Sprintf("the host gave no answer to %d requests in a row since %s",
		h.Record.Silent, time.UnixMilli(h.Record.SilentSince).UTC().Format(time.DateTime))
}

// Reconsider opens a host again, for one probe, that was closed long enough ago.
func (h *host) Reconsider(now time.Time) {
	if left := time.UnixMilli(h.Record.ClosedUntil).Sub(now); h.Record.Closed != "" && (left <= 0 || left > closedFor+clockSlack) {
		h.open()
	}
}

// socket is the address and port of a host.
func (h *host) socket() string {
	return h.Record.Address + " " + h.Record.Name[strings.LastIndexByte(h.Record.Name, ':')+1:]
}
