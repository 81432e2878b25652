package hosts

import (
	"fmt"
	"time"

	"fossick/crawler/fetch"
	"fossick/store"
)

// maxVisits is how many exchanges one URL gets, and how many failures the first contact
// with a host may have.
const maxVisits = 3

// freeRetries and retryShare bound the requests for URLs that had failed, by
// host: a host that fails all the time is not asked three times for each URL.
const (
	freeRetries = 10
	retryShare  = 2 // at most one in so many requests
)

// host is what is known of one host. Of its record, this room has Failures, Retries, Promised,
// Silent, Closed and the times that belong to them.
type host struct {
	Record *store.Host
	Site   string // registrable domain

	Verdict string // state that ends every URL of it, "" while it may answer
	Why     string // and the reason

	tries    int       // of the first contact, that failed
	misses   []Miss    // failures of pages since it last answered
	probedAt time.Time // when the last probe failed
}

// newHost returns what a host's record tells of it.
func newHost(record *store.Host, site string) host {
	h := host{Record: record, Site: site}
	h.judgeSilence()
	return h
}

// Lived says whether a host ever answered.
func (h *host) Lived() bool { return h.Record.RobotsCode != 0 }

// Newcomer says whether a host has answered nothing yet, or answers no more.
func (h *host) Newcomer() bool { return !h.Lived() || h.Record.Silent > 0 }

// Probed says whether a host is asked only for its robots.txt.
func (h *host) Probed() bool { return h.Lived() && h.Record.Silent >= closeAfter }

// Met says that the first contact is made: the host's rules are known.
func (h *host) Met() { h.tries = 0 }

// LastTry says whether one more failure of the first contact is the last.
func (h *host) LastTry() bool { return h.tries+1 >= maxVisits }

// CountFirst counts a failure of the first contact.
func (h *host) CountFirst() {
	h.Record.Failures++
	h.tries++
}

// FailedFirst says whether there is to be another try of the first contact. After MaxVisits of them the host gets its verdict, after the first when there
// is no such host. A silent host that answered before is treated with more patience: see
// Network.FailedProbe.
func (h *host) FailedFirst(r *fetch.Response, what string) (again bool) {
	if h.tries < maxVisits && Transient(r) && !noSuchHost(r) {
		return true
	}
	h.Verdict, h.Why = string(r.State), what
	if r.Err != nil {
		h.Why = fmt.Sprintf("%s: %v", what, r.Err)
	}
	return false
}

// Retry says whether a URL is tried again whose exchange failed, after so many that count;
// and why not, where the failure alone does not say.
func (h *host) Retry(r *fetch.Response, visits int) (again bool, why string) {
	last := visits >= maxVisits
	switch {
	case last && Silent(r) && h.Probed():
		// Is it the URL or the host? The next request, for robots.txt, tells; if
		// that is answered the URL has one more try.
		h.Record.Promised++
		return true, ""
	case last:
		return false, ""
	case h.Record.Retries+h.Record.Promised >= freeRetries+h.Record.Requests/retryShare:
		why = fmt.Sprintf("not retried: %d of the %d requests to the host were retries", h.Record.Retries, h.Record.Requests)
		if more := h.Record.Promised; more > 0 {
			why += fmt.Sprintf(", and %d more are to come", more)
		}
		return false, why
	}
	h.Record.Promised++
	return true, ""
}

// Retried counts a request for a URL that had failed; excused says that the URL has one to
// come all the same.
func (h *host) Retried(excused bool) {
	h.Record.Retries++
	if !excused {
		h.Record.Promised = max(h.Record.Promised, 1) - 1
	}
}

// Forgive takes back what was counted against a host.
func (h *host) Forgive(m Miss) {
	h.Record.Failures = max(0, h.Record.Failures-1)
	if m.Silent {
		h.Record.Silent = max(0, h.Record.Silent-1)
	}
	if h.Record.Silent == 0 {
		h.Record.SilentSince = 0
	}
	if m.Page {
		h.Record.Promised = max(h.Record.Promised, 1) - 1
	}
	if m.First {
		h.tries = max(0, h.tries-1)
	}
	h.open()
	h.misses = nil
}

// open takes a verdict back.
func (h *host) open() {
	h.Record.Closed, h.Record.ClosedUntil, h.Verdict, h.Why = "", 0, "", ""
}
