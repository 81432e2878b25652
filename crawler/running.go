package crawler

import (
	"maps"
	"slices"
	"time"

	"fossick/crawler/fetch"
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
