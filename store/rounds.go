package store

import (
	"context"
	"errors"

	"github.com/dgraph-io/badger/v4"
)

// Round is one look at all stored pages.
type Round struct {
	Began int64 `cbor:"1,keyasint"`           // Unix milliseconds
	Ended int64 `cbor:"2,keyasint,omitempty"` // 0 while it goes on, or was cut off
}

// Rounds returns the rounds of a store's watches, in the order of time.
func Rounds(s *Store) (all []Round, err error) {
	err = s.records.get(key(keyRounds), &all)
	if errors.Is(err, ErrUnknown) {
		err = nil // nobody has watched it
	}
	return all, err
}

// PutRounds replaces them; no batch may be open.
func PutRounds(s *Store, all []Round) error {
	b := s.Batch()
	defer b.Cancel() // of no effect after Commit
	if err := b.put(key(keyRounds), all); err != nil {
		return err
	}
	return b.Commit()
}

// rounds looks whether they can be read.
func (in *inspection) rounds(ctx context.Context) error {
	return in.scan(ctx, keyRounds, func(_ *badger.Txn, k, v []byte) error {
		var all []Round
		if err := decode(k, v, &all); err != nil {
			return in.remove(k, "the rounds of a watch cannot be read: "+err.Error())
		}
		return nil
	})
}
