package badgerfiles

import (
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// TestMerge: of a record that was replaced, the last level keeps what a reader may read.
// Nothing reads it after that, and Merge drops it.
func TestMerge(t *testing.T) {
	path := t.TempDir()
	o := smallTables(path).WithCompactL0OnClose(true)
	d := openWith(t, o)
	must(t, put(d, []byte("key"), []byte("old")))
	must(t, put(d, []byte("other"), []byte("value")))
	must(t, d.Close())

	d = openWith(t, o)
	d.NewTransaction(false) // a reader until the end
	must(t, put(d, []byte("key"), []byte("new")))
	must(t, d.Close())
	if n := versions(t, path, "key"); n != 2 {
		t.Fatalf("%d versions of the record in the last level, want 2", n)
	}

	must(t, Merge(t.Context(), nil, path, o, false))
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
	must(t, d.Close())
}

// versions counts the versions of a record in the closed database.
func versions(t *testing.T, path, key string) (n int) {
	t.Helper()
	d := openSmall(t, path)
	must(t, d.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.AllVersions = true
		it := txn.NewKeyIterator([]byte(key), o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			n++
		}
		return nil
	}))
	must(t, d.Close())
	return n
}
