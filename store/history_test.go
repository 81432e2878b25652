package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/testkit"
	"fossick/store/change"
)

// TestHistories: revisits read back as visits, however they are stored.
func TestHistories(t *testing.T) {
	s := crawled(t)
	const id, days = ID(2), 24 * 3600 * 1000
	want := append([]Visit(nil), lifeOf(t, s, id).Visits...)
	first := len(want) + 1
	put := func(v Visit) {
		t.Helper()
		alter(t, s, func(b *Batch) { testkit.Must(t, PutRevisit(b, id, len(want)+1, v)) })
		want = append(want, v)
	}
	for i := range 2*change.Most + 3 { // three histories
		put(Visit{Start: int64(i+1) * days, Millis: 7, State: "not_modified", Code: 304, Rest: 2000})
	}
	put(Visit{Start: 3 * days, State: "ok", Code: 200, Change: change.Text})                                            // the clock was set back
	alter(t, s, func(b *Batch) { testkit.Must(t, b.PutVisit(id, len(want)+1, Visit{Start: 900 * days, State: "ok"})) }) // as after a repair
	want = append(want, Visit{Start: 900 * days, State: "ok"})
	put(Visit{Start: 901 * days, State: "asleep", Error: "of which no history knows"})
	put(Visit{Start: 902 * days, State: "redirect", Code: 301, Location: 1})
	last := len(want)
	inOrder(want)

	equal(t, "the story", lifeOf(t, s, id).Visits, want)
	c := testkit.Call(s.URLs().CopyOf(id)).Must(t)
	equal(t, "exchanges so far", c.Visits, last)
	for k, err := range s.URLs().Known() {
		testkit.Must(t, err)
		if k.ID == id {
			equal(t, "in one pass", k.Visits, want)
		}
	}
	n := 0
	for v, err := range s.URLs().Visits() {
		testkit.Must(t, err)
		if v.ID == id {
			n++
			if !strings.HasPrefix(v.URL, "http") {
				t.Fatalf("%+v", v)
			}
		}
	}
	equal(t, "visits of a walk", n, last)
	testkit.Must(t, s.records.view(func(txn *badger.Txn) error {
		for at := range last {
			if _, err := visitAt(txn, id, at+1); err != nil {
				return err
			}
		}
		v, err := visitAt(txn, id, first+change.Most)
		equal(t, "a visit by its number", v.Start, int64(change.Most+1)*days)
		return err
	}))
	problems := testkit.Call(s.Verify(t.Context())).Must(t)
	equal(t, "problems", len(problems), 0)
}

// TestHistoriesMended: repair removes bad histories, and references to unknown URLs.
func TestHistoriesMended(t *testing.T) {
	s := crawled(t)
	alter(t, s, func(b *Batch) {
		testkit.Must(t, b.set(historyKey(1, 9), []byte{1, 31}))
		testkit.Must(t, PutRevisit(b, 2, 9, Visit{Start: 5, State: "redirect", Location: 4711}))
		testkit.Must(t, PutRevisit(b, 2, 10, Visit{Start: 6, State: "redirect", Location: 1}))
		testkit.Must(t, PutRevisit(b, 4711, 1, Visit{Start: 5, State: "ok"}))
	})
	problems, err := s.repair(t.Context())
	if !errors.Is(err, ErrLost) { // the highest ID was 4711
		t.Error(err)
	}
	if len(problems) < 3 {
		t.Errorf("%d problems, want at least three: %+v", len(problems), problems)
	}
	v := lifeOf(t, s, 2).Visits
	if n := len(v); n < 2 || v[n-2].State != "redirect" && v[n-1].State != "redirect" {
		t.Errorf("%+v: want both revisits", v)
	}
	for _, one := range v {
		if one.Location == 4711 {
			t.Errorf("%+v names a URL that is not there", one)
		}
	}
	problems, err = s.Verify(t.Context())
	testkit.Must(t, err)
	equal(t, "problems after repair", len(problems), 0)
}

func lifeOf(t *testing.T, s *Store, id ID) *Life {
	t.Helper()
	discovery := testkit.Call(s.URLs().Discovery(id)).Must(t)
	l := testkit.Call(s.URLs().Life(discovery.URL)).Must(t)
	return l
}

// TestKnown compares the walk with single look-ups, for URLs of all kinds.
func TestKnown(t *testing.T) {
	s := create(t)
	wire := someWires()[0]
	alter(t, s, func(b *Batch) {
		for n := ID(1); n <= 60; n++ {
			testkit.Must(t, b.PutDiscovery(n, Discovery{URL: fmt.Sprintf("http://h.example/%d", n), Via: ViaLink, Depth: int(n % 5)}))
			if n%3 != 0 {
				testkit.Must(t, b.PutOutcome(n, Outcome{State: "code", Score: float64(n)}))
			}
			for v := 1; v <= int(n%4); v++ {
				testkit.Must(t, b.PutVisit(n, v, Visit{Start: int64(v), State: "code", Code: 400 + v}))
				if n%8 > 4 {
					testkit.Must(t, b.PutWire(n, v, WireRecord{Kind: WirePage, Packed: PackWire("", &wire)}))
				}
			}
		}
	})
	n := ID(0)
	for k, err := range s.URLs().Known() {
		testkit.Must(t, err)
		n++
		discovery := testkit.Call(s.URLs().Discovery(n)).Must(t)
		if k.ID != n || k.Discovery != discovery || (k.Outcome == nil) != (n%3 == 0) || k.Outcome != nil && k.Outcome.Score != float64(n) || len(k.Visits) != int(n%4) {
			t.Fatalf("URL %d: %+v", n, k)
		}
		for i, v := range k.Visits {
			if v.Code != 401+i {
				t.Errorf("URL %d, visit %d: %+v", n, i+1, v)
			}
		}
		x := testkit.Call(s.URLs().Exchanged(n)).Must(t)
		if len(x) != len(k.Wires) {
			t.Fatalf("URL %d has %d headers, want %d", n, len(k.Wires), len(x))
		}
		for i := range x {
			if !sameWire(x[i].Wire, k.Wires[i].Wire) || x[i].Visit != k.Wires[i].Visit {
				t.Errorf("URL %d, header %d: %+v, want %+v", n, i, k.Wires[i], x[i])
			}
		}
	}
	if n != 60 {
		t.Errorf("%d URLs", n)
	}
}

// TestEnded compares the walk with single look-ups, over gaps of few and many waiting URLs.
func TestEnded(t *testing.T) {
	s := testkit.Call(Create(filepath.Join(t.TempDir(), "s"), Info{})).Must(t)
	defer s.Close()
	want := map[ID]Outcome{}
	b := s.Batch()
	for n := ID(1); n <= 400; n++ {
		testkit.Must(t, b.PutDiscovery(n, Discovery{URL: fmt.Sprintf("http://h.example/%d", n), From: n / 2, Via: ViaLink}))
		if n%7 != 0 && n < 300 && n > 20 {
			continue
		}
		f := Outcome{State: []string{"ok", "code"}[n%2], Score: float64(n), Page: uint64(n % 2)}
		testkit.Must(t, b.PutOutcome(n, f))
		want[n] = f
	}
	testkit.Must(t, b.Commit())
	last := ID(0)
	for e := range testkit.All(t, s.URLs().Ended("")) {
		discovery, err := s.URLs().Discovery(e.ID)
		if err != nil || e.Discovery != discovery || e.Outcome != want[e.ID] || e.ID <= last {
			t.Fatalf("after %d: got %+v (%v), want %+v of %+v", last, e, err, want[e.ID], discovery)
		}
		last = e.ID
		delete(want, e.ID)
	}
	if len(want) > 0 {
		t.Errorf("%d outcomes are missing", len(want))
	}
}
