package badgerfiles

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"google.golang.org/protobuf/proto"

	"fossick/internal/testkit"
)

// TestOtherVersion: a build with another version of Badger is recognised.
func TestOtherVersion(t *testing.T) {
	dep := func(m debug.Module) *debug.BuildInfo { return &debug.BuildInfo{Deps: []*debug.Module{{Path: "x"}, &m}} }
	for _, test := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{&debug.BuildInfo{}, ""},
		{dep(debug.Module{Path: module, Version: "v4.9.6"}), ""},
		{dep(debug.Module{Path: module, Version: "v4.10.0"}), "v4.10.0"},
		{dep(debug.Module{Path: module, Version: "v4.9.6", Replace: &debug.Module{Path: "../fork"}}), "../fork "},
	} {
		if got := otherThan("v4.9.6", test.info); got != test.want {
			t.Errorf("%+v: %q, want %q", test.info.Deps, got, test.want)
		}
	}
	if got := unknownVersion(); got != "" {
		t.Errorf("this build has %s", got)
	}
}

func realDatabase(t *testing.T) (path string) {
	path = filepath.Join(t.TempDir(), "db")
	makeTables(t, path, 20)
	d := openSmall(t, path)
	testkit.Must(t, put(d, []byte("large"), make([]byte, 4096)), d.Close())
	return path
}

// TestRealManifest: Badger reads a real manifest as we do.
func TestRealManifest(t *testing.T) {
	path := realDatabase(t)
	name := filepath.Join(path, badger.ManifestFilename)
	text := testkit.Call(os.ReadFile(name)).Must(t)
	if string(text[:manifestHead]) != "Bdgr\x00\x00\x00\x08" {
		t.Errorf("it begins with %q", text[:manifestHead])
	}
	length, sum := binary.BigEndian.Uint32(text[8:]), binary.BigEndian.Uint32(text[12:])
	first := text[16 : 16+length]
	if crc32.Checksum(first, crc32.MakeTable(crc32.Castagnoli)) != sum {
		t.Error("the checksum of the first change is another")
	}
	var set pb.ManifestChangeSet
	testkit.Must(t, proto.Unmarshal(first, &set))
	changes, ok := readManifest(text)
	if tables := net(changes); !ok || len(tables) < 10 || len(changes) < 3 {
		t.Fatalf("%d changes, %d tables, %v: too few, this test means little", len(changes), len(tables), ok)
	}
	testkit.Must(t, readsAs(name, smallTables(path), net(changes)))
	for id := range net(changes) {
		if !hasTable(path, id) {
			t.Errorf("table %d is not at %s", id, tableName(path, id))
		}
	}
}

// damageOf returns the error that opening a closed database gives.
func damageOf(path string) error {
	f, err := examine(path, smallTables(path))
	if err != nil {
		return err
	}
	return f.err(path)
}

// TestRealTables: real tables have the expected end, and a damaged end is noticed.
func TestRealTables(t *testing.T) {
	path := realDatabase(t)
	testkit.Must(t, damageOf(path))
	tables := testkit.Call(filepath.Glob(filepath.Join(path, tableFiles))).Must(t)
	for _, name := range tables {
		text := testkit.Call(os.ReadFile(name)).Must(t)
		testkit.Call(checkTable(text, badgeroptions.None)).Must(t)
	}
	text := testkit.Call(os.ReadFile(tables[0])).Must(t)
	end := len(text) - 4
	checksum := int(binary.BigEndian.Uint32(text[end:]))
	var sum pb.Checksum
	testkit.Must(t, proto.Unmarshal(text[end-checksum:end], &sum))
	at := end - checksum - 4
	index := text[at-int(binary.BigEndian.Uint32(text[at:])) : at]
	if sum.Algo != pb.Checksum_CRC32C || uint64(crc32.Checksum(index, crc32.MakeTable(crc32.Castagnoli))) != sum.Sum {
		t.Errorf("before the checksum's length there is %v, which is not the index's", &sum)
	}
	binary.BigEndian.PutUint32(text[end:], 1<<30)
	testkit.Must(t, os.WriteFile(tables[0], text, 0o644))
	if err := damageOf(path); !errors.Is(err, ErrDamaged) {
		t.Errorf("an end that points outside: %v", err)
	}
}

// TestRealLogs: logs and mapped files have the expected names, and large values the value log.
func TestRealLogs(t *testing.T) {
	path := realDatabase(t)
	d := openSmall(t, path)
	testkit.Must(t, put(d, []byte("another"), []byte(strings.Repeat("in the value log ", 100))))
	for kind, least := range map[string]int{tableFiles: 10, memtableFiles: 1, valueFiles: 1} {
		names := testkit.Call(filepath.Glob(filepath.Join(path, kind))).Must(t)
		if len(names) < least {
			t.Errorf("%d files %s, want %d", len(names), kind, least)
		}
	}
	logs, err := filepath.Glob(filepath.Join(path, valueFiles))
	testkit.Must(t, err)
	text, err := os.ReadFile(logs[len(logs)-1])
	testkit.Must(t, err)
	if !strings.Contains(string(text), "in the value log in the value log") {
		t.Error("a large value is not in the last value log")
	}
	testkit.Must(t, d.SyncLogs())
	testkit.Must(t, d.Close()) // a compaction may remove tables
	size, err := SizeOf(path)
	if testkit.Must(t, err); size.Tables < 10 || size.TableBytes == 0 || size.LargestLog == 0 {
		t.Errorf("the size is %+v", size)
	}
}

// TestInUseOrEmpty: a database in use is told apart, and logs without a byte hinder no opening.
func TestInUseOrEmpty(t *testing.T) {
	path := realDatabase(t)
	d := openSmall(t, path)
	if _, err := Open(path, smallTables(path), false); !errors.Is(err, ErrBusy) {
		t.Errorf("in use: %v, want ErrBusy", err)
	}
	testkit.Must(t, d.Close())
	for _, name := range []string{"000099.vlog", "00099.mem"} {
		testkit.Must(t, os.WriteFile(filepath.Join(path, name), nil, 0o600))
	}
	testkit.Must(t, openSmall(t, path).Close())
}

// TestPlain: a database works without this package's knowledge, and then with it.
func TestPlain(t *testing.T) {
	path := realDatabase(t)
	d := testkit.Call(Open(path, smallTables(path), true)).Must(t)
	if d.Renew() || d.CheckNext() {
		t.Error("it goes on with what it does not know")
	}
	testkit.Must(t, put(d, []byte("plain"), []byte("written")), d.SyncLogs(), d.Trim(true))
	if d.levels.file != nil || d.lent.txn != nil {
		t.Error("the manifest is followed, or a transaction is lent")
	}
	testkit.Must(t, d.Close())
	d = openSmall(t, path)
	if got := value(t, d, "plain"); string(got) != "written" {
		t.Errorf("it has %q", got)
	}
	testkit.Must(t, d.Close())
}

// TestFence: no other package imports Badger's file records, and only tests name its files.
func TestFence(t *testing.T) {
	testkit.Must(t, filepath.WalkDir(filepath.Join("..", ".."), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "badgerfiles") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, inside := range []string{module + "/pb", "ManifestFilename", "ReplayManifest", `.sst"`, `.vlog"`, `.mem"`, `"MANIFEST"`, busyText} {
			if strings.Contains(string(text), inside) {
				t.Errorf("%s knows %s, which belongs in this package", path, inside)
			}
		}
		return err
	}))
}

// TestVersion: go.mod has the known version. Before an upgrade, run these tests and read Badger's
// release notes on manifest, tables, logs and mapped files; then change knownVersion.
func TestVersion(t *testing.T) {
	text := testkit.Call(os.ReadFile(filepath.Join("..", "..", "go.mod"))).Must(t)
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
