package store

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

func TestOutbox(t *testing.T) {
	s := testkit.Call(Create(filepath.Join(t.TempDir(), "s"), Info{Version: "1.2.3"})).Must(t)
	defer func() { testkit.Must(t, s.Close()) }()
	rng := rand.New(rand.NewPCG(1, 20))
	want, counts := map[uint16][]uint64{}, Counts{}
	parts := []uint16{0, 7, 8, 1023, 1<<16 - 1}
	for range 300 {
		part := parts[rng.IntN(len(parts))]
		b := s.Batch()
		if rng.IntN(3) > 0 {
			testkit.Must(t, OutboxIn(b).Put(part, &counts, []byte{byte(part), byte(counts.Parcels + 1)}))
			want[part] = append(want[part], counts.Parcels)
		} else {
			upTo := rng.Uint64N(counts.Parcels + 2)
			if done, err := OutboxIn(b).Drop(part, upTo); err != nil || !done {
				t.Fatal(done, err)
			}
			want[part] = slices.DeleteFunc(want[part], func(n uint64) bool { return n <= upTo })
		}
		if len(want[part]) == 0 {
			delete(want, part)
		}
		testkit.Must(t, b.Commit())
		if rng.IntN(20) == 0 {
			testkit.Must(t, s.Close())
			s = testkit.Call(Open(s.Dir())).Must(t)
		}
		var have []uint16
		for p := range testkit.All(t, OutboxOf(s).Parts()) {
			have = append(have, p)
		}
		if !slices.Equal(have, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("parcels for %v, want %v", have, want)
		}
		for s, err := range OutboxOf(s).Spans() {
			if w := want[s.Part]; err != nil || s.First != w[0] || s.Last != w[len(w)-1] {
				t.Fatalf("%+v, %v, want %v", s, err, w)
			}
		}
		after := rng.Uint64N(counts.Parcels + 2)
		var numbers []uint64
		for p, err := range OutboxOf(s).Parcels(part, after) {
			if err != nil || p.Part != part || p.Data[0] != byte(part) || p.Data[1] != byte(p.Number) {
				t.Fatal(p, err)
			}
			numbers = append(numbers, p.Number)
		}
		if left := slices.DeleteFunc(slices.Clone(want[part]), func(n uint64) bool { return n <= after }); !slices.Equal(numbers, left) {
			t.Fatalf("part %d after %d: %v, want %v", part, after, numbers, left)
		}
	}
}

// TestOutboxEmptied: reading an outbox skips the dropped parcels, whose tombstones cost time.
func TestOutboxEmptied(t *testing.T) {
	s, counts := create(t), Counts{}
	for round := range 3 {
		alter(t, s, func(b *Batch) {
			for range 500 {
				testkit.Must(t, OutboxIn(b).Put(1, &counts, []byte("links")))
			}
		})
		if spans := all(t, OutboxOf(s).Spans()); len(spans) != 1 || spans[0] != (Span{1, uint64(500*round + 1), counts.Parcels}) {
			t.Errorf("round %d: %+v", round, spans)
		}
		alter(t, s, func(b *Batch) {
			done, err := OutboxIn(b).Drop(1, counts.Parcels)
			if testkit.Must(t, err); !done {
				t.Error("not all were dropped")
			}
		})
		if gone := s.outbox.gone(1); gone != counts.Parcels || len(all(t, OutboxOf(s).Parcels(1, 0))) > 0 {
			t.Errorf("round %d: reading starts after %d, want %d", round, gone, counts.Parcels)
		}
	}
}

func TestCursor(t *testing.T) {
	s := create(t)
	b := s.Batch()
	testkit.Must(t, OutboxIn(b).PutCursor(3, "a", 5))
	if n, err := OutboxIn(b).Cursor(3, "a"); n != 5 || err != nil {
		t.Errorf("in the batch %d, %v", n, err)
	}
	if n, err := OutboxOf(s).Cursor(3, "a"); n != 0 || err != nil {
		t.Errorf("before the commit %d, %v", n, err)
	}
	testkit.Must(t, b.Commit())
	for _, c := range []struct {
		part   uint16
		sender string
		want   uint64
	}{{3, "a", 5}, {3, "b", 0}, {4, "a", 0}} {
		if n, err := OutboxOf(s).Cursor(c.part, c.sender); n != c.want || err != nil {
			t.Errorf("%v: %d, %v", c, n, err)
		}
	}
	for h, err := range OutboxOf(s).Cursors() {
		if (h != Received{3, "a", 5}) || err != nil {
			t.Errorf("%+v, %v", h, err)
		}
	}
	if h, err := OutboxOf(s).Holdings(); h.Known != 0 || err != nil {
		t.Errorf("%+v, %v", h, err)
	}
	b = s.Batch()
	testkit.Must(t, OutboxIn(b).PutHoldings(Holdings{Known: 7, Held: map[uint16]uint64{1: 5}}), b.Commit())
	if h, err := OutboxOf(s).Holdings(); h.Known != 7 || h.Held[1] != 5 || err != nil {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestPoison: a sender name from another machine either reads back through Cursors or gives an
// error that fits on a line. Verify reports, and repair removes, bad records of earlier builds.
func TestPoison(t *testing.T) {
	class := testkit.Tries(t, "names that poison a store")
	s := crawled(t)
	for _, sender := range []string{"", strings.Repeat("a", 33), strings.Repeat("a", 66_000)} {
		b := s.Batch()
		err := OutboxIn(b).PutCursor(7, sender, 1)
		class.Try(errors.Is(err, ErrKey) && len(err.Error()) < 500, "sender of %d bytes: %.300v", len(sender), err)
		b.Cancel()
	}
	b := s.Batch()
	err := b.PutHost(&Host{Name: strings.Repeat("h", 70_000)})
	class.Try(errors.Is(err, ErrKey) && len(err.Error()) < 500, "host of 70,000 bytes: %.300v", err)
	b.Cancel()
	for _, k := range []string{"", strings.Repeat("a", 200)} {
		b := s.Batch()
		testkit.Must(t, b.txn.Set(cursorKey(7, k), make([]byte, 8)))
		testkit.Must(t, b.Commit())
	}
	b = s.Batch()
	testkit.Must(t, errors.Join(b.set(cursorKey(8, "agent"), []byte("short")), b.set([]byte{keyParcel, 1}, nil)))
	testkit.Must(t, b.Commit())
	found, err := s.Verify(t.Context())
	class.Try(err == nil && len(found) == 4, "verify finds %v, %v, want 4 records", found, err)
	mended, err := s.repair(t.Context())
	class.Try(err == nil && len(mended) == 4, "repair mends %v, %v", mended, err)
	for h, err := range OutboxOf(s).Cursors() {
		class.Try(err == nil && h.Sender != "", "a cursor: %v, %v", h, err)
	}
	record := func(k []byte) []byte {
		c := changes{bodies: true}
		c.set(k, make([]byte, 8))
		return append(c.data, 0)
	}
	for _, k := range [][]byte{cursorKey(7, ""), cursorKey(7, strings.Repeat("a", 66_000)), bytesKey(keyHost, bytes.Repeat([]byte("h"), 70_000)), bytesKey(keyHost, bytes.Repeat([]byte("h"), 5000))} {
		err := readChanges(bytes.NewReader(record(k)), func(k, v []byte) error { return nil })
		class.Try(errors.Is(err, ErrDamaged) && len(err.Error()) < 500, "changes of another agent with a key of %d bytes: %.300v", len(k), err)
	}
}

// dropped returns crawled without the given pages.
func dropped(t *testing.T, numbers ...uint64) *Store {
	s := crawled(t)
	for _, n := range numbers {
		alter(t, s, func(b *Batch) {
			p, _, err := DuplicatesIn(b).Page(ID(n))
			testkit.Must(t, err)
			c, err := s.Counts()
			testkit.Must(t, err)
			c.Pages--
			c.Dropped++
			c.Bytes -= uint64(p.Bytes)
			if p.Relevant {
				c.Relevant--
			}
			c.States["ok"]--
			c.States["duplicate"]++
			testkit.Must(t, DuplicatesIn(b).Drop(p, "http://other.test/"), b.PutOutcome(p.ID, Outcome{State: "duplicate", Reason: "same content as http://other.test/"}), b.PutCounts(&c))
		})
	}
	return s
}

// TestDropPage: only the record stays, numbers do not change, and the content counts as new.
func TestDropPage(t *testing.T) {
	s := dropped(t, 2, 5)
	var numbers []uint64
	for p, err := range s.Pages() {
		testkit.Must(t, err)
		numbers = append(numbers, p.Number)
	}
	equal(t, "pages", numbers, []uint64{1, 3, 4})
	numbers = nil
	for l, err := range s.Listed() {
		testkit.Must(t, err)
		numbers = append(numbers, l.Number)
	}
	equal(t, "listed", numbers, []uint64{1, 3, 4})
	p := testkit.Call(s.Page(2)).Must(t)
	equal(t, "what is left", *p, Page{Number: 2, ID: 2, URL: "http://h2.test/", Checksum: []byte("cccccccccccccccc"), SameAs: "http://other.test/"})
	if _, err := s.Body(2); !errors.Is(err, ErrUnknown) {
		t.Errorf("its body: %v", err)
	}
	if l, err := s.Label(2); err != nil || l != nil {
		t.Errorf("its label: %v, %v", l, err)
	}
	near := testkit.Call(s.Candidates(signatureOf(0, 2))).Must(t)
	for _, c := range near {
		if c.Number == 2 {
			t.Error("it is a candidate for near-duplicates")
		}
	}
	alter(t, s, func(b *Batch) {
		n := testkit.Call(b.PageWith([]byte("cccccccccccccccc"))).Must(t)
		equal(t, "the page of its content", n, uint64(0))
		if _, _, err := DuplicatesIn(b).Page(2); !errors.Is(err, ErrUnknown) {
			t.Errorf("the page of its URL: %v", err)
		}
	})
	c := testkit.Call(s.Counts()).Must(t)
	equal(t, "last page", c.LastPage(), uint64(5))
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// TestRepairWithDroppedPages: any last record fills a gap; a URL of a dropped page has no page.
func TestRepairWithDroppedPages(t *testing.T) {
	s := dropped(t, 2, 5)
	alter(t, s, func(b *Batch) {
		testkit.Must(t, b.delete(numKey(keyPage, 3)), b.PutOutcome(2, Outcome{State: "ok", Page: 2}))
	})
	problems, err := s.Verify(t.Context())
	testkit.Must(t, err)
	if len(problems) == 0 {
		t.Fatal("nothing is found")
	}
	_, err = s.repair(t.Context())
	wantLost(t, err, false)
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	p, err := s.Page(3)
	testkit.Must(t, err)
	equal(t, "page 3", p.URL, "http://h5.test/")
	c, err := s.Counts()
	testkit.Must(t, err)
	equal(t, "counts", [3]uint64{c.Pages, c.Dropped, c.Relevant}, [3]uint64{2, 2, 1})
	if _, _, err := s.URLs().Waiting(2); err != nil {
		t.Errorf("the URL that was said to have page 2 does not wait: %v", err)
	}
}
