package badgerfiles

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
)

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// smallTables are options under which few records make many tables.
func smallTables(path string) badger.Options {
	o := badger.DefaultOptions(path).WithMemTableSize(1 << 20).WithNumMemtables(1).WithCompression(badgeroptions.None).
		WithBlockCacheSize(0).WithNumLevelZeroTables(4).WithNumLevelZeroTablesStall(8).WithBaseLevelSize(1 << 20).
		WithBaseTableSize(64 << 10).WithValueThreshold(256).WithValueLogFileSize(128 << 20).WithNumCompactors(2).WithVerifyValueChecksum(true)
	o.TableSizeMultiplier = 1
	return o
}

// openSmall opens a database with small tables.
func openSmall(t testing.TB, path string) *Database {
	t.Helper()
	return openWith(t, smallTables(path))
}

func openWith(t testing.TB, o badger.Options) *Database {
	t.Helper()
	d, err := Open(o.Dir, o, false)
	must(t, err)
	return d
}

// put commits one record.
func put(d *Database, key, value []byte) error {
	txn := d.NewTransaction(true)
	if err := txn.Set(key, value); err != nil {
		return err
	}
	return d.Commit(txn)
}

// putKeys commits n records of 100 bytes under random keys.
func putKeys(d *Database, rng *rand.Rand, n int) error {
	txn := d.NewTransaction(true)
	for range n {
		k := binary.BigEndian.AppendUint64([]byte("test"), rng.Uint64())
		if err := txn.Set(k, fmt.Appendf(nil, "%100d", rng.Uint64())); err != nil {
			return err
		}
	}
	return d.Commit(txn)
}

// makeTables commits n times 500 records to a database and closes it: nine tables for
// ten commits. Close compacts level 0, for else compactions begin when they want to.
// Each table is three syncs, and a slow disk needs .15 s for one.
func makeTables(t testing.TB, path string, n int) {
	t.Helper()
	d := openWith(t, smallTables(path).WithCompactL0OnClose(true))
	rng := rand.New(rand.NewPCG(3, 4))
	for range n {
		must(t, putKeys(d, rng, 500))
	}
	must(t, d.Close())
}

func tablesOf(d *Database) map[uint64]bool {
	tables := map[uint64]bool{}
	for _, t := range d.Tables() {
		tables[t.ID] = true
	}
	return tables
}

// value reads a record.
func value(t testing.TB, d *Database, key string) (v []byte) {
	t.Helper()
	must(t, d.View(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte(key))
		if err == nil {
			v, err = item.ValueCopy(nil)
		}
		return err
	}))
	return v
}

// TestSmallMemtable: who reads has a small memtable, unless the log of a large one is there,
// whatever the folder is called.
func TestSmallMemtable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a[b")
	o := badger.DefaultOptions(path)
	if got := smallMemtable(o).MemTableSize; got != readMemtableBytes {
		t.Errorf("no folder: %d bytes", got)
	}
	must(t, os.Mkdir(path, 0o700))
	if got := smallMemtable(o.WithMemTableSize(1 << 20)).MemTableSize; got != 1<<20 {
		t.Errorf("a smaller one: %d bytes", got)
	}
	must(t, os.WriteFile(filepath.Join(path, "00001.mem"), nil, 0o600))
	if got := smallMemtable(o).MemTableSize; got != o.MemTableSize {
		t.Errorf("with a log: %d bytes, want %d", got, o.MemTableSize)
	}
}
