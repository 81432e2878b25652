package crawler

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/hosts"
	"fossick/store"
)

// running holds the totals of a crawl under way.
type running struct {
	counts store.Counts

	now      func() time.Time
	began    time.Time // zero before begin
	before   store.Counts
	attempts Attempts
	farmed   int
}

func newTotals(now func() time.Time) *running { return &running{now: now} }

// restore starts from the counts of earlier sessions.
func (t *running) restore(counts store.Counts) {
	t.counts, t.before = counts, counts
	t.before.States = maps.Clone(counts.States)
}

// begin starts the time of a session.
func (t *running) begin() { t.began = t.now() }

// elapsed is the time of all sessions.
func (t *running) elapsed() time.Duration { return t.before.Elapsed + t.now().Sub(t.began) }

// Commit commits a batch with the present totals.
func (t *running) Commit(b interface {
	Commit(counts *store.Counts) error
}) error {
	if !t.began.IsZero() {
		t.counts.Elapsed = t.elapsed()
	}
	return b.Commit(&t.counts)
}

// lost resets the totals to those of the last commit.
func (t *running) lost(counts store.Counts) { t.counts = counts }

// Counts returns the totals themselves, for writes in the owner's turn.
func (t *running) Counts() *store.Counts { return &t.counts }

// snapshot returns a copy of the totals.
func (t *running) snapshot() store.Counts {
	counts := t.counts
	counts.States, counts.Codes = maps.Clone(counts.States), maps.Clone(counts.Codes)
	counts.Topics = slices.Clone(counts.Topics)
	if !t.began.IsZero() {
		counts.Elapsed = t.elapsed()
	}
	return counts
}

// session returns the time and the stored pages of this session.
func (t *running) session() (time.Duration, uint64) {
	return t.now().Sub(t.began), t.counts.Pages - min(t.counts.Pages, t.before.Pages)
}

func (t *running) Pages() uint64 { return t.counts.Pages }

// lastPage is the number of the last stored page, which counts all pages ever stored.
func (t *running) lastPage() uint64 { return t.counts.LastPage() }

func (t *running) URLs() uint64 { return t.counts.URLs }

// Waiting is how many URLs have not ended.
func (t *running) Waiting() int {
	n := t.counts.URLs - t.counts.Skipped
	for _, ended := range t.counts.States {
		n -= min(n, ended)
	}
	return int(n)
}

// discovered counts a new URL and returns its number.
func (t *running) discovered() store.ID {
	t.counts.URLs++
	return store.ID(t.counts.URLs)
}

func (t *running) skipped() { t.counts.Skipped++ }

// wanted counts a skipped URL that is wanted now.
func (t *running) wanted() { t.counts.Skipped-- }

// Ended counts a URL in a final state.
func (t *running) Ended(state string) { t.counts.States[state]++ }

// reopened counts a URL that has left a final state.
func (t *running) reopened(state string) {
	if t.counts.States[state]--; t.counts.States[state] == 0 {
		delete(t.counts.States, state)
	}
}

func (t *running) nearDuplicate() { t.counts.NearDuplicates++ }

func (t *running) nearReopened() { t.counts.NearDuplicates-- }

// Farmed counts a URL that is left aside because its host is part of a farm.
func (t *running) Farmed() { t.farmed++ }

// leftToFarms is how many these were in this session.

// nextPage counts a page that is about to be stored, and returns its number; stored follows.
func (t *running) nextPage() uint64 {
	t.counts.Pages++
	return t.counts.LastPage()
}

// stored counts the properties of a stored page; topics are the verdicts of the topics that
// share the crawl.
func (t *running) stored(bytes int64, relevant bool, topics []store.Verdict) {
	t.counts.Judged(topics, false)
	t.counts.Bytes += uint64(bytes)
	if relevant {
		t.counts.Relevant++
	}
}

// replaced counts a page that was stored anew.
func (t *running) replaced(old, now *store.Page) {
	if old.Relevant {
		t.counts.Relevant--
	}
	t.counts.Bytes -= uint64(old.Bytes)
	t.stored(now.Bytes, now.Relevant, now.Topics)
	t.counts.Judged(old.Topics, true)
}

// dropped counts a page that was deleted because another agent has its content.
func (t *running) dropped(old *store.Page) {
	t.counts.Pages--
	t.counts.Dropped++
	t.counts.Bytes -= uint64(old.Bytes)
	if old.Relevant {
		t.counts.Relevant--
	}
	t.counts.Judged(old.Topics, true)
}

// withdrawn counts a page whose content was deleted.
func (t *running) withdrawn(old *store.Page) { t.counts.Bytes -= uint64(old.Bytes) }

// asked counts a request to a host.
func (t *running) asked(h *store.Host) {
	t.counts.Requests++
	h.Requests++
}

// askedPage counts a request for a page, and its status code.
func (t *running) askedPage(h *store.Host, r *fetch.Response) {
	t.asked(h)
	if r.State == fetch.StateCode {
		t.counts.Codes[r.Code]++
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
func (t *running) attempted(r *fetch.Response) {
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
func (t *running) nothingFetched() bool {
	return t.counts.Pages == 0 || t.attempts.Made > 0 && t.attempts.Answered == 0
}

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

// Stats tells how long the owner was busy per turn: from an event until it waited for the
// next. A long turn delays all workers, because the owner alone leases and journals.
type Stats struct {
	// Within counts the turns of at most Bounds[i] that are longer than Bounds[i-1], and in
	// its last place the longer ones.
	Within  [len(Bounds) + 1]uint64
	Total   time.Duration // of all turns
	Longest time.Duration
	// Parts has the longest time that a turn spent on each part of its work, Totals the sum
	// over all turns.
	Parts, Totals [Parts]time.Duration
}

// Bounds are the upper bounds by which turns are counted.
var Bounds = [...]time.Duration{
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second,
}

// Plus combines the turns of several owners.
func (s Stats) Plus(o Stats) Stats {
	for i, n := range o.Within {
		s.Within[i] += n
	}
	s.Total += o.Total
	s.Longest = max(s.Longest, o.Longest)
	for p := range Parts {
		s.Parts[p] = max(s.Parts[p], o.Parts[p])
		s.Totals[p] += o.Totals[p]
	}
	return s
}

// part is a part of the owner's work.
type part int

// The parts of a turn; Parts is their number.
const (
	partFrontier part = iota // leasing, with its reads of the store
	partJournal              // what follows from exchanges
	Commit                   // the store's commit
	partRescore              // new priorities for the queue
	Parts
)

func (p part) String() string { return [...]string{"frontier", "journal", "commit", "rescore"}[p] }

// meter measures turns.
type meter struct {
	Stats
	now   func() time.Time
	began time.Time // begin of this turn; zero while the owner waits
	parts [Parts]time.Duration
	part  part      // present part
	since time.Time // begin of that part
}

func newMeter(now func() time.Time) *meter { return &meter{now: now} }

// begin starts a turn with one of its parts.
func (m *meter) begin(part part, now time.Time) {
	m.began, m.since, m.part = now, now, part
	m.parts = [Parts]time.Duration{}
}

// turn goes on to another part and returns the one before.
func (m *meter) turn(to part, now time.Time) (from part) {
	m.parts[m.part] += now.Sub(m.since)
	from = m.part
	m.part, m.since = to, now
	return from
}

// End ends the turn, if one has begun.
func (m *meter) End(now time.Time) {
	if m.began.IsZero() {
		return
	}
	m.turn(m.part, now)
	took := now.Sub(m.began)
	m.began = time.Time{}
	m.Total += took
	m.Longest = max(m.Longest, took)
	at := 0
	for at < len(Bounds) && took > Bounds[at] {
		at++
	}
	m.Within[at]++
	for p, took := range m.parts {
		m.Parts[p] = max(m.Parts[p], took)
		m.Totals[p] += took
	}
}

// timed measures f as a part of the turn.
func (m *meter) timed(part part, f func() error) error {
	before := m.turn(part, m.now())
	defer func() { m.turn(before, m.now()) }()
	return f()
}
