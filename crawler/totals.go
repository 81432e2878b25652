package crawler

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/crawler/journal"
	"fossick/store"
)

// totals are the counts of a crawl under way.
type totals struct {
	store.Counts

	now      func() time.Time
	began    time.Time // zero before begin
	before   store.Counts
	attempts Attempts
	farmed   int // URLs left aside because their hosts are part of a farm
}

// restore starts from the counts of earlier sessions.
func (t *totals) restore(counts store.Counts) {
	t.Counts, t.before = counts, counts
	t.before.States = maps.Clone(counts.States)
}

// begin starts the time of a session.
func (t *totals) begin() { t.began = t.now() }

// elapsed is the time of all sessions.
func (t *totals) elapsed() time.Duration { return t.before.Elapsed + t.now().Sub(t.began) }

// commit commits a batch with the present totals.
func (t *totals) commit(b journal.Batch) error {
	if !t.began.IsZero() {
		t.Elapsed = t.elapsed()
	}
	return b.Commit(&t.Counts)
}

// snapshot returns a copy of the totals.
func (t *totals) snapshot() store.Counts {
	counts := t.Counts
	counts.States, counts.Codes = maps.Clone(counts.States), maps.Clone(counts.Codes)
	counts.Topics, counts.Yields = slices.Clone(counts.Topics), maps.Clone(counts.Yields)
	if !t.began.IsZero() {
		counts.Elapsed = t.elapsed()
	}
	return counts
}

// session returns the time and the stored pages of this session.
func (t *totals) session() (time.Duration, uint64) {
	return t.now().Sub(t.began), t.Pages - min(t.Pages, t.before.Pages)
}

// waiting is how many URLs have not ended.
func (t *totals) waiting() int {
	n := t.URLs - t.Skipped
	for _, ended := range t.States {
		n -= min(n, ended)
	}
	return int(n)
}

// discovered counts a new URL and returns its number.
func (t *totals) discovered() store.ID {
	t.URLs++
	return store.ID(t.URLs)
}

// reopened counts a URL that has left a final state.
func (t *totals) reopened(state string) {
	if t.States[state]--; t.States[state] == 0 {
		delete(t.States, state)
	}
}

// nextPage counts a page that is about to be stored, and returns its number; stored follows.
func (t *totals) nextPage() uint64 {
	t.Pages++
	return t.LastPage()
}

// stored counts the properties of a stored page; topics are the verdicts of the topics that
// share the crawl.
func (t *totals) stored(bytes int64, relevant bool, topics []store.Verdict) {
	t.Judged(topics, false)
	t.Bytes += uint64(bytes)
	if relevant {
		t.Relevant++
	}
}

// replaced counts a page that was stored anew.
func (t *totals) replaced(old, now *store.Page) {
	if old.Relevant {
		t.Relevant--
	}
	t.Bytes -= uint64(old.Bytes)
	t.stored(now.Bytes, now.Relevant, now.Topics)
	t.Judged(old.Topics, true)
}

// dropped counts a page that was deleted because another agent has its content.
func (t *totals) dropped(old *store.Page) {
	t.Pages--
	t.Dropped++
	t.Bytes -= uint64(old.Bytes)
	if old.Relevant {
		t.Relevant--
	}
	t.Judged(old.Topics, true)
}

// asked counts a request to a host.
func (t *totals) asked(h *store.Host) {
	t.Requests++
	h.Requests++
}

// further counts requests of a page's scripts.
func (t *totals) further(h *store.Host, n int) {
	t.Requests += uint64(n)
	h.Requests += uint64(n)
}

// askedPage counts a request for a page, and its status code.
func (t *totals) askedPage(h *store.Host, r *fetch.Response) {
	t.asked(h)
	switch {
	case r.State == fetch.StateCode, r.State == fetch.StatePaymentRequired, r.State == fetch.StateChallenge && r.Code != http.StatusOK:
		t.Codes[r.Code]++
	}
}

// Attempts is what this session alone has tried.
type Attempts struct {
	Made     uint64            // exchanges, and failed look-ups
	Answered uint64            // answered by a server
	Ended    map[string]uint64 // URLs by state
	Last     string            // failure of the last unanswered one
}

// After adds the attempts of an earlier session.
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

// attempted counts an exchange.
func (t *totals) attempted(r *fetch.Response) {
	t.attempts.Made++
	if !unanswered(r) {
		t.attempts.Answered++
		return
	}
	t.attempts.Last = string(r.State) + ": " + r.ErrorText()
}

// unanswered reports that an exchange ended before the server could answer: on the way, at a
// proxy, or by an error that may pass.
func unanswered(r *fetch.Response) bool {
	switch r.State {
	case fetch.StateTLSError, fetch.StateGuardDenied:
		return true
	}
	return hosts.Transient(r) || r.Code == http.StatusProxyAuthRequired
}

// nothingFetched reports that there is no page of any session, or that this session has had no
// answer.
func (t *totals) nothingFetched() bool {
	return t.Pages == 0 || t.attempts.Made > 0 && t.attempts.Answered == 0
}

// sessionAttempts returns what this session has tried.
func (t *totals) sessionAttempts() Attempts {
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
