package crawler

import (
	"errors"
	"fmt"
	"time"

	"fossick/fetch"
	"fossick/store"
)

// A host that gave answers and gives none any more is down, for minutes or for
// good. Its URLs must not pay for it, neither one by one with three time-outs
// each nor all at once. So the failures are counted for the host: after closeAfter
// in a row it is only asked for its robots.txt, a question that has nothing to do
// with any URL, at growing intervals (a circuit breaker, half open). When that
// stays without an answer too, what was counted against URLs meanwhile is taken
// back; after maxProbes of them the host is closed and its URLs end. A host that
// never answered has no such credit: see failHost.

const (
	closeAfter = maxVisits // exchanges in a row without an answer
	maxProbes  = 6         // after these, within half an hour
	// probeBase is the rest after the first probe that fails; it doubles with each
	// further one. The first probe itself comes after the back-off alone.
	probeBase = time.Minute
	probeMost = 15 * time.Minute
	// probeLast is the rest when nobody answers, so that the host may not be to
	// blame. It is longer than defaultMaxWait: a crawl that has nothing else to do
	// ends then, with its URLs in the queue.
	probeLast = time.Hour
	// closedFor is how long the URLs of a closed host end without a request.
	closedFor = 24 * time.Hour
)

// silent says that an exchange brought nothing that is HTTP: no name, no
// connection, no header.
func silent(r *fetch.Response) bool {
	switch r.State {
	case fetch.StateNoIP, fetch.StateConnectError, fetch.StateConnectTimeout, fetch.StateHeaderTimeout, fetch.StateHeaderError:
		return r.Code == 0
	}
	return false
}

// broken says that an exchange failed on the way, before or after the header.
func broken(r *fetch.Response) bool {
	return silent(r) || r.State == fetch.StateBodyError || r.State == fetch.StateBodyTimeout
}

// notThere says that the name system knows no such host, which no second try
// changes.
func notThere(r *fetch.Response) bool { return errors.Is(r.Err, fetch.ErrNoSuchHost) }

// lived says whether a host ever answered.
func (h *host) lived() bool { return h.RobotsCode != 0 }

// probed says whether a host is asked only for its robots.txt.
func (h *host) probed() bool { return h.lived() && h.Silent >= closeAfter }

// pause is how long a host rests before its next probe.
func (h *host) pause() time.Duration {
	failed := h.Silent - closeAfter
	switch {
	case !h.lived() || failed <= 0 || h.Closed != "":
		return 0
	case failed >= maxProbes:
		return probeLast
	}
	return min(probeBase<<(failed-1), probeMost)
}

// hear takes note of whether a host answered, for the host and for our network.
func (c *Crawler) hear(o *outcome) {
	r, h := o.resp, o.asked()
	switch {
	case r == nil || o.aborted || o.excused || o.task == taskProbe && broken(r):
	case r.Code != 0:
		h.Silent, h.SilentSince, h.misses = 0, 0, nil
		if len(c.dead) > 0 {
			delete(c.dead, h.socket())
		}
		if broken(r) {
			c.network.log(c.missOf(o))
		} else {
			c.answered(h, o.target)
		}
	case silent(r):
		if h.Silent++; h.Silent == 1 {
			h.SilentSince = r.Start.UnixMilli()
		}
		m := c.missOf(o)
		if o.task == taskPage {
			h.misses = append(h.misses, m)
		}
		if h.lived() || !notThere(r) { // a name that is not there is an answer too
			c.network.missed(h, m)
		}
	}
}

// failProbe counts an exchange for robots.txt, or for the address, of a host that
// answered before and gives no answer now.
func (c *Crawler) failProbe(b *store.Batch, o *outcome) error {
	h, now := o.host, c.opt.Now()
	if h.Silent == closeAfter+1 { // it is the host, not its URLs
		misses := h.misses
		h.misses = nil
		if err := c.excuse(b, misses); err != nil {
			return err
		}
	}
	// That the others answer tells a dead host from a dead network.
	others := c.network.answeredAt.After(h.probedAt)
	h.probedAt = now
	most := maxProbes
	if until, known := c.dead[h.socket()]; known && now.Before(until) {
		most = 1 // another host at this address has been through it
	}
	if h.Silent < closeAfter+most || !others {
		c.requeue(o.job)
		return nil
	}
	h.Closed, h.ClosedUntil = string(o.resp.State), now.Add(closedFor).UnixMilli()
	h.judgeSilence()
	if h.Address != "" && (o.resp.State == fetch.StateConnectError || o.resp.State == fetch.StateConnectTimeout) {
		c.dead[h.socket()] = now.Add(closedFor)
	}
	c.opt.Log.Info("host is given up", "host", h.Name, "state", h.verdict, "reason", h.why)
	return c.bury(b, o.id, o.queued, c.fateIn(h.verdict, h.why))
}

// judgeSilence gives a closed host its verdict.
func (h *host) judgeSilence() {
	if h.Closed == "" {
		return
	}
	h.verdict = h.Closed
	h.why = fmt.Sprintf("the host gave no answer to %d requests in a row since %s",
		h.Silent, time.UnixMilli(h.SilentSince).UTC().Format(time.DateTime))
}

// reconsider opens a host again, for one probe, that was closed long enough ago.
func (c *Crawler) reconsider(h *host) {
	if h.Closed != "" && !c.closedNow(h) {
		h.Closed, h.ClosedUntil, h.verdict, h.why = "", 0, "", ""
	}
}
