package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// finding returns the error of a record that cannot be asked for, by which an inspection
// ends. Of one that is not there it is nil, and of one whose bytes mean nothing: the pass
// over its kind takes that one out. So nothing loses its place for a disk's error.
func finding(err error) error {
	if errors.Is(err, ErrUnknown) || errors.Is(err, ErrDamaged) {
		return nil
	}
	return err
}

// findings is what an inspection found, and what mends it.
type findings struct {
	batches  // of repairs
	mend     bool
	problems []Problem
}

// found notes a problem and, when repairing, what mends it.
func (f *findings) found(k []byte, what, repair string, fix func(b *Batch) error) error {
	f.problems = append(f.problems, Problem{Key: fmt.Sprintf("%q", k), What: what, Repair: repair})
	if !f.mend {
		return nil
	}
	return f.add(fix)
}

// remove is found of a record that goes.
func (f *findings) remove(k []byte, what string) error {
	return f.found(k, what, "removed", func(b *Batch) error { return b.delete(k) })
}

// scan calls do for every record of a kind, with a copy of its key.
func (f *findings) scan(ctx context.Context, kind byte, do func(txn *badger.Txn, k, v []byte) error) error {
	return f.s.records.view(func(txn *badger.Txn) error {
		opt := badger.DefaultIteratorOptions
		opt.Prefix = key(kind)
		it := txn.NewIterator(opt)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			item := it.Item()
			k, called := item.KeyCopy(nil), false
			err := valueOf(item, k, func(k, v []byte) error { called = true; return do(txn, k, v) })
			if !called && errors.Is(err, ErrDamaged) {
				err = do(txn, k, nil) // which no record is
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
