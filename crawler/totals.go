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

// running are the totals of a crawl that goes on.
type running struct {
	counts store.Counts

	now      func() time.Time
	began    time.Time // zero before Begin
	before   store.Counts
	attempts Attempts
	farmed   int
}

// newTotals returns totals in which nothing is counted yet.
func newTotals(now func() time.Time) *running { return &running{now: now} }

// restore begins with what the sessions before have counted.
func (t *running) restore(counts store.Counts) {
	t.counts, t.before = counts, counts
	t.before.States = maps.Clone(counts.States)
}

// begin begins a session: its time counts from now on.
func (t *running) begin() { t.began = t.now() }

// elapsed is the time of all sessions.
func (t *running) elapsed() time.Duration { return t.before.Elapsed + t.now().Sub(t.began) }

// Commit commits a batch with the totals as they are.
func (t *running) Commit(b interface {
	Commit(counts *store.Counts) error
}) error {
	if !t.began.IsZero() {
		t.counts.Elapsed = t.elapsed()
	}
	return b.Commit(&t.counts)
}

// lost takes back what was counted after the last commit, of which counts are.
func (t *running) lost(counts store.Counts) { t.counts = counts }

// Counts are the totals themselves: who writes to the store in the owner's turn, commits
// them.
func (t *running) Counts() *store.Counts { return &t.counts }

// snapshot returns the counts as they are, for others to keep.
func (t *running) snapshot() store.Counts {
	counts := t.counts
	counts.States, counts.Codes = maps.Clone(counts.States), maps.Clone(counts.Codes)
	counts.Topics = slices.Clone(counts.Topics)
	if !t.began.IsZero() {
		counts.Elapsed = t.elapsed()
	}
	return counts
}

// session returns how long this session goes on, and how many pages it has stored.
func (t *running) session() (time.Duration, uint64) {
	return t.now().Sub(t.began), t.counts.Pages - min(t.counts.Pages, t.before.Pages)
}

// Pages is how many are stored.
func (t *running) Pages() uint64 { return t.counts.Pages }

// lastPage is the number of the page that was stored last: how many were stored ever.
func (t *running) lastPage() uint64 { return t.counts.LastPage() }

// URLs is how many are known.
func (t *running) URLs() uint64 { return t.counts.URLs }

// Waiting is how many URLs have not ended.
func (t *running) Waiting() int {
	n := t.counts.URLs - t.counts.Skipped
	for _, ended := range t.counts.States {
		n -= min(n, ended)
	}
	return int(n)
}

// discovered counts a URL and returns its number.
func (t *running) discovered() store.ID {
	t.counts.URLs++
	return store.ID(t.counts.URLs)
}

// skipped counts a URL that is known and not wanted.
func (t *running) skipped() { t.counts.Skipped++ }

// wanted counts a URL that was skipped and is wanted now.
func (t *running) wanted() { t.counts.Skipped-- }

// Ended counts a URL that has a final state.
func (t *running) Ended(state string) { t.counts.States[state]++ }

// reopened counts a URL that has a final state no more.
func (t *running) reopened(state string) {
	if t.counts.States[state]--; t.counts.States[state] == 0 {
		delete(t.counts.States, state)
	}
}

// nearDuplicate counts a page that is not stored since another is like it.
func (t *running) nearDuplicate() { t.counts.NearDuplicates++ }

// nearReopened counts such a page that may be stored after all.
func (t *running) nearReopened() { t.counts.NearDuplicates-- }

// Farmed counts a URL that is left aside since its host is a farm's.
func (t *running) Farmed() { t.farmed++ }

// leftToFarms is how many these were in this session.
func (t *running) leftToFarms() int { return t.farmed }

// nextPage counts a page that is about to be stored and returns its number. Stored follows.
func (t *running) nextPage() uint64 {
	t.counts.Pages++
	return t.counts.LastPage()
}

// stored counts what a page is that was stored; topics are the verdicts of those that
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

// dropped counts a page that is stored no more, since another agent has its content.
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

// askedPage counts a request for a page, and what was answered.
func (t *running) askedPage(h *store.Host, r *fetch.Response) {
	t.asked(h)
	if r.State == fetch.StateCode {
		t.counts.Codes[r.Code]++
	}
}

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

// Package turns measures how long a crawl's owner is busy at a time, and with what.
//
// In: when a turn begins, goes on to another part, and ends. Out: how many were how long.
// Start with NewMeter, then Begin, Turn and End.

// Turns tells how long the owner was busy at a time: from an event, such as the end
// of an exchange, until it waited for the next. What takes it long delays all
// workers, for it alone leases and journals.
type Stats struct {
	// Within counts the turns of at most TurnBounds[i], and in its last place the
	// longer ones; each turn is counted once.
	Within  [len(Bounds) + 1]uint64
	Total   time.Duration // of all turns
	Longest time.Duration
	// Parts has the longest time that a turn spent on each part of its work, Totals what
	// all turns did.
	Parts, Totals [Parts]time.Duration
}

// TurnBounds are the upper bounds by which turns are counted.
var Bounds = [...]time.Duration{
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second,
}

// Plus returns how long several owners were busy together.
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

// TurnPart is a part of the owner's work.
type part int

// The parts of a turn. Frontier goes with what leasing reads of the store,
// Journal is what follows from exchanges and is put into a batch. Commit is the
// wait for the store to take the batch, Rescore new priorities for the queue.
const (
	turnsFrontier part = iota
	turnsJournal
	Commit
	rescore
	Parts
)

func (p part) String() string { return [...]string{"frontier", "journal", "commit", "rescore"}[p] }

// turnMeter measures turns as they go on.
type meter struct {
	Stats
	now   func() time.Time
	began time.Time // of this turn; zero while the owner waits
	parts [Parts]time.Duration
	part  part      // that goes on
	since time.Time // and since when
}

// newTurnMeter returns a meter of turns by a clock.
func newMeter(now func() time.Time) *meter { return &meter{now: now} }

// begin starts a turn with a part of it.
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

// end is the end of a turn that was begun, if one was.
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

// timed counts what f takes as a part of the turn.
func (m *meter) timed(part part, f func() error) error {
	before := m.turn(part, m.now())
	defer func() { m.turn(before, m.now()) }()
	return f()
}
