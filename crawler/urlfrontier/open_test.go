package urlfrontier

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"fossick/crawler/urlfrontier/api"
	"fossick/internal/testkit"
)

// TestFullDisk: puts fail while the disk is nearly full, and succeed later.
func TestFullDisk(t *testing.T) {
	var left atomic.Uint64
	r := run(t, t.TempDir(), Options{free: func(string) (uint64, error) { return left.Load(), nil }})
	for i, want := range []api.AckMessage_Status{failing, ok, failing} {
		left.Store(uint64(i%2) * minFreeBytes)
		if got := r.put(found("", "", fmt.Sprintf("http://a.test/%d", i)))[0]; got != want {
			t.Errorf("with %d MiB left: %v, want %v", left.Load()>>20, got, want)
		}
	}
}

func TestForeign(t *testing.T) {
	store := t.TempDir()
	testkit.Must(t, os.Mkdir(filepath.Join(store, "db"), 0o755))
	other := t.TempDir()
	db, err := badger.Open(databaseOptions(filepath.Join(other, folder)).WithLogger(nil))
	if err == nil {
		err = db.Update(func(txn *badger.Txn) error { return txn.Set([]byte("a"), []byte("b")) })
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for what, dir := range map[string]string{"a crawl's store": store, "another database": other} {
		if _, err := Open(dir, Options{}); !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v, want ErrForeign", what, err)
		}
	}
}

// TestOrphans opens a folder with URLs of a missing queue, as a kill leaves it.
func TestOrphans(t *testing.T) {
	dir := t.TempDir()
	r := run(t, dir, Options{})
	r.put(found("", "", "http://a.test/"), found("", "", "http://b.test/"))
	r.stop()
	path := filepath.Join(dir, folder)
	remove := func(key []byte) {
		db, err := badger.Open(databaseOptions(path).WithLogger(nil))
		if err == nil {
			err = errors.Join(db.Update(func(txn *badger.Txn) error { return txn.Delete(key) }), db.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	remove(queueKey(queuePrefix, 0))
	r = run(t, dir, Options{})
	if got := r.put(found("", "", "http://a.test/")); got[0] != ok {
		t.Errorf("a URL of a queue that was gone: %v, want OK", got)
	}
	r.stop()
	r = run(t, dir, Options{})
	if crawls, urls := r.frontier.Size(); crawls != 1 || urls != 2 {
		t.Errorf("%d URLs of %d crawls, want 2 of 1", urls, crawls)
	}
}
