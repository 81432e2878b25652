package store

import (
	"iter"

	"github.com/dgraph-io/badger/v4"
)

// Outcomes yields every URL that waits no more, in the order of discovery. It
// walks fates and births side by side, so it costs one pass whatever the states.
func (s *Store) Outcomes() iter.Seq2[Ended, error] {
	return func(yield func(Ended, error) bool) {
		err := s.records.view(func(txn *badger.Txn) error {
			fates, births := walk(txn, keyFate), walk(txn, keyBirth)
			defer fates.Close()
			defer births.Close()
			births.Rewind()
			for fates.Rewind(); fates.Valid(); fates.Next() {
				e, err := outcome(fates.Item(), births)
				if !yield(e, err) || err != nil {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(Ended{}, err)
		}
	}
}

// outcome reads a fate and its URL's birth, which lies ahead of where births is,
// or is there.
func outcome(item *badger.Item, births *badger.Iterator) (e Ended, err error) {
	k := item.KeyCopy(nil)
	n, err := numOf(k)
	if err != nil {
		return e, err
	}
	e.ID = ID(n)
	if err := valueOf(item, k, func(k, v []byte) error { return decode(k, v, &e.Fate) }); err != nil {
		return e, err
	}
	return e, birthAt(births, n, &e.Birth)
}
