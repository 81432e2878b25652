package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/testkit"
)

func manyPages(t *testing.T, n uint64) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	s := testkit.Call(Create(dir, Info{})).Must(t)
	alter(t, s, func(b *Batch) {
		c := Counts{States: map[string]uint64{}}
		for i := uint64(1); i <= n; i++ {
			testkit.Must(t, putExchange(s, b, i))
			c.URLs, c.Pages, c.Bytes, c.States["ok"] = i, i, c.Bytes+uint64(len(bodyOf(i))), i
		}
		testkit.Must(t, b.PutCounts(&c))
	})
	testkit.Must(t, s.Close())
	return dir
}

func another(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "s")
	testkit.Must(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

// readable returns the pages that can be looked up one by one in a copy of a store, so those of
// undamaged blocks: a look-up reads one block. It uses Badger directly, with compaction off.
func readable(t *testing.T, dir string) (pages []uint64) {
	t.Helper()
	dir = another(t, dir)
	o := options(filepath.Join(dir, database)).WithNumCompactors(0).WithNumLevelZeroTablesStall(100).WithLogger(nil)
	db := testkit.Call(badger.Open(o)).Must(t)
	defer db.Close()
	testkit.Must(t, db.View(func(txn *badger.Txn) error {
		for n := uint64(1); n <= 1000; n++ {
			if canBeRead(txn, n) {
				pages = append(pages, n)
			}
		}
		return nil
	}))
	return pages
}

// canBeRead looks up a page and its body. Badger panics on some blocks.
func canBeRead(txn *badger.Txn, n uint64) (ok bool) {
	defer func() { ok = recover() == nil && ok }()
	full := func(_, v []byte) error {
		if len(v) == 0 {
			return ErrDamaged
		}
		return nil
	}
	return value(txn, numKey(keyPage, n), full) == nil && value(txn, numKey(keyBody, n), full) == nil
}

func flip(t *testing.T, name string, at int64) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	testkit.Must(t, err)
	var b [1]byte
	_, err = f.ReadAt(b[:], at)
	testkit.Must(t, err)
	b[0] ^= 0x10
	_, err = f.WriteAt(b[:], at)
	testkit.Must(t, err, f.Close())
}

// TestFlippedByte flips bits in tables: no use of the store may lose a page of a sound block.
// Badger's compaction would take the damaged block for the end of its table and delete the rest.
func TestFlippedByte(t *testing.T) {
	whole := manyPages(t, 200)
	all := readable(t, whole)
	if len(all) != 200 {
		t.Fatalf("%d pages can be read before", len(all))
	}
	tables := testkit.Call(filepath.Glob(filepath.Join(whole, database, "*.sst"))).Must(t)
	last := tables[len(tables)-1]
	info := testkit.Call(os.Stat(last)).Must(t)
	few := int64(testkit.Rounds(4, 60))
	for i := range few {
		dir := another(t, whole)
		// Not the last block, without which Badger opens nothing: see TestFlippedBits.
		flip(t, filepath.Join(dir, database, filepath.Base(last)), info.Size()*3/5*(2*i+1)/(2*few))
		want := readable(t, dir)
		if i < few/2 && len(want) < 50 {
			t.Fatalf("flip %d leaves %d pages: this test means little", i, len(want))
		}
		tryStore(t, dir, want)
	}
}

// tryStore uses a damaged store as its users do, repeatedly. Readers change nothing, writers are
// refused, and repair keeps all wanted pages.
func tryStore(t *testing.T, dir string, want []uint64) {
	t.Helper()
	before := filesOf(t, dir)
	for range 2 {
		s, err := OpenToRead(dir)
		testkit.Must(t, err)
		problems, err := s.Verify(t.Context())
		if testkit.Must(t, err); len(problems) == 0 {
			t.Error("verify calls it sound")
		}
		if got := pagesIn(s, want); !slices.Equal(got, want) {
			t.Errorf("a reader has %d pages, %d can be read", len(got), len(want))
		}
		testkit.Must(t, s.Close())
		if _, err := Open(dir); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), ".sst") || !strings.Contains(err.Error(), "fossick repair") {
			t.Errorf("a crawl gets %v, want ErrDamaged, the table and what to do", err)
		}
		if after := filesOf(t, dir); !slices.Equal(after, before) {
			t.Errorf("reading changed the store: %v, was %v", after, before)
		}
	}
	for n := range 3 {
		problems, err := mendTables(dir)
		testkit.Must(t, err)
		s, err := Open(dir)
		testkit.Must(t, err)
		_, err = s.repair(t.Context())
		if testkit.Must(t, err); n == 0 && len(problems) == 0 {
			t.Error("repair found no damage")
		}
		if got := pagesIn(s, want); len(got) < len(want) {
			t.Errorf("repair %d left %d pages, %d could be read", n, len(got), len(want))
		}
		testkit.Must(t, s.Close())
	}
	if kept, err := filepath.Glob(filepath.Join(dir, quarantine, "*.sst*")); err != nil || len(kept) != 1 {
		t.Errorf("in quarantine: %v (%v), want the table", kept, err)
	}
}

// pagesIn returns which of the pages the store has, under any number.
func pagesIn(s *Store, wanted []uint64) (found []uint64) {
	for _, n := range wanted {
		life, err := s.URLs().Life(fmt.Sprint("http://h.example/", n))
		if err != nil || life.Page == nil {
			if p, err := s.Page(n); err != nil || p.URL != fmt.Sprint("http://h.example/", n) {
				continue
			}
			found = append(found, n)
			continue
		}
		if body, err := s.Body(life.Page.Number); err == nil && string(body) == string(bodyOf(n)) {
			found = append(found, n)
		}
	}
	return found
}

// filesOf lists the tables and manifests of a store with their sizes.
func filesOf(t *testing.T, dir string) (files []string) {
	t.Helper()
	entries := testkit.Call(os.ReadDir(filepath.Join(dir, database))).Must(t)
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext == ".sst" || e.Name() == "MANIFEST" {
			text := testkit.Call(os.ReadFile(filepath.Join(dir, database, e.Name()))).Must(t)
			files = append(files, fmt.Sprintf("%s %x", e.Name(), sha256.Sum256(text)))
		}
	}
	return files
}
