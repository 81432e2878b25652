package store

import (
	"os"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
)

// plain says whether to do without what badgerfiles knows of Badger's files. It
// is the way out for who cannot wait for another build, and the one thing that
// a store asks the environment.
func plain() bool { return os.Getenv("FOSSICK_STORE_PLAIN") != "" }

// options are small: a crawl's memory belongs to its pages in flight.
func options(path string) badger.Options {
	o := badger.DefaultOptions(path).
		WithMemTableSize(26 << 20).          // bounds a batch at 15 % of it; costs its size in mapped files, 1.3 times it in the heap and as much to flush
		WithNumMemtables(1).                 // besides the one written to and the one being flushed
		WithCompression(badgeroptions.None). // tables are read where they are mapped: no cache of blocks, half the memory to build one
		WithBlockCacheSize(0).
		WithIndexCacheSize(0). // it is for encrypted tables only: others have theirs where they are mapped
		// A compaction of level 0 has all of it and the next level in memory;
		// with many tables of it that comes to hundreds of MiB. Where
		// compaction cannot keep up, the crawl waits for it. With 64 MiB and
		// three tables the store cost an eighth more.
		WithNumLevelZeroTables(4).
		WithNumLevelZeroTablesStall(8).
		WithBaseLevelSize(128 << 20).
		// Each of up to 13 tables in the making has twice its size in the heap
		// and 3 MiB for its index, so that small ones gain nothing. Sizes are
		// not doubled from level to level, as Badger does, or a large store
		// needs the more.
		WithBaseTableSize(2 << 20).
		WithValueThreshold(inTables). // bodies go to the value log and are not compacted again and again; see MaxBatchBytes
		WithValueLogFileSize(128 << 20).
		WithNumCompactors(2).
		WithDetectConflicts(false).                              // there is one writer
		WithChecksumVerificationMode(badgeroptions.OnBlockRead). // a damaged block is an error, not nonsense
		WithVerifyValueChecksum(true)                            // nor is a damaged value, at which Badger may panic
	o.TableSizeMultiplier = 1
	return o
}

// optionsToMake are for a database that is only made: one small batch needs no large
// memtable, which is half of what opening costs.
func optionsToMake(path string) badger.Options { return options(path).WithMemTableSize(1 << 20) }
