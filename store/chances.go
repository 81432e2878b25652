package store

import (
	"context"
	"errors"

	"github.com/dgraph-io/badger/v4"
)

// Chances returns what a crawl has learned of whether visits succeed, for all hosts in
// common, as the crawler encodes it; nil where no visit failed yet.
func Chances(s *Store) (kept []byte, err error) {
	err = s.records.get(key(keyChances), &kept)
	if errors.Is(err, ErrUnknown) {
		err = nil
	}
	return kept, err
}

// PutChances replaces it.
func PutChances(b *Batch, kept []byte) error { return b.put(key(keyChances), kept) }

// chances looks whether it can be read.
func (in *inspection) chances(ctx context.Context) error {
	return in.scan(ctx, keyChances, func(_ *badger.Txn, k, v []byte) error {
		var kept []byte
		if err := decode(k, v, &kept); err != nil {
			return in.remove(k, "the learned failure rates cannot be read: "+err.Error())
		}
		return nil
	})
}

// VisitsOf returns the visits to a URL in the order of time.
func VisitsOf(s *Store, id ID) (all []Visit, err error) {
	err = s.records.view(func(txn *badger.Txn) error {
		all, err = visitsOf(txn, id)
		return err
	})
	return all, err
}
