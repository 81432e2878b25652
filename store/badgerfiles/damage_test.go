package badgerfiles

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/testkit"
)

func contentOf(t testing.TB, d *Database) map[string]string {
	t.Helper()
	content := map[string]string{}
	testkit.Must(t, d.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			v, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			if len(v) > 0 {
				content[string(it.Item().Key())] = string(v)
			}
		}
		return nil
	}))
	return content
}

// database makes a database in two sessions, the second of which was killed.
func database(t testing.TB) (path string, content map[string]string) {
	t.Helper()
	first := filepath.Join(t.TempDir(), "db")
	o := smallTables(first).WithValueLogFileSize(1 << 20)
	for session := range 2 {
		d := openWith(t, o)
		for i := range 40 {
			txn := d.NewTransaction(true)
			for j := range 3 {
				testkit.Must(t, txn.Set(fmt.Appendf(nil, "key %d %d %d", session, i, j), fmt.Appendf(nil, "%0*d", 100+300*(i%2), i)))
			}
			testkit.Must(t, d.Commit(txn))
		}
		if session == 1 {
			content = contentOf(t, d)
			path = filepath.Join(t.TempDir(), "db")
			testkit.Must(t, os.CopyFS(path, os.DirFS(first)))
		}
		testkit.Must(t, d.Close())
	}
	if len(content) != 240 {
		t.Fatalf("%d records", len(content))
	}
	return path, content
}

// TestHarmedFiles damages one file of a database, opens it as a reader, and mends it. The reader
// changes no file; both give all records but those in the damaged part.
func TestHarmedFiles(t *testing.T) {
	original, content := database(t)
	cut := func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:max(0, len(b)-n)] } }
	flip := func(at int) func([]byte) []byte { return func(b []byte) []byte { b[at] ^= 4; return b } }
	for _, c := range []struct {
		file string
		what string
		harm func(text []byte) []byte // nil removes the file
		most int                      // records that may be lost
		said bool                     // opening refuses it
	}{
		{"MANIFEST", "deleted", nil, 0, true},
		{"MANIFEST", "empty", func([]byte) []byte { return nil }, 0, true},
		{"MANIFEST", "last byte", cut(1), 0, true},
		{"MANIFEST", "last change", cut(20), 0, true},
		{"MANIFEST", "magic", flip(1), 0, true},
		{"MANIFEST", "change", flip(20), 0, true},
		{"KEYREGISTRY", "deleted", nil, 0, false},
		{"KEYREGISTRY", "empty", func([]byte) []byte { return nil }, 0, true},
		{"KEYREGISTRY", "flip", flip(20), 0, true},
		{"DISCARD", "half", func(b []byte) []byte { return b[:5] }, 0, true},
		{"00001.mem", "flip", flip(1000), 3, true},
		{"00002.mem", "flip", flip(1000), 3, true},
		{"00002.mem", "head", flip(3), 0, true},
		{"000002.vlog", "flip", flip(1000), 1, true},
		{"000002.vlog", "head", flip(3), 0, true},
		{"000001.sst", "flip", flip(100), 60, true},
		{"000001.sst", "zeros", func(b []byte) []byte { clear(b); return b }, 120, true},
		{"000001.sst", "deleted", nil, 120, true},
	} {
		t.Run(c.file+" "+c.what, func(t *testing.T) {
			t.Parallel() // they wait for syncs
			path := filepath.Join(t.TempDir(), "db")
			testkit.Must(t, os.CopyFS(path, os.DirFS(original)))
			name := filepath.Join(path, c.file)
			text, err := os.ReadFile(name)
			if errors.Is(err, os.ErrNotExist) {
				t.Skip("there is none")
			}
			testkit.Must(t, err)
			if c.harm == nil {
				testkit.Must(t, os.Remove(name))
			} else {
				testkit.Must(t, os.WriteFile(name, c.harm(text), 0o600))
			}
			o := smallTables(path).WithValueLogFileSize(1 << 20)
			before := tablesAndList(t, path)
			if c.said {
				if _, err := Open(path, o, false); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "fossick repair") {
					t.Errorf("opened with %v, want ErrDamaged and what to do", err)
				}
			}
			d, _, err := OpenToRead(path, o, false)
			testkit.Must(t, err)
			seen := contentOf(t, d)
			testkit.Must(t, d.Close())
			if c.said && !slices.Equal(tablesAndList(t, path), before) {
				t.Error("a reader changed the database")
			}
			damage, err := Mend(path, path, filepath.Join(path, "..", "quarantine"), o, false)
			if testkit.Must(t, err); c.said != (len(damage) > 0) {
				t.Errorf("mended %v", damage)
			}
			d = openWith(t, o)
			kept := contentOf(t, d)
			testkit.Must(t, d.Close())
			if len(kept) < len(content)-c.most || !maps.Equal(kept, seen) {
				t.Errorf("%d records of %d are left, %d may be lost; a reader saw %d", len(kept), len(content), c.most, len(seen))
			}
			for k, v := range kept {
				if content[k] != v {
					t.Errorf("%s is %q, was %q", k, v, content[k])
				}
			}
		})
	}
}

func tablesAndList(t *testing.T, path string) (files []string) {
	t.Helper()
	for _, pattern := range []string{tableFiles, badger.ManifestFilename, valueFiles, memtableFiles} {
		names := testkit.Call(filepath.Glob(filepath.Join(path, pattern))).Must(t)
		for _, name := range names {
			text := testkit.Call(os.ReadFile(name)).Must(t)
			files = append(files, fmt.Sprintf("%s %d %x", filepath.Base(name), len(text), sha256.Sum256(text)))
		}
	}
	return files
}

// FuzzLog: reading never panics, and a log of the readable entries is undamaged.
func FuzzLog(f *testing.F) {
	path, _ := database(f)
	for _, name := range []string{"00001.mem", "00002.mem", "000002.vlog"} {
		if text, err := os.ReadFile(filepath.Join(path, name)); err == nil {
			f.Add(text[:min(3000, len(text))])
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		entries := readLog(text).committed()
		made := logOf(entries)
		again := readLog(made)
		if again.damaged || again.end != len(made) || len(again.committed()) != len(entries) {
			t.Fatalf("%d entries were read, and %d again of %d bytes, %d in all; damaged: %v",
				len(entries), len(again.committed()), again.end, len(made), again.damaged)
		}
		for i, e := range again.committed() {
			if string(e.key) != string(entries[i].key) || string(e.value) != string(entries[i].value) {
				t.Fatalf("entry %d has another key or value", i)
			}
		}
	})
}

// TestHalfCommit: only a final commit without an end is no damage; it is not replayed.
func TestHalfCommit(t *testing.T) {
	path, _ := database(t)
	names := testkit.Call(filepath.Glob(filepath.Join(path, memtableFiles))).Must(t)
	text := testkit.Call(os.ReadFile(names[len(names)-1])).Must(t)
	whole := readLog(text)
	if whole.damaged || len(whole.committed()) != 120 || len(whole.entries) != 160 {
		t.Fatalf("%d entries, %d committed, damaged %v; want 40 commits of three", len(whole.entries), len(whole.committed()), whole.damaged)
	}
	last := len(text[:whole.end]) - len(whole.entries[159].text)
	cut := slices.Clone(text)
	clear(cut[last+5:])
	if log := readLog(cut); log.damaged || len(log.committed()) != 117 {
		t.Errorf("cut off by a kill: %d committed, damaged %v; want 117", len(log.committed()), log.damaged)
	}
	spoilt, third := slices.Clone(text), logHead
	for _, e := range whole.entries[:3] {
		third += len(e.text)
	}
	spoilt[third+6] ^= 1
	if log := readLog(spoilt); !log.damaged || len(log.committed()) != 120 {
		t.Errorf("the end of a commit is damaged: %d committed, damaged %v; want 120", len(log.committed()), log.damaged)
	}
}

// TestZerosThatAreNowhere: withLog skips the hole at a log's end, and the log reads as with it.
func TestZerosThatAreNowhere(t *testing.T) {
	const size = 2 << 20
	name := filepath.Join(t.TempDir(), "00001.mem")
	for _, c := range []struct{ behind, long, atMost int64 }{
		{behind: 0, long: 0, atMost: logHead}, {0, 100, 1 << 16}, {0, 1 << 16, 1<<16 + logHead},
		{1 << 19, 1 << 16, 1<<19 + 1<<16 + logHead}, {size - 1<<16, 1 << 16, size},
	} {
		file, err := os.Create(name)
		testkit.Must(t, err)
		_, err = file.WriteAt(bytes.Repeat([]byte{1}, int(c.long)), c.behind)
		testkit.Must(t, err, file.Truncate(size), file.Close())
		whole, err := os.ReadFile(name)
		testkit.Must(t, err)
		testkit.Must(t, withLog(name, func(text []byte) {
			rest := whole[len(text):]
			if n := int64(len(text)); n > c.atMost || n < logHead || !bytes.HasPrefix(whole, text) || len(bytes.Trim(rest, "\x00")) > 0 {
				t.Errorf("%+v: %d bytes of %d were read, want the data and at most %d", c, n, len(whole), c.atMost)
			}
			if got, want := readLog(text).damaged, readLog(whole).damaged; got != want {
				t.Errorf("%+v: damaged %v, want %v", c, got, want)
			}
		}))
	}
}
