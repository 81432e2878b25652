package badgerfiles

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

func realDatabase(t *testing.T) (path string) {
	path = filepath.Join(t.TempDir(), "db")
	makeTables(t, path, 20)
	d := openSmall(t, path)
	must(t, put(d, []byte("large"), make([]byte, 4096)), d.Close())
	return path
}

// TestRealManifest: we read a real manifest as Badger does.
func TestRealManifest(t *testing.T) {
	path := realDatabase(t)
	name := filepath.Join(path, badger.ManifestFilename)
	text, err := os.ReadFile(name)
	must(t, err)
	if string(text[:manifestHead]) != emptyList {
		t.Errorf("it begins with %q", text[:manifestHead])
	}
	changes, _, ok := readChanges(text[manifestHead:])
	ours := net(changes)
	if !ok || len(ours) < 10 || len(changes) < 3 {
		t.Fatalf("%d changes, %d tables, %v: too few, this test means little", len(changes), len(ours), ok)
	}
	theirs, err := badgersTables(name)
	must(t, err)
	for id, c := range ours {
		if x, ok := theirs[id]; !ok || uint32(x.Level) != c.Level || uint32(x.Compression) != c.Compression || !hasTable(path, id) {
			t.Errorf("table %d is %+v to Badger, and %v to us", id, x, c)
		}
	}
	if len(theirs) != len(ours) {
		t.Errorf("Badger reads %d tables, we %d", len(theirs), len(ours))
	}
}

// TestRealTables: real tables have the expected end, and a damaged end is noticed.
func TestRealTables(t *testing.T) {
	path := realDatabase(t)
	f, err := examine(path)
	must(t, err, f.err(path))
	tables, err := filepath.Glob(filepath.Join(path, tableFiles))
	must(t, err)
	text, err := os.ReadFile(tables[0])
	must(t, err)
	binary.BigEndian.PutUint32(text[len(text)-4:], 1<<30)
	must(t, os.WriteFile(tables[0], text, 0o644))
	f, err = examine(path)
	if must(t, err); !errors.Is(f.err(path), ErrDamaged) {
		t.Errorf("an end that points outside: %v", f.err(path))
	}
}

// TestRealLogs: logs and mapped files have the expected names, and large values the value log.
func TestRealLogs(t *testing.T) {
	path := realDatabase(t)
	d := openSmall(t, path)
	must(t, put(d, []byte("another"), []byte(strings.Repeat("in the value log ", 100))))
	for kind, least := range map[string]int{tableFiles: 10, memtableFiles: 1, valueFiles: 1} {
		names, err := filepath.Glob(filepath.Join(path, kind))
		must(t, err)
		if len(names) < least {
			t.Errorf("%d files %s, want %d", len(names), kind, least)
		}
	}
	logs, err := filepath.Glob(filepath.Join(path, valueFiles))
	must(t, err)
	text, err := os.ReadFile(logs[len(logs)-1])
	must(t, err)
	if !strings.Contains(string(text), "in the value log in the value log") {
		t.Error("a large value is not in the last value log")
	}
	must(t, d.SyncLogs())
	must(t, d.Close()) // a compaction may remove tables
	size, err := SizeOf(path)
	if must(t, err); size.Tables < 10 || size.TableBytes == 0 || size.LargestLog == 0 {
		t.Errorf("the size is %+v", size)
	}
}

// TestTexts: Badger's error for an empty log has the expected text.
func TestTexts(t *testing.T) {
	path := realDatabase(t)
	must(t, os.WriteFile(filepath.Join(path, "000099.vlog"), nil, 0o600))
	if _, err := badger.Open(smallTables(path).WithLogger(nil)); err == nil || !strings.Contains(err.Error(), emptyLog) {
		t.Errorf("a log without a byte: %v, want %q; if it opens, the retry can go", err, emptyLog)
	}
	must(t, openSmall(t, path).Close())
}

// TestFence: no other package imports Badger's file records, and only tests name its files.
func TestFence(t *testing.T) {
	must(t, filepath.WalkDir(filepath.Join("..", ".."), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "badgerfiles") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, inside := range []string{module + "/pb", "ManifestFilename", "ReplayManifest", `.sst"`, `.vlog"`, `.mem"`, `"MANIFEST"`} {
			if strings.Contains(string(text), inside) {
				t.Errorf("%s knows %s, which belongs in this package", path, inside)
			}
		}
		return err
	}))
}

const module, knownVersion = "github.com/dgraph-io/badger/v4", "v4.9.6"

// TestVersion: go.mod has the known version. Before an upgrade, run these tests and read Badger's
// release notes on manifest, tables, logs and mapped files; then change knownVersion.
func TestVersion(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	must(t, err)
	found := false
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		found = found || len(fields) >= 2 && fields[0] == module && fields[1] == knownVersion
		if strings.Contains(line, module) && strings.Contains(line, "=>") {
			t.Errorf("go.mod replaces Badger: %s", line)
		}
	}
	if !found {
		t.Errorf("go.mod does not have %s %s", module, knownVersion)
	}
}
