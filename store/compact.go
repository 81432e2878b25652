package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
)

// deadShare is the share of a value log that must be of no use before it is written
// anew without that.
const deadShare = .1

// Compaction says what Compact did.
type Compaction struct {
	Before int64 `json:"before"` // bytes on disk
	After  int64 `json:"after"`
}

// Compact gives the disk space of the closed store in dir back that nothing needs any
// more: bodies that a refresh replaced or that were withdrawn, and records written over.
// It needs room for one value log, 128 MiB, and for the tables, all of which it merges. Unlike in a crawl
// every write is synced, as a log is removed once what is left of it is written anew:
// neither a kill nor a power cut in the middle loses a record. When ctx ends it stops
// between two logs, with ctx's error; what was done by then stays.
func Compact(ctx context.Context, dir string) (c Compaction, err error) {
	if !exists(dir) {
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
	if err = mergeTables(ctx, path); err == nil {
		err = rewriteLogs(ctx, path)
	}
	if err != nil {
		return c, fmt.Errorf("store %s: %w", dir, err)
	}
	c.After, err = sizeOf(path)
	return c, err
}

// mergeTables merges all tables into one level, which tells how much of each value log
// is dead. Badger merges tables of different levels by Flatten, and those of the newest
// level, one a time, when it closes.
func mergeTables(ctx context.Context, path string) error {
	for newest, before := 0, math.MaxInt; ; before = newest {
		db, err := openToCompact(ctx, path)
		if err != nil {
			return err
		}
		err = db.Flatten(1)
		newest = db.Levels()[0].NumTables
		if err = errors.Join(err, db.Close()); err != nil {
			return fmt.Errorf("merging its tables: %w", err)
		}
		if newest == 0 || newest >= before {
			return nil
		}
	}
}

// rewriteLogs writes the value logs anew that are dead in good part.
func rewriteLogs(ctx context.Context, path string) error {
	db, err := openToCompact(ctx, path)
	for err == nil {
		if err = ctx.Err(); err == nil {
			err = db.RunValueLogGC(deadShare)
		}
	}
	if errors.Is(err, badger.ErrNoRewrite) { // none has so much
		err = nil
	}
	if db != nil {
		err = errors.Join(err, db.Close())
	}
	return err
}

func openToCompact(ctx context.Context, path string) (*badger.DB, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return badger.Open(options(path).WithSyncWrites(true).WithCompactL0OnClose(true))
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
