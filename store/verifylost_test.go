package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/fulltest"
)

// TestRepairAnyLoss takes records away at random, or puts nonsense in their
// place, of one kind or of many, and repairs once. Then verify finds nothing,
// and each page is there whose record and body were left alone.
func TestRepairAnyLoss(t *testing.T) {
	kinds := []byte{keySeen, keyBirth, keyQueued, keyVisit, keyFate, keyPage, keyBody, keyContent, keyLabel, keyNear, keyHost, keyCount}
	for round := range fulltest.Rounds(8, 200) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(round), 15))
			share := []float64{0.02, 0.3, 0.9}[rng.IntN(3)]
			lossy := map[byte]bool{}
			for range 1 + rng.IntN(len(kinds)) {
				lossy[kinds[rng.IntN(len(kinds))]] = true
			}
			s := create(t)
			for range 30 {
				alter(t, s, func(b *Batch) { must(t, storePage(s, b)) })
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

// harmAny removes a share of the records of these kinds, and spoils as many; it returns
// the keys.
func harmAny(t *testing.T, s *Store, rng *rand.Rand, share float64, kinds map[byte]bool) map[string]bool {
	t.Helper()
	harmed := map[string]bool{}
	must(t, s.db.Update(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			k := it.Item().KeyCopy(nil)
			if !kinds[k[0]] || rng.Float64() > share {
				continue
			}
			harmed[string(k)] = true
			if rng.IntN(2) == 0 {
				must(t, txn.Delete(k))
			} else {
				must(t, txn.Set(k, []byte{0xff, byte(rng.Uint32())}))
			}
		}
		return nil
	}))
	return harmed
}

// TestFinding: a key that cannot be read is not one that is not there.
// Nothing that hangs on it is removed.
func TestFinding(t *testing.T) {
	disk := errors.New("input/output error")
	for _, c := range []struct{ err, want error }{{nil, nil}, {ErrUnknown, nil}, {ErrDamaged, nil}, {disk, disk}} {
		if got := finding(c.err); got != c.want {
			t.Errorf("finding(%v) = %v, want %v", c.err, got, c.want)
		}
	}
}
