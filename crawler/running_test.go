package crawler

import (
	"fmt"
	"testing"
	"time"

	"fossick/crawler/fetch"
	"fossick/store"
)

type committed struct{ counts []store.Counts }

func (c *committed) Commit(counts *store.Counts) error {
	c.counts = append(c.counts, *counts)
	return nil
}

// TestSessions: counts go on over sessions, what a session has done begins anew, and time
// counts only while it runs.
func TestSessions(t *testing.T) {
	now := time.Unix(1_000, 0)
	r := newTotals(func() time.Time { return now })
	r.restore(store.Counts{
		URLs: 5, Skipped: 1, Pages: 2, Bytes: 70, Relevant: 1, Elapsed: time.Minute,
		States: map[string]uint64{"ok": 2, "code": 1}, Codes: map[int]uint64{},
	})
	var disk committed
	now = now.Add(time.Hour) // opening the store
	if err := r.Commit(&disk); err != nil || disk.counts[0].Elapsed != time.Minute {
		t.Errorf("before the session: %v of time (%v), want a minute", disk.counts[0].Elapsed, err)
	}
	r.begin()
	now = now.Add(time.Second)

	if id := r.discovered(); id != 6 || r.URLs() != 6 || r.Waiting() != 2 {
		t.Errorf("URL %d of %d, %d wait; want 6 of 6, and 2", id, r.URLs(), r.Waiting())
	}
	if n := r.nextPage(); n != 3 {
		t.Errorf("page %d, want 3", n)
	}
	r.stored(30, true, []store.Verdict{{Relevant: true, Paid: 0.25}, {Paid: 0.75}})
	r.Ended("ok")
	r.reopened("code")
	before := r.snapshot()
	r.replaced(&store.Page{Bytes: 50, Relevant: true, Topics: []store.Verdict{{Relevant: true, Paid: 0.25}, {Paid: 0.75}}},
		&store.Page{Bytes: 45, Topics: []store.Verdict{{Paid: 0.5}, {Relevant: true, Paid: 0.5}}})
	r.withdrawn(&store.Page{Bytes: 20})
	h := &store.Host{}
	r.askedPage(h, &fetch.Response{State: fetch.StateCode, Code: 503})
	r.attempted(&fetch.Response{State: fetch.StateCode, Code: 503})

	got := r.snapshot()
	if got.Bytes != 75 || got.Relevant != 1 || got.Elapsed != time.Minute+time.Second || got.Requests != 1 || h.Requests != 1 || got.Codes[503] != 1 {
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
	if a := r.Attempts(); a.Made != 1 || a.Answered != 0 || fmt.Sprint(a.Ended) != "map[ok:1]" || a.Last != "code: " || !r.nothingFetched() {
		t.Errorf("attempts %+v; nothing fetched: %v", a, r.nothingFetched())
	}
	r.Ended("code") // changes no snapshot
	if len(got.States) != 1 {
		t.Errorf("a snapshot changes: %v", got.States)
	}
}

// TestDropped: a page that is stored no more counts for nothing, and its number is not given
// again.
func TestDropped(t *testing.T) {
	r := newTotals(time.Now)
	r.restore(store.Counts{Pages: 3, Bytes: 70, Relevant: 2, Topics: []store.TopicCounts{{Relevant: 1}}})
	r.begin()
	r.dropped(&store.Page{Bytes: 50, Relevant: true, Topics: []store.Verdict{{Relevant: true}}})
	if n := r.snapshot(); n.Pages != 2 || n.Dropped != 1 || n.Bytes != 20 || n.Relevant != 1 || n.Topics[0].Relevant != 0 {
		t.Errorf("%+v", n)
	}
	if _, n := r.session(); n != 0 {
		t.Errorf("the session has stored %d", n)
	}
	if last, next := r.lastPage(), r.nextPage(); last != 3 || next != 4 || r.Pages() != 3 {
		t.Errorf("page %d comes after %d; %d pages", next, last, r.Pages())
	}
}
