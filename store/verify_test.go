package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/testkit"
)

// crawled returns a store with five pages, and URLs that wait, failed, repeat or were skipped.
func crawled(t *testing.T) *Store {
	s := create(t)
	alter(t, s, func(b *Batch) {
		c := Counts{URLs: 9, States: map[string]uint64{"ok": 5, "code": 1, "duplicate": 1}, Skipped: 1}
		for id := ID(1); id <= 9; id++ {
			url := fmt.Sprintf("http://h%d.test/", id)
			via := ViaLink
			if id == 1 {
				via = ViaSeed
			}
			testkit.Must(t, b.PutDiscovery(id, Discovery{URL: url, From: id - 1, Via: via, At: 1}), b.PutSeen(HashURL(url), id, id == 9))
			switch id {
			case 6:
				testkit.Must(t, b.PutQueued(id, Queued{Priority: 0.5, Score: 0.5, Parent: 1}))
			case 7:
				testkit.Must(t, b.PutOutcome(id, Outcome{State: "code"}), b.PutVisit(id, 1, Visit{State: "code", Code: 404}))
			case 8:
				testkit.Must(t, b.PutOutcome(id, Outcome{State: "duplicate", Page: 1}))
			case 9:
				testkit.Must(t, b.PutOutcome(id, Outcome{State: "none", Reason: "below the threshold"}))
			default:
				body := []byte(strings.Repeat("x", int(id)*100))
				p := &Page{Number: uint64(id), ID: id, URL: url, Checksum: []byte(strings.Repeat(string('a'+rune(id)), 16)), Bytes: int64(len(body)), Relevant: id%2 == 1}
				if id < 5 { // page 5 has no signature, as if short or stored by an earlier build
					p.Signature = signatureOf(byte(id%2), byte(id))
				}
				testkit.Must(t, b.PutPage(p, s.Compress(body)), b.PutOutcome(id, Outcome{State: "ok", Page: uint64(id)}), b.PutLabel(uint64(id), Label{Label: "x"}))
				c.Pages++
				c.Bytes += uint64(len(body))
				if p.Relevant {
					c.Relevant++
				}
			}
		}
		testkit.Must(t, b.PutCounts(&c), b.PutHost(&Host{Name: "h1.test:80", Pages: 1}))
	})
	return s
}

func TestVerifyFindsNothingInASoundStore(t *testing.T) {
	s := crawled(t)
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if problems, err := create(t).Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("an empty store: %v, %v", problems, err)
	}
}

func wantLost(t *testing.T, err error, lost bool) {
	t.Helper()
	if lost != errors.Is(err, ErrLost) || !lost && err != nil {
		t.Fatalf("the repair says %v; want that URLs are lost: %v", err, lost)
	}
}

// TestRepair breaks a store in every known way and repairs it.
func TestRepair(t *testing.T) {
	set := func(k, v []byte) func(*badger.Txn) error {
		return func(txn *badger.Txn) error { return txn.Set(k, v) }
	}
	remove := func(k []byte) func(*badger.Txn) error {
		return func(txn *badger.Txn) error { return txn.Delete(k) }
	}
	near := func(first byte) []byte { return nearKeys(signatureOf(first))[0] } // of pages 1 and 3, or 2 and 4
	queued := testkit.Call(encode(Queued{Priority: 1})).Must(t)
	h3 := HashURL("http://h3.test/")
	for name, test := range map[string]struct {
		harm  func(*badger.Txn) error
		what  string
		pages uint64
		waits int
	}{
		"a URL without story":         {remove(numKey(keyQueued, 6)), "neither waits nor", 5, 1},
		"a URL that waits and ended":  {set(numKey(keyQueued, 7), queued), "waits and has ended", 5, 1},
		"a URL not in the seen-set":   {remove(bytesKey(keySeen, h3[:])), "the seen-set has", 5, 1},
		"a seen URL of no discovery":  {set(bytesKey(keySeen, make([]byte, 16)), seenValue(77, false)), "names a URL that is missing", 5, 1},
		"a queue of no URL":           {set(numKey(keyQueued, 77), queued), "belongs to no URL", 5, 1},
		"a discovery that is damaged": {set(numKey(keyDiscovery, 6), []byte{0xff}), "damaged", 5, 0},
		"an outcome that is damaged":  {set(numKey(keyOutcome, 7), []byte{0xff}), "neither waits nor", 5, 2},
		"a page that is damaged":      {set(numKey(keyPage, 2), []byte{0xff}), "damaged", 4, 2},
		"the last page is damaged":    {set(numKey(keyPage, 5), []byte{0xff}), "damaged", 4, 2},
		"a body that is damaged":      {set(numKey(keyBody, 2), []byte("no zstd")), "damaged", 4, 2},
		"a body that is missing":      {remove(numKey(keyBody, 1)), "does not know it", 4, 2},
		"a page that is missing":      {remove(numKey(keyPage, 2)), "page 2 is missing, but later pages exist", 4, 2},
		"the last page is missing":    {remove(numKey(keyPage, 5)), "which belongs to another URL", 4, 2},
		"a checksum unknown":          {remove(bytesKey(keyContent, []byte(strings.Repeat("d", 16)))), "missing from the index of contents", 5, 1},
		"a label of no page":          {set(numKey(keyLabel, 77), queued), "belongs to no page", 5, 1},
		"a host that is damaged":      {set(bytesKey(keyHost, []byte("h1.test:80")), []byte{0xff}), "damaged", 5, 1},
		"no index of near-duplicates": {remove(near(1)), "missing from the index of near-duplicates", 5, 1},
		"an index without a page":     {set(near(1), pagesOf(1)), "page 3 is missing from the index", 5, 1},
		"an index of no page":         {set(near(0), pagesOf(2, 4, 77)), "names the pages [2 4 77]", 5, 1},
		"an index full of no pages":   {set(near(0), pagesOf(71, 72, 73, 74)), "names the pages [71 72 73 74]", 5, 1},
		"an index of another page":    {set(near(0), pagesOf(1, 2, 4)), "names the pages [1 2 4]", 5, 1},
		"an index that is damaged":    {set(near(0), []byte("x")), "damaged", 5, 1},
		"an index of a short band":    {set([]byte{keyNear, 1}, pagesOf(1)), "damaged", 5, 1},
		"totals that are damaged":     {set(key(keyCount), []byte{0xff}), "the totals are", 5, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := crawled(t)
			testkit.Must(t, s.db.Update(test.harm))
			problems, err := s.Verify(t.Context())
			if err != nil || !strings.Contains(fmt.Sprint(problems), test.what) {
				t.Fatalf("verify says %v, %v; want %q", problems, err, test.what)
			}
			_, err = s.repair(t.Context())
			wantLost(t, err, slices.Contains([]string{"a seen URL of no discovery", "a queue of no URL", "a discovery that is damaged"}, name))
			if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
				t.Fatalf("after the repair: %v, %v", problems, err)
			}
			counts, err := s.Counts()
			testkit.Must(t, err)
			waiters := all(t, s.URLs().Waiters())
			if counts.Pages != test.pages || len(waiters) != test.waits {
				t.Errorf("%d pages and %d URLs that wait, want %d and %d", counts.Pages, len(waiters), test.pages, test.waits)
			}
			for _, p := range all(t, s.Pages()) {
				if body, err := s.Body(p.Number); err != nil || len(body) != int(p.ID)*100 {
					t.Errorf("page %d of URL %d: %d bytes, %v", p.Number, p.ID, len(body), err)
				}
			}
		})
	}
}

func TestVerifyIsInterrupted(t *testing.T) {
	s := crawled(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Verify(ctx); err == nil {
		t.Error("no error")
	}
}

// TestRepairLostBodies: a page with a lost body is named and queued again; all else stays.
func TestRepairLostBodies(t *testing.T) {
	s := crawled(t)
	visit := Visit{Start: 5, State: "ok", Code: 200, Bytes: 99}
	mark := Mark{OnTopic: true, At: 6}
	lost := Outcome{State: "ok", Page: 2, At: 7, Score: 0.625, Parent: 4}
	alter(t, s, func(b *Batch) {
		testkit.Must(t, b.PutOutcome(2, lost), b.PutVisit(2, 1, visit), b.PutVisit(2, 2, visit), b.put(numKey(keyMark, 2), mark))
		p := testkit.Call(s.Page(2)).Must(t)
		p.Relevant = true // agrees with the mark
		testkit.Must(t, b.PutPageRecord(p), b.set(numKey(keyBody, 2), []byte("no zstd")), b.set(numKey(keyBody, 4), []byte("nor this")))
		c := testkit.Call(s.Counts()).Must(t)
		c.Relevant++
		testkit.Must(t, b.PutCounts(&c))
	})
	before := map[string]string{}
	for _, p := range all(t, s.Pages()) {
		if body, err := s.Body(p.Number); err == nil {
			before[p.URL] = string(body)
		}
	}
	if len(before) != 3 {
		t.Fatalf("%d bodies can be read, want 3", len(before))
	}

	found := testkit.Call(s.Verify(t.Context())).Must(t)
	want := []string{"http://h2.test/", "http://h4.test/"}
	if len(found) != 3 || found[2].Key != `"n"` || found[0].URL != want[0] || found[1].URL != want[1] || !strings.Contains(found[1].What, "the body of http://h4.test/ is lost") {
		t.Fatalf("found %+v, want the lost bodies of %s, and the totals without them", found, want)
	}
	testkit.Call(s.repair(t.Context())).Must(t)
	if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Fatalf("after the repair: %v, %v", found, err)
	}
	life := testkit.Call(s.URLs().Life(want[0])).Must(t)
	equal(t, "its place", life.Queued, &Queued{Priority: 0.625, Score: 0.625, Parent: 4, Visits: 2, Excused: 2, Lost: true})
	equal(t, "its visits", life.Visits, []Visit{visit, visit})
	equal(t, "its mark", life.Mark, &mark)
	for _, p := range all(t, s.Pages()) {
		body, err := s.Body(p.Number)
		if testkit.Must(t, err); before[p.URL] != string(body) {
			t.Errorf("%s has another body than before", p.URL)
		}
		delete(before, p.URL)
	}
	equal(t, "pages that went", before, map[string]string{})
}

// TestRepairAnyLoss removes or corrupts random records of one or many kinds and repairs once. Then
// verify finds nothing, and each page with an intact record and body is there.
func TestRepairAnyLoss(t *testing.T) {
	kinds := []byte{keySeen, keyDiscovery, keyQueued, keyVisit, keyOutcome, keyPage, keyBody, keyContent, keyLabel, keyNear, keyHost, keyCount}
	for round := range testkit.Rounds(8, 60) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(round), 15))
			share := []float64{0.02, 0.3, 0.9}[rng.IntN(3)]
			lossy := map[byte]bool{}
			for range 1 + rng.IntN(len(kinds)) {
				lossy[kinds[rng.IntN(len(kinds))]] = true
			}
			s := create(t)
			for range 30 {
				alter(t, s, func(b *Batch) { testkit.Must(t, storePage(s, b)) })
			}
			harmed := harmAny(t, s, rng, share, lossy)
			if _, err := s.repair(t.Context()); err != nil && !errors.Is(err, ErrLost) {
				t.Fatal(err)
			}
			if left, err := s.Verify(t.Context()); err != nil || len(left) > 0 {
				t.Fatalf("after the repair %d problems: %.600v, %v", len(left), left, err)
			}
			for n := uint64(1); n <= 30; n++ {
				if harmed[string(numKey(keyPage, n))] || harmed[string(numKey(keyBody, n))] {
					continue
				}
				life, err := s.URLs().Life(matrixURL(ID(n)))
				if err != nil || life.Page == nil {
					t.Fatalf("page %d was left alone and is gone: %+v, %v", n, life, err)
				}
				if body, err := s.Body(life.Page.Number); err != nil || string(body) != string(bodyOf(n)) {
					t.Fatalf("page %d has another body, %v", n, err)
				}
			}
		})
	}
}

func harmAny(t *testing.T, s *Store, rng *rand.Rand, share float64, kinds map[byte]bool) map[string]bool {
	t.Helper()
	harmed := map[string]bool{}
	testkit.Must(t, s.db.Update(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			k := it.Item().KeyCopy(nil)
			if !kinds[k[0]] || rng.Float64() > share {
				continue
			}
			harmed[string(k)] = true
			if rng.IntN(2) == 0 {
				testkit.Must(t, txn.Delete(k))
			} else {
				testkit.Must(t, txn.Set(k, []byte{0xff, byte(rng.Uint32())}))
			}
		}
		return nil
	}))
	return harmed
}

// TestFinding: a read error must not count as a missing record.
func TestFinding(t *testing.T) {
	disk := errors.New("input/output error")
	for _, c := range []struct{ err, want error }{{nil, nil}, {ErrUnknown, nil}, {ErrDamaged, nil}, {disk, disk}} {
		if got := finding(c.err); got != c.want {
			t.Errorf("finding(%v) = %v, want %v", c.err, got, c.want)
		}
	}
}
