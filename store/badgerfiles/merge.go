package badgerfiles

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dgraph-io/badger/v4"
)

// Merge merges all tables of the closed database for the store in dir. None
// then has a record that was replaced or deleted, and each value log's share of
// those is known. When ctx ends it stops between two steps. The guard may be nil.
func Merge(ctx context.Context, g *Guard, dir string, o badger.Options, plain bool) error {
	// One target for all levels: the newest tables go into the last, and none between.
	o = o.WithCompactL0OnClose(true).WithBaseLevelSize(math.MaxInt64 / 2)
	for newest, before := math.MaxInt, 0; newest != 0 && newest != before; {
		before = newest
		err := session(ctx, g, dir, o, plain, func(d *Database) error {
			err := d.Flatten(1)
			newest = d.Levels()[0].NumTables
			return err
		})
		if err != nil {
			return err
		}
	}
	return session(ctx, g, dir, o, plain, (*Database).span)
}

// session does a step of Merge. Flatten merges tables of different levels; closing the
// database merges those of the newest level with the last, as far as their keys overlap.
func session(ctx context.Context, g *Guard, dir string, o badger.Options, plain bool, do func(d *Database) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d, err := OpenUnder(g, dir, o, plain)
	if err != nil {
		return err
	}
	if !d.Bounded(func() { err = do(d) }) {
		return d.Failure()
	}
	if g != nil {
		*g = *d.Keep()
	}
	if err = errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("merging its tables: %w", err)
	}
	return nil
}

// span makes a table as wide as all others: it deletes a key before and one after all that
// there are. What is in the last level already would else stay as it is, also what was
// kept there for a reader of that time.
func (d *Database) span() error {
	txn := d.NewTransaction(true)
	defer txn.Discard()
	for _, key := range [][]byte{{0}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}} {
		if err := txn.Delete(key); err != nil {
			return err
		}
	}
	if err := d.Commit(txn); err != nil {
		return err
	}
	d.settle()
	return nil
}

// watermarks is how many marks Badger's goroutine for readers may have before it.
const watermarks = 100

// settle returns when a compaction drops all that is replaced by now. It keeps what the
// oldest reader may read; that one's end comes to a goroutine of Badger's, in turn with
// the marks of later ones: each has two.
func (d *Database) settle() {
	d.lent.replace(nil)
	for range watermarks/2 + 1 {
		d.NewTransaction(false).Discard()
	}
}
