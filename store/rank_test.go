package store

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/testkit"
)

func rankAll(n int, score float64, each func(page int)) iter.Seq[NumberedRank] {
	return func(yield func(NumberedRank) bool) {
		for i := 1; i <= n; i++ {
			each(i)
			if !yield(NumberedRank{uint64(i), Rank{Score: score / float64(i), Hub: 0.5}}) {
				return
			}
		}
	}
}

func scores(t *testing.T, s *Store) map[uint64]float64 {
	t.Helper()
	all := map[uint64]float64{}
	for r, err := range s.Ranks().All() {
		testkit.Must(t, err)
		all[r.Page] = r.Score
	}
	return all
}

func TestRanks(t *testing.T) {
	s := crawled(t)
	if r, err := s.Ranks().Last(); r != nil || err != nil || len(scores(t, s)) > 0 {
		t.Errorf("before: %v, %v", r, err)
	}
	none := func(int) {}
	for i, n := range []int{5, 3, 4, 0, 5} {
		testkit.Must(t, s.Ranks().Put(t.Context(), Ranking{Method: "pagerank", At: int64(i)}, rankAll(n, 0.5, none)))
		r := testkit.Call(s.Ranks().Last()).Must(t)
		got := scores(t, s)
		if r.At != int64(i) || r.Pages != uint64(n) || len(got) != n || n > 1 && got[2] != 0.25 {
			t.Errorf("ranking %d: %+v, %v", i, r, got)
		}
		if records := count(t, s, keyRank); records != n {
			t.Errorf("ranking %d: %d records, want %d", i, records, n)
		}
		if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("ranking %d: %v, %v", i, problems, err)
		}
	}
}

func count(t *testing.T, s *Store, kind byte) (n int) {
	t.Helper()
	for _, err := range each(s.records, key(kind), func(_, _ []byte) (bool, error) { return true, nil }) {
		testkit.Must(t, err)
		n++
	}
	return n
}

// TestRanksCutOff interrupts rankings: the old one stays whole, and the next cleans up.
func TestRanksCutOff(t *testing.T) {
	s := crawled(t)
	testkit.Must(t, s.Ranks().Put(t.Context(), Ranking{Method: "first"}, rankAll(5, 1, func(int) {})))
	want := scores(t, s)
	for _, after := range []int{1, 3, 9_000, 29_000} { // a batch holds some 7,000
		ctx, cancel := context.WithCancel(t.Context())
		err := s.Ranks().Put(ctx, Ranking{Method: "second"}, rankAll(30_000, 0.5, func(page int) {
			if page == after {
				cancel()
			}
		}))
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("after %d: %v", after, err)
		}
		r, err := s.Ranks().Last()
		testkit.Must(t, err)
		got := scores(t, s)
		if r.Method != "first" || len(got) != 5 || got[2] != want[2] {
			t.Errorf("after %d: %+v, %v", after, r, got)
		}
		if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("after %d: %v, %v", after, problems, err)
		}
	}
	if n := count(t, s, keyRank); n < 5000 {
		t.Errorf("%d records: no batch was committed, the test tests nothing", n)
	}
	testkit.Must(t, s.Ranks().Put(t.Context(), Ranking{Method: "third"}, rankAll(2, 0.5, func(int) {})))
	if n := count(t, s, keyRank); n != 2 {
		t.Errorf("%d records at last, want 2", n)
	}
}

func TestRepairRanks(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(txn *badger.Txn) error
		want []uint64
	}{
		"damaged":     {func(txn *badger.Txn) error { return txn.Set(rankKey(0, 2), []byte("x")) }, []uint64{1, 3, 4, 5}},
		"no share":    {func(txn *badger.Txn) error { return txn.Set(rankKey(0, 2), encoded(t, Rank{Score: math.NaN()})) }, []uint64{1, 3, 4, 5}},
		"of no page":  {func(txn *badger.Txn) error { return txn.Set(rankKey(0, 77), encoded(t, Rank{Score: 0.1})) }, []uint64{1, 2, 3, 4, 5}},
		"a wrong key": {func(txn *badger.Txn) error { return txn.Set([]byte{keyRank, 7}, nil) }, []uint64{1, 2, 3, 4, 5}},
		"no ranking":  {func(txn *badger.Txn) error { return txn.Set(key(keyRanking), []byte("x")) }, nil},
		"no side":     {func(txn *badger.Txn) error { return txn.Set(key(keyRanking), encoded(t, Ranking{Side: 9})) }, nil},
		"a hole":      {func(txn *badger.Txn) error { return txn.Delete(numKey(keyPage, 2)) }, []uint64{1, 2, 3, 4}}, // page 5 becomes 2
	} {
		t.Run(name, func(t *testing.T) {
			s := crawled(t)
			testkit.Must(t, s.Ranks().Put(t.Context(), Ranking{}, rankAll(5, 1, func(int) {})))
			testkit.Must(t, s.db.Update(test.harm))
			found := testkit.Call(s.Verify(t.Context())).Must(t)
			if len(found) == 0 {
				t.Error("nothing was found")
			}
			testkit.Call(s.repair(t.Context())).Must(t)
			if left, err := s.Verify(t.Context()); err != nil || len(left) > 0 {
				t.Errorf("after the repair: %v, %v", left, err)
			}
			got := scores(t, s)
			var pages []uint64
			for p := range got {
				pages = append(pages, p)
			}
			slices.Sort(pages)
			if !slices.Equal(pages, test.want) {
				t.Errorf("ranks of pages %v are left, want %v", pages, test.want)
			}
			if name == "a hole" && got[2] != 0.2 {
				t.Errorf("page 2, once 5, has %g, want 0.2", got[2])
			}
		})
	}
}

func encoded(t *testing.T, record any) []byte {
	t.Helper()
	b := testkit.Call(encode(record)).Must(t)
	return b
}
