package badgerfiles

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
	"golang.org/x/sys/unix"

	"fossick/internal/testkit"
)

// smallTables returns options under which few records make many tables.
func smallTables(path string) badger.Options {
	o := badger.DefaultOptions(path).WithMemTableSize(1 << 20).WithNumMemtables(1).WithCompression(badgeroptions.None).
		WithBlockCacheSize(0).WithNumLevelZeroTables(4).WithNumLevelZeroTablesStall(8).WithBaseLevelSize(1 << 20).
		WithBaseTableSize(64 << 10).WithValueThreshold(256).WithValueLogFileSize(128 << 20).WithNumCompactors(2).WithVerifyValueChecksum(true)
	o.TableSizeMultiplier = 1
	return o
}

func openSmall(t testing.TB, path string) *Database {
	t.Helper()
	return openWith(t, smallTables(path))
}

func openWith(t testing.TB, o badger.Options) *Database {
	t.Helper()
	d := testkit.Call(Open(o.Dir, o, false)).Must(t)
	return d
}

func put(d *Database, key, value []byte) error {
	txn := d.NewTransaction(true)
	if err := txn.Set(key, value); err != nil {
		return err
	}
	return d.Commit(txn)
}

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

// makeTables makes a database with nine tables for ten commits of 500 records. Close compacts level
// 0, since other compactions come at random. A table takes three syncs of up to .15 s each.
func makeTables(t testing.TB, path string, n int) {
	t.Helper()
	d := openWith(t, smallTables(path).WithCompactL0OnClose(true))
	rng := rand.New(rand.NewPCG(3, 4))
	for range n {
		testkit.Must(t, putKeys(d, rng, 500))
	}
	testkit.Must(t, d.Close())
}

func tablesOf(d *Database) map[uint64]bool {
	tables := map[uint64]bool{}
	for _, t := range d.Tables() {
		tables[t.ID] = true
	}
	return tables
}

func value(t testing.TB, d *Database, key string) (v []byte) {
	t.Helper()
	testkit.Must(t, d.View(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte(key))
		if err == nil {
			v, err = item.ValueCopy(nil)
		}
		return err
	}))
	return v
}

// TestLockBesideACopy: a released lock is free even while a starting process has a copy.
func TestLockBesideACopy(t *testing.T) {
	path := t.TempDir()
	held := testkit.Call(lockFolder(path, path)).Must(t)
	descriptor := testkit.Call(unix.Dup(int(held))).Must(t)
	defer unix.Close(descriptor)
	held.release()
	if err := Free(path, path); err != nil {
		t.Errorf("after its release: %v", err)
	}
}

func TestTroubles(t *testing.T) {
	for text, want := range map[string]error{
		"error flushing memtable to disk: sync MANIFEST: input/output error, retrying": ErrDisk,
		"While running doCompact: no space left on device":                             ErrDiskFull,
		"truncate 000003.vlog: disk quota exceeded":                                    ErrDiskFull,
		"Block cache might be too small":                                               nil,
	} {
		log := newComplaints("dir")
		log.Warningf("%s", text)
		if err := log.failure(); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

// TestMerge drops a replaced version that the last level kept for a reader.
func TestMerge(t *testing.T) {
	path := t.TempDir()
	o := smallTables(path).WithCompactL0OnClose(true)
	d := openWith(t, o)
	testkit.Must(t, put(d, []byte("key"), []byte("old")))
	testkit.Must(t, put(d, []byte("other"), []byte("value")))
	testkit.Must(t, d.Close())

	d = openWith(t, o)
	d.NewTransaction(false) // a reader that stays until the end
	testkit.Must(t, put(d, []byte("key"), []byte("new")))
	testkit.Must(t, d.Close())
	if n := versions(t, path, "key"); n != 2 {
		t.Fatalf("%d versions of the record in the last level, want 2", n)
	}

	testkit.Must(t, Merge(t.Context(), nil, path, o, false))
	if n := versions(t, path, "key"); n != 1 {
		t.Errorf("%d versions after the merge, want 1", n)
	}
	d = openSmall(t, path)
	if v, w := value(t, d, "key"), value(t, d, "other"); string(v) != "new" || string(w) != "value" {
		t.Errorf("key is %q and other %q, want new and value", v, w)
	}
	if l := d.Levels(); l[6].NumTables != 1 {
		t.Errorf("levels %v, want one table in the last", l)
	}
	testkit.Must(t, d.Close())
}

func versions(t *testing.T, path, key string) (n int) {
	t.Helper()
	d := openSmall(t, path)
	testkit.Must(t, d.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.AllVersions = true
		it := txn.NewKeyIterator([]byte(key), o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			n++
		}
		return nil
	}))
	testkit.Must(t, d.Close())
	return n
}
