package crawler

import (
	"fmt"
	"testing"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/journal"
	"fossick/store"
)

type committed struct {
	journal.Batch
	counts []store.Counts
}

func (c *committed) Commit(counts *store.Counts) error {
	c.counts = append(c.counts, *counts)
	return nil
}

// TestSessions: counts and time in sessions continue; a session's own start at zero.
func TestSessions(t *testing.T) {
	now := time.Unix(1_000, 0)
	r := totals{now: func() time.Time { return now }}
	r.restore(store.Counts{
		URLs: 5, Skipped: 1, Pages: 2, Bytes: 70, Relevant: 1, Elapsed: time.Minute,
		States: map[string]uint64{"ok": 2, "code": 1}, Codes: map[int]uint64{},
	})
	var disk committed
	now = now.Add(time.Hour) // opening the store
	if err := r.commit(&disk); err != nil || disk.counts[0].Elapsed != time.Minute {
		t.Errorf("before the session: %v of time (%v), want a minute", disk.counts[0].Elapsed, err)
	}
	r.begin()
	now = now.Add(time.Second)

	if id := r.discovered(); id != 6 || r.URLs != 6 || r.waiting() != 2 {
		t.Errorf("URL %d of %d, %d wait; want 6 of 6, and 2", id, r.URLs, r.waiting())
	}
	if n := r.nextPage(); n != 3 {
		t.Errorf("page %d, want 3", n)
	}
	r.stored(30, true, []store.Verdict{{Relevant: true, Paid: 0.25}, {Paid: 0.75}})
	r.States["ok"]++
	r.reopened("code")
	before := r.snapshot()
	r.replaced(&store.Page{Bytes: 50, Relevant: true, Topics: []store.Verdict{{Relevant: true, Paid: 0.25}, {Paid: 0.75}}},
		&store.Page{Bytes: 45, Topics: []store.Verdict{{Paid: 0.5}, {Relevant: true, Paid: 0.5}}})
	h := &store.Host{}
	r.askedPage(h, &fetch.Response{State: fetch.StateCode, Code: 503})
	r.attempted(&fetch.Response{State: fetch.StateCode, Code: 503})

	got := r.snapshot()
	if got.Bytes != 95 || got.Relevant != 1 || got.Elapsed != time.Minute+time.Second || got.Requests != 1 || h.Requests != 1 || got.Codes[503] != 1 {
		t.Errorf("counts %+v, host %d requests", got, h.Requests)
	}
	if was, is := fmt.Sprint(before.Topics), fmt.Sprint(got.Topics); was != "[{1 0.25} {0 0.75}]" || is != "[{0 0.5} {1 0.5}]" {
		t.Errorf("by topic %s, then %s", was, is)
	}
	if states := fmt.Sprint(got.States); states != "map[ok:3]" {
		t.Errorf("states %s", states)
	}
	if took, pages := r.session(); took != time.Second || pages != 1 {
		t.Errorf("session: %v and %d pages, want a second and one", took, pages)
	}
	if a := r.sessionAttempts(); a.Made != 1 || a.Answered != 0 || fmt.Sprint(a.Ended) != "map[ok:1]" || a.Last != "code: " || !r.nothingFetched() {
		t.Errorf("attempts %+v; nothing fetched: %v", a, r.nothingFetched())
	}
	r.States["code"]++ // changes no snapshot
	if len(got.States) != 1 {
		t.Errorf("a snapshot changes: %v", got.States)
	}
}

// TestDropped: a dropped page counts for nothing, and its number is not reused.
func TestDropped(t *testing.T) {
	r := totals{now: time.Now}
	r.restore(store.Counts{Pages: 3, Bytes: 70, Relevant: 2, Topics: []store.TopicCounts{{Relevant: 1}}})
	r.begin()
	r.dropped(&store.Page{Bytes: 50, Relevant: true, Topics: []store.Verdict{{Relevant: true}}})
	if n := r.snapshot(); n.Pages != 2 || n.Dropped != 1 || n.Bytes != 20 || n.Relevant != 1 || n.Topics[0].Relevant != 0 {
		t.Errorf("%+v", n)
	}
	if _, n := r.session(); n != 0 {
		t.Errorf("the session has stored %d", n)
	}
	if last, next := r.LastPage(), r.nextPage(); last != 3 || next != 4 || r.Pages != 3 {
		t.Errorf("page %d comes after %d; %d pages", next, last, r.Pages)
	}
}

// TestUnanswered: any response of a server is an answer; network failures are not.
func TestUnanswered(t *testing.T) {
	for _, c := range []struct {
		state fetch.State
		code  int
		want  bool
	}{
		{fetch.StateOK, 200, false}, {fetch.StateRedirect, 301, false}, {fetch.StateNotModified, 304, false},
		{fetch.StateCode, 404, false}, {fetch.StateCode, 403, false}, {fetch.StateWrongType, 200, false}, {fetch.StateTooLarge, 200, false},
		{fetch.StateNoIP, 0, true}, {fetch.StateConnectError, 0, true}, {fetch.StateConnectTimeout, 0, true},
		{fetch.StateTLSError, 0, true}, {fetch.StateGuardDenied, 0, true}, {fetch.StateHeaderTimeout, 0, true},
		{fetch.StateBodyError, 200, true}, {fetch.StateCode, 407, true}, {fetch.StateCode, 429, true}, {fetch.StateCode, 502, true},
	} {
		if got := unanswered(&fetch.Response{State: c.state, Code: c.code}); got != c.want {
			t.Errorf("%s %d: unanswered %v, want %v", c.state, c.code, got, c.want)
		}
	}
}

// TestTurnMeter: each turn counts once, with its parts, without the owner's waits.
func TestTurnMeter(t *testing.T) {
	var m meter
	now := time.Unix(0, 0)
	pass := func(ms int) time.Time { now = now.Add(time.Duration(ms) * time.Millisecond); return now }
	m.end(pass(5)) // before the first turn

	m.begin(partJournal, pass(9000))
	before := m.turn(Commit, pass(3))
	m.turn(before, pass(70))
	m.turn(partFrontier, pass(4))
	m.end(pass(20)) // 97 ms

	m.begin(partFrontier, pass(9000))
	m.end(pass(1))
	m.begin(partRescore, pass(0))
	m.end(pass(100_000))

	want := Stats{Total: 100_098 * time.Millisecond, Longest: 100 * time.Second}
	want.Within[0], want.Within[6], want.Within[len(Bounds)] = 1, 1, 1
	for part, ms := range map[part]int{partFrontier: 20, partJournal: 7, Commit: 70, partRescore: 100_000} {
		want.Totals[part] = time.Duration(ms) * time.Millisecond
		want.Parts[part] = time.Duration(ms) * time.Millisecond
	}
	want.Totals[partFrontier] += time.Millisecond // of the second turn
	if m.Stats != want {
		t.Errorf("got  %+v\nwant %+v", m.Stats, want)
	}
}
