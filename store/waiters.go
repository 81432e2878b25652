package store

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"
)

// Waiter is a URL that waits.
type Waiter struct {
	ID ID
	Birth
	Queued
}

// Waiters yields every URL that waits, in the order of discovery: what a
// frontier is rebuilt from. It walks queue and births side by side.
func (s *Store) Waiters() iter.Seq2[Waiter, error] {
	return func(yield func(Waiter, error) bool) {
		err := s.records.view(func(txn *badger.Txn) error {
			queue, births := walk(txn, keyQueued), walk(txn, keyBirth)
			defer queue.Close()
			defer births.Close()
			births.Rewind()
			for queue.Rewind(); queue.Valid(); queue.Next() {
				w, err := waiter(queue.Item(), births)
				if !yield(w, err) || err != nil {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(Waiter{}, err)
		}
	}
}

// walk returns an iterator over the records of a kind.
func walk(txn *badger.Txn, kind byte) *badger.Iterator {
	opt := badger.DefaultIteratorOptions
	opt.Prefix = key(kind)
	opt.PrefetchValues = false // these are small and lie beside the keys: fetching ahead costs a goroutine each
	return txn.NewIterator(opt)
}

// waiter reads a place in the queue and its URL's birth, which lies ahead of
// where births is, or is there.
func waiter(item *badger.Item, births *badger.Iterator) (w Waiter, err error) {
	k := item.KeyCopy(nil)
	n, err := numOf(k)
	if err != nil {
		return w, err
	}
	w.ID = ID(n)
	if err := valueOf(item, k, func(k, v []byte) error { return decode(k, v, &w.Queued) }); err != nil {
		return w, err
	}
	return w, birthAt(births, n, &w.Birth)
}

// birthAt reads the birth of URL n, which lies ahead of where births is, or is
// there.
func birthAt(births *badger.Iterator, n uint64, b *Birth) error {
	want := numKey(keyBirth, n)
	// The next of many that are wanted is near; of few, far.
	for steps := 0; births.Valid() && bytes.Compare(births.Item().Key(), want) < 0; steps++ {
		if steps < maxSteps {
			births.Next()
		} else {
			births.Seek(want)
		}
	}
	if !births.Valid() || !bytes.Equal(births.Item().Key(), want) {
		return fmt.Errorf("store key %q: %w", want, ErrUnknown)
	}
	return valueOf(births.Item(), want, func(k, v []byte) error { return decode(k, v, b) })
}

// maxSteps is how many records a walk passes over before it seeks, which costs
// about as much.
const maxSteps = 16
