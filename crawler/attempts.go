package crawler

import (
	"cmp"
	"maps"
	"net/http"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
)

// Attempts is what this session alone has tried.
type Attempts struct {
	Made     uint64            // look-ups that failed, and exchanges
	Answered uint64            // of these, those that a server answered
	Ended    map[string]uint64 // URLs by state
	Last     string            // why the last one without an answer had none
}

// After adds what a session before has tried.
func (a Attempts) After(before Attempts) Attempts {
	ended := maps.Clone(before.Ended)
	if ended == nil {
		ended = map[string]uint64{}
	}
	for state, n := range a.Ended {
		ended[state] += n
	}
	return Attempts{a.Made + before.Made, a.Answered + before.Answered, ended, cmp.Or(a.Last, before.Last)}
}

// attempted counts what came of an exchange.
func (t *running) attempted(r *fetch.Response) {
	t.attempts.Made++
	if !unanswered(r) {
		t.attempts.Answered++
		return
	}
	t.attempts.Last = string(r.State) + ": " + r.ErrorText()
}

// unanswered says that an exchange ended before a server could say what there is: on
// the way, at a proxy, or by an error that may pass.
func unanswered(r *fetch.Response) bool {
	switch r.State {
	case fetch.StateTLSError, fetch.StateGuardDenied:
		return true
	}
	return hosts.Transient(r) || r.Code == http.StatusProxyAuthRequired
}

// nothingFetched says that a crawl has come to nothing: there is no page of any session,
// or this one has asked and nobody answered.
func (t *running) nothingFetched() bool {
	return t.counts.Pages == 0 || t.attempts.Made > 0 && t.attempts.Answered == 0
}

// Attempts returns the session's attempts.
func (t *running) Attempts() Attempts {
	a := t.attempts
	a.Ended = maps.Clone(t.counts.States)
	for state, before := range t.before.States {
		if a.Ended[state] > before {
			a.Ended[state] -= before
		} else {
			delete(a.Ended, state)
		}
	}
	return a
}
