package crawler

import (
	"maps"
	"net/http"

	"fossick/crawler/health"
	"fossick/fetch"
)

// Attempts is what this session alone has tried.
type Attempts struct {
	Made     uint64            // look-ups that failed, and exchanges
	Answered uint64            // of these, those that a server answered
	Ended    map[string]uint64 // URLs by state
	Last     string            // why the last one without an answer had none
}

// attempt takes note of an outcome.
func (c *Crawler) attempt(o *outcome) {
	r := o.resp
	if r == nil || o.aborted || o.excused {
		return
	}
	c.attempts.Made++
	if unanswered(r) {
		c.attempts.Last = string(r.State) + ": " + errorText(r.Err)
	} else {
		c.attempts.Answered++
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
func (c *Crawler) nothingFetched() bool {
	return c.counts.Pages == 0 || c.attempts.Made > 0 && c.attempts.Answered == 0
}

// attempted returns the session's attempts.
func (c *Crawler) attempted() Attempts {
	a := c.attempts
	a.Ended = maps.Clone(c.counts.States)
	for state, before := range c.statesBefore {
		if a.Ended[state] > before {
			a.Ended[state] -= before
		} else {
			delete(a.Ended, state)
		}
	}
	return a
}
