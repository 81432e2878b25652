package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/fulltest"
)

// hashes returns the hash of each file under dir.
func hashes(t *testing.T, dir string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	must(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		body, err := os.ReadFile(name)
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(body))
		return err
	}))
	return sums
}

// TestForeignDatabase: another program's database is refused by all that opens a store,
// and no file of it changes, whether it was closed or killed.
func TestForeignDatabase(t *testing.T) {
	fulltest.Only(t, "seconds of processor time")
	many := map[string]string{}
	for n := range 2000 {
		many[fmt.Sprintf("user:%04d", n)] = strings.Repeat("x", n%400)
	}
	info, err := encode(Info{Topic: "x"}) // Format 0
	must(t, err)
	for name, keys := range map[string]map[string]string{
		"many keys":                many,
		"one key":                  {"a": "1"},
		"a key as our Info has":    {"i": "settings of another program"},
		"an Info of no format":     {"i": string(info)},
		"keys shaped as ours":      {"b12345678": "x", "p12345678": "y"},
		"our Info's key and large": {"i": strings.Repeat("x", 1000)},
	} {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, killed %v", name, killed), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "s")
				path := filepath.Join(dir, database)
				db, err := badger.Open(badger.DefaultOptions(path).WithLogger(nil).WithMemTableSize(1 << 20).WithValueThreshold(300).WithValueLogFileSize(2 << 20))
				must(t, err)
				defer db.Close()
				wb := db.NewWriteBatch()
				for k, v := range keys {
					must(t, wb.Set([]byte(k), []byte(v)))
				}
				must(t, wb.Flush())
				if killed { // as it is now, with all in its logs
					dir = copyOf(t, dir)
				} else {
					must(t, db.Close())
				}
				before := hashes(t, dir)
				_, created := Create(dir, Info{})
				_, opened := Open(dir)
				_, mended := mendTables(dir)
				_, compacted := Compact(t.Context(), dir)
				for verb, err := range map[string]error{"create": created, "open": opened, "mend": mended, "compact": compacted} {
					if !errors.Is(err, ErrForeign) {
						t.Errorf("%s: %v, want ErrForeign", verb, err)
					}
				}
				if after := hashes(t, dir); !maps.Equal(before, after) {
					t.Errorf("files changed: %d before, %d afterwards", len(before), len(after))
				}
			})
		}
	}
}

// TestFolderOfOthers: a store is made in a folder that is empty, or has but what is ours.
func TestFolderOfOthers(t *testing.T) {
	for name, ok := range map[string]bool{"thesis.txt": false, "MANIFEST": false, ".DS_Store": true, "model.fossick": true, "seeds.txt": true} {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644))
		s, err := Create(dir, Info{})
		if err == nil {
			must(t, s.Close())
		}
		if ok != (err == nil) || !ok && !errors.Is(err, ErrForeign) {
			t.Errorf("beside %s: %v", name, err)
		}
		if entries, err := os.ReadDir(dir); !ok && (err != nil || len(entries) != 1) {
			t.Errorf("beside %s: something was made, %v", name, err)
		}
	}
}

// TestOldStoreIsOurs: a store of a build that kept no Info beside its database is known as
// ours, also where damage took the Info, and gets one.
func TestOldStoreIsOurs(t *testing.T) {
	killed := crawled(t)
	must(t, killed.SetSettings([]byte(strings.Repeat("x", 999)))) // a value of the value log
	dir := copyOf(t, killed.Dir())
	must(t, os.Remove(filepath.Join(dir, infoFile)))
	if _, err := Create(dir, Info{}); !errors.Is(err, ErrExists) {
		t.Errorf("created over it: %v, want ErrExists", err)
	}
	s, err := Open(dir)
	must(t, err)
	want := s.Info()
	if beside, ok := readInfoFile(dir); !ok || beside.Created != want.Created {
		t.Errorf("the Info beside it is %+v, %v", beside, ok)
	}
	must(t, s.db.Update(func(txn *badger.Txn) error { return txn.Delete(key(keyInfo)) }), s.Close())
	if s, err = Open(dir); err != nil || s.Info().Created != want.Created {
		t.Fatalf("without the database's Info: %v", err)
	}
	must(t, s.Close(), os.Remove(filepath.Join(dir, infoFile)))
	if whose, err := ownerOf(dir); err != nil || whose != ours {
		t.Errorf("without any Info it is of owner %d, %v", whose, err)
	}
}

// TestInfoFile: a damaged Info beside the database is none.
func TestInfoFile(t *testing.T) {
	s := create(t)
	must(t, s.SetSettings([]byte(`{"rho":0.3}`)))
	name := filepath.Join(s.Dir(), infoFile)
	whole, err := os.ReadFile(name)
	must(t, err)
	if info, ok := readInfoFile(s.Dir()); !ok || string(info.Settings) != `{"rho":0.3}` {
		t.Fatalf("%+v, %v", info, ok)
	}
	for at := range whole {
		b := append([]byte(nil), whole...)
		b[at] ^= 1
		must(t, os.WriteFile(name, b, 0o600))
		if info, ok := readInfoFile(s.Dir()); ok {
			t.Errorf("with byte %d flipped: %+v", at, info)
		}
		must(t, os.WriteFile(name, whole[:at], 0o600))
		if info, ok := readInfoFile(s.Dir()); ok {
			t.Errorf("cut at %d: %+v", at, info)
		}
	}
}
