package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"fossick/store/badgerfiles"
)

// deadShare is the share of a value log that must be of no use before it is written
// anew without that.
const deadShare = .1

// Compaction says what Compact did.
type Compaction struct {
	Before int64 `json:"before"` // bytes on disk
	After  int64 `json:"after"`
}

// Compact gives back the disk space that nothing needs any more in the closed store in
// dir: bodies replaced or withdrawn, and records written over. It needs room for one
// value log, 128 MiB, and for the tables, all of which it merges.
//
// Unlike in a crawl every write is synced, as a log is removed once what is
// left of it is written anew. So neither a kill nor a power cut loses a record.
// When ctx ends it stops between two logs, with ctx's error; what was done by
// then stays.
func Compact(ctx context.Context, dir string) (c Compaction, err error) {
	if !Exists(dir) {
		return c, fmt.Errorf("%s: %w; make one with fossick focus --store %s", dir, ErrNone, dir)
	}
	s, err := Open(dir) // a store that is in use, or newer, is refused as always
	if err != nil {
		return c, err
	}
	if err = s.Close(); err != nil {
		return c, err
	}
	path := filepath.Join(dir, database)
	if c.Before, err = sizeOf(path); err != nil {
		return c, err
	}
	var held badgerfiles.Guard
	defer held.Release()
	if err = rewrite(ctx, &held, dir, deadShare); err != nil {
		return c, err
	}
	c.After, err = sizeOf(path)
	return c, err
}

// anyShare is a share that one dead value has of any log.
const anyShare = 1e-9

// rewrite writes a closed database anew without what nothing needs: all tables, and the
// value logs that have so much of it.
func rewrite(ctx context.Context, g *badgerfiles.Guard, dir string, dead float64) error {
	path := filepath.Join(dir, database)
	if err := roomToCompact(dir, path); err != nil {
		return err
	}
	err := badgerfiles.Merge(ctx, g, dir, options(path).WithSyncWrites(true), plain())
	if err == nil {
		err = rewriteLogs(ctx, g, dir, path, dead)
	}
	if err != nil {
		return fmt.Errorf("store %s: %w", dir, err)
	}
	return nil
}

// rewriteLogs writes the value logs anew that are dead in good part.
func rewriteLogs(ctx context.Context, g *badgerfiles.Guard, dir, path string, dead float64) error {
	if err := badgerfiles.CheckValues(path, plain()); err != nil {
		return err
	}
	db, err := badgerfiles.OpenUnder(g, dir, options(path).WithSyncWrites(true), plain())
	if err != nil {
		return err
	}
	for err == nil {
		if err = ctx.Err(); err == nil && !db.Bounded(func() { err = db.RunValueLogGC(dead) }) {
			return db.Failure()
		}
	}
	if errors.Is(err, badger.ErrNoRewrite) { // none has so much
		err = nil
	}
	*g = *db.Keep()
	return errors.Join(err, db.Close())
}

// roomToCompact refuses to compact where there is no room for it: the tables once
// more, a value log, and what opening takes.
func roomToCompact(dir, path string) error {
	size, err := badgerfiles.SizeOf(path)
	if err != nil {
		return err
	}
	want := room{
		minOpenBytes + minCloseBytes + uint64(size.TableBytes+size.LargestLog),
		minFreeFiles + uint64(size.Tables),
	}
	free, err := freeRoom(dir)
	if err != nil {
		return nil // unknown is not full
	}
	if err := free.shortOf(want, dir); err != nil {
		return fmt.Errorf("%w to compact it; make room first, or compact a copy on another disk", err)
	}
	return nil
}

// sizeOf returns the bytes on disk of the files in a folder.
func sizeOf(dir string) (bytes int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, fmt.Errorf("store: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // Badger removes files while it closes
		}
		if err != nil {
			return 0, fmt.Errorf("store: %w", err)
		}
		bytes += info.Size()
	}
	return bytes, nil
}
