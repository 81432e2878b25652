package store

import (
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
)

// TestCompressedTables: tables that a store has from the time when they were
// compressed can be read.
func TestCompressedTables(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := Create(dir, Info{})
	must(t, err)
	must(t, s.Close())
	db, err := badger.Open(options(filepath.Join(dir, database)).WithCompression(badgeroptions.Snappy).WithBlockCacheSize(1 << 20))
	must(t, err)
	url := func(n int) Hash { return Hash{byte(n), byte(n >> 8), 1} }
	txn := db.NewTransaction(true)
	for n := range 5000 {
		h := url(n)
		must(t, txn.Set(bytesKey(keySeen, h[:]), seenValue(ID(n+1), false)))
	}
	must(t, txn.Commit())
	must(t, db.Close())

	s, err = Open(dir)
	must(t, err)
	defer s.Close()
	if tables := s.db.Tables(); len(tables) == 0 {
		t.Fatal("nothing is in a table")
	}
	for n := range 5000 {
		if seen, err := lookedUp(s, url(n)); err != nil || seen.ID != ID(n+1) {
			t.Fatalf("URL %d is %v (%v)", n, seen, err)
		}
	}
}
