package store

import (
	"fmt"
	"strings"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
)

// openTries bounds how often a database is opened: a kill leaves one log of each
// of its two kinds without content at most.
const openTries = 4

// emptyLog is what Badger says of a log without a byte: ristretto's z.NewFile.
const emptyLog = "Create a new file"

// openDatabase opens the Badger database of these options for the store in dir, and
// returns its log. A kill just after a log was made leaves it without a byte. Badger
// then gives it the header that it lacks, and yet ends with an error, as if it had
// expected a log that was there before; so the next try finds all in order, and
// nothing was in that log to be lost.
func openDatabase(dir string, o badger.Options) (db *badger.DB, log *complaints, err error) {
	for range openTries {
		if db, log, err = tryToOpen(dir, o); err == nil || !strings.Contains(err.Error(), emptyLog) {
			break
		}
	}
	return db, log, err
}

// tryToOpen opens a database, or gives up when the disk fails meanwhile.
func tryToOpen(dir string, o badger.Options) (*badger.DB, *complaints, error) {
	type opened struct {
		db  *badger.DB
		err error
	}
	log := newComplaints(dir)
	done := make(chan opened, 1)
	if !log.bounded(func() {
		db, err := badger.Open(o.WithLogger(log))
		done <- opened{db, err}
	}) {
		return nil, log, log.failure()
	}
	r := <-done
	if r.err == nil {
		return r.db, log, nil
	}
	if disk := diskError(dir, r.err.Error()); disk != nil {
		return nil, log, disk
	}
	return nil, log, fmt.Errorf("store %s: %w", dir, r.err)
}

// options are small: a crawl's memory belongs to its pages in flight.
func options(path string) badger.Options {
	o := badger.DefaultOptions(path).
		WithMemTableSize(26 << 20).          // bounds a batch at 15 % of it; costs its size in mapped files, 1.3 times it in the heap and as much to flush
		WithNumMemtables(1).                 // besides the one written to and the one being flushed
		WithCompression(badgeroptions.None). // tables are read where they are mapped: no cache of blocks, half the memory to build one
		WithBlockCacheSize(0).
		WithIndexCacheSize(0). // it is for encrypted tables only: others have theirs where they are mapped
		// A compaction of level 0 has all of it and the next level in memory; with
		// 15 tables of it, and a next level of 10 MB that is always behind, it came to
		// 400 MiB. Where compaction cannot keep up, the crawl waits for it. With 64 MiB
		// and three tables the store cost an eighth more.
		WithNumLevelZeroTables(4).
		WithNumLevelZeroTablesStall(8).
		WithBaseLevelSize(128 << 20).
		// Each of up to 13 tables in the making has twice its size in the heap and 3 MiB
		// for its index, so that small ones gain nothing; not doubled from level to level,
		// as Badger does, or a large store needs the more.
		WithBaseTableSize(2 << 20).
		WithValueThreshold(256). // bodies go to the value log and are not compacted again and again; see MaxBatchBytes
		WithValueLogFileSize(128 << 20).
		WithNumCompactors(2).
		WithDetectConflicts(false).                             // there is one writer
		WithChecksumVerificationMode(badgeroptions.OnBlockRead) // a damaged block is an error, not nonsense
	o.TableSizeMultiplier = 1
	return o
}
