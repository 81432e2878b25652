package crawler

import (
	"maps"
	"net/http"
	"time"

	"fossick/crawler/health"
	"fossick/crawler/hosts"
	"fossick/fetch"
	"fossick/store"
)

// totals are what a crawl counts: the store's counts, which go on over all sessions, and
// what this session alone has done. They belong to the owner.
type totals struct {
	store.Counts

	now      func() time.Time
	began    time.Time // zero before Run
	before   store.Counts
	attempts Attempts
	farmed   int // URLs that were left aside since their hosts are a farm's
}

// Attempts is what this session alone has tried.
type Attempts struct {
	Made     uint64            // look-ups that failed, and exchanges
	Answered uint64            // of these, those that a server answered
	Ended    map[string]uint64 // URLs by state
	Last     string            // why the last one without an answer had none
}

// restore begins a session with what the sessions before it have counted.
func (t *totals) restore(counts store.Counts) {
	t.Counts, t.before = counts, counts
	t.before.States = maps.Clone(counts.States)
}

// elapsed is the time of all sessions.
func (t *totals) elapsed() time.Duration { return t.before.Elapsed + t.now().Sub(t.began) }

// snapshot returns the counts as they are, for others to keep.
func (t *totals) snapshot() store.Counts {
	counts := t.Counts
	counts.States, counts.Codes = maps.Clone(counts.States), maps.Clone(counts.Codes)
	if !t.began.IsZero() {
		counts.Elapsed = t.elapsed()
	}
	return counts
}

// discovered counts a URL and returns its number.
func (t *totals) discovered() store.ID {
	t.URLs++
	return store.ID(t.URLs)
}

// waiting counts the URLs that have not ended.
func (t *totals) waiting() int {
	n := t.URLs - t.Skipped
	for _, ended := range t.States {
		n -= min(n, ended)
	}
	return int(n)
}

// ended counts a URL that has a final state, reopened one that has it no more.
func (t *totals) ended(state string) { t.States[state]++ }

func (t *totals) reopened(state string) {
	if t.States[state]--; t.States[state] == 0 {
		delete(t.States, state)
	}
}

// asked counts a request to a host.
func (t *totals) asked(h *hosts.Host) {
	t.Requests++
	h.Requests++
}

// askedPage counts a request for a page, and what was answered.
func (t *totals) askedPage(h *hosts.Host, r *fetch.Response) {
	t.asked(h)
	if r.State == fetch.StateCode {
		t.Codes[r.Code]++
	}
}

// attempt takes note of an outcome.
func (t *totals) attempt(o *outcome) {
	r := o.resp
	if r == nil || o.aborted || o.excused {
		return
	}
	t.attempts.Made++
	if unanswered(r) {
		t.attempts.Last = string(r.State) + ": " + errorText(r.Err)
	} else {
		t.attempts.Answered++
	}
}

// unanswered says that an exchange ended before a server could say what there is: on
// the way, at a proxy, or by an error that may pass.
func unanswered(r *fetch.Response) bool {
	switch r.State {
	case fetch.StateTLSError, fetch.StateGuardDenied:
		return true
	}
	return health.Transient(r) || r.Code == http.StatusProxyAuthRequired
}

// nothingFetched says that a crawl has come to nothing: there is no page of any session,
// or this one has asked and nobody answered.
func (t *totals) nothingFetched() bool {
	return t.Pages == 0 || t.attempts.Made > 0 && t.attempts.Answered == 0
}

// attempted returns the session's attempts.
func (t *totals) attempted() Attempts {
	a := t.attempts
	a.Ended = maps.Clone(t.States)
	for state, before := range t.before.States {
		if a.Ended[state] > before {
			a.Ended[state] -= before
		} else {
			delete(a.Ended, state)
		}
	}
	return a
}
