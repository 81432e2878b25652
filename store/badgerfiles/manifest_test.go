package badgerfiles

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
	"google.golang.org/protobuf/proto"

	"fossick/internal/testkit"
)

func made(ids ...uint64) (all []*pb.ManifestChange) {
	for _, id := range ids {
		all = append(all, &pb.ManifestChange{Id: id, Op: pb.ManifestChange_CREATE})
	}
	return all
}

func removed(ids ...uint64) (all []*pb.ManifestChange) {
	for _, id := range ids {
		all = append(all, &pb.ManifestChange{Id: id, Op: pb.ManifestChange_DELETE})
	}
	return all
}

// TestUndo: unfinished changes are undone as far as the existing files allow.
func TestUndo(t *testing.T) {
	for name, c := range map[string]struct {
		changes  [][]*pb.ManifestChange
		there    []uint64
		want     []uint64
		problems int
	}{
		"all there":                               {[][]*pb.ManifestChange{made(1), made(2)}, []uint64{1, 2}, []uint64{1, 2}, 0},
		"all used":                                {[][]*pb.ManifestChange{made(1), made(2), append(made(3), removed(1, 2)...)}, []uint64{3}, []uint64{3}, 0},
		"a flush that failed twice":               {[][]*pb.ManifestChange{made(1), made(2), made(3), made(4)}, []uint64{1, 4}, []uint64{1, 4}, 2},
		"a list written anew":                     {[][]*pb.ManifestChange{made(1, 2, 3)}, []uint64{1, 3}, []uint64{1, 3}, 1},
		"a merge that failed":                     {[][]*pb.ManifestChange{made(1), made(2), append(made(3, 4), removed(1, 2)...)}, []uint64{1, 2}, []uint64{1, 2}, 2},
		"a merge that failed half way":            {[][]*pb.ManifestChange{made(1), made(2), append(made(3, 4), removed(1, 2)...)}, []uint64{1, 2, 3}, []uint64{1, 2}, 1},
		"a merge whose tables were lost later":    {[][]*pb.ManifestChange{made(1), made(2), append(made(3, 4), removed(1, 2)...)}, []uint64{2, 3}, []uint64{3}, 1},
		"a merge of which one table went further": {[][]*pb.ManifestChange{made(1), append(made(2, 3), removed(1)...), append(made(4), removed(2)...)}, []uint64{1, 4}, []uint64{4}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var changes []*pb.ManifestChangeSet
			for _, set := range c.changes {
				changes = append(changes, &pb.ManifestChangeSet{Changes: set})
			}
			kept, missing := undo(changes, func(id uint64) bool { return slices.Contains(c.there, id) })
			var got []uint64
			for _, k := range kept.Changes {
				got = append(got, k.Id)
			}
			if !slices.Equal(got, c.want) || len(missing) != c.problems {
				t.Errorf("tables %v, want %v; %d missing, want %d: %v", got, c.want, len(missing), c.problems, missing)
			}
		})
	}
}

// TestMend: a manifest that names a missing table is refused; mending restores the log's records.
func TestMend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	d := openSmall(t, path)
	for n := range 50 {
		testkit.Must(t, put(d, fmt.Appendf(nil, "key %d", n), fmt.Appendf(nil, "%300d", n)))
	}
	testkit.Must(t, os.CopyFS(path+".copy", os.DirFS(path)), d.Close())
	path += ".copy" // as after a kill: all data is in the log
	name := filepath.Join(path, badger.ManifestFilename)
	text, err := os.ReadFile(name)
	testkit.Must(t, err)
	testkit.Must(t, os.WriteFile(name, withChange(t, text, made(77)...), 0o644))

	if _, err = Open(path, smallTables(path), false); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "fossick repair") {
		t.Fatalf("open: %v, want ErrDamaged and what to do", err)
	}
	if missing, err := Mend(path, path, "", smallTables(path), true); err != nil || len(missing) != 0 {
		t.Errorf("plain: %v, %v; want nothing done", missing, err)
	}
	missing, err := Mend(path, path, "", smallTables(path), false)
	if testkit.Must(t, err); len(missing) != 1 || missing[0].File != "000077.sst" {
		t.Errorf("found %v, want table 77", missing)
	}
	d = openSmall(t, path)
	if _, err := Mend(path, path, "", smallTables(path), false); !errors.Is(err, ErrBusy) {
		t.Errorf("a database in use: %v, want ErrBusy", err)
	}
	for n := range 50 {
		if got := value(t, d, fmt.Sprintf("key %d", n)); string(got) != fmt.Sprintf("%300d", n) {
			t.Fatalf("key %d is %q", n, got)
		}
	}
	testkit.Must(t, d.Close())
	if missing, err := Mend(path, path, "", smallTables(path), false); err != nil || len(missing) != 0 {
		t.Errorf("a sound database: %v, %v", missing, err)
	}
	if missing, err := Mend(path, filepath.Join(path, "none"), "", smallTables(path), false); err != nil || len(missing) != 0 {
		t.Errorf("no database: %v, %v", missing, err)
	}
}

// TestMendAsksBadger: a manifest is rewritten only if Badger reads old and new as we do.
func TestMendAsksBadger(t *testing.T) {
	path := t.TempDir()
	name := filepath.Join(path, badger.ManifestFilename)
	head := []byte("Bdgr\x00\x00\x00\x08")
	text := withChange(t, head, made(1, 77)...)
	for _, test := range []struct {
		what string
		text []byte
	}{
		{"another version", append([]byte("Bdgr\x00\x00\x00\x09"), text[manifestHead:]...)},
		{"a table that is made twice", withChange(t, text, made(1)...)},
	} {
		testkit.Must(t, os.WriteFile(name, test.text, 0o644))
		if missing, err := mend(path, "", smallTables(path)); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("%s: %v, %v", test.what, missing, err)
		}
		if now, err := os.ReadFile(name); err != nil || string(now) != string(test.text) {
			t.Errorf("%s: it was changed", test.what)
		}
	}
	testkit.Must(t, os.WriteFile(name, text, 0o644))
	bad := &pb.ManifestChangeSet{Changes: made(1, 1)}
	if err := writeManifest(name, head, bad, smallTables(path)); err == nil {
		t.Error("a manifest that Badger cannot read was written")
	}
	if now, err := os.ReadFile(name); err != nil || string(now) != string(text) {
		t.Error("it was put in place")
	}
	if files, err := filepath.Glob(filepath.Join(path, ".*")); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v", files)
	}
}

func readManifest(text []byte) (changes []*pb.ManifestChangeSet, ok bool) {
	if len(text) < manifestHead {
		return nil, false
	}
	changes, _, ok = readChanges(text[manifestHead:])
	return changes, ok
}

// FuzzManifest: reading a manifest never panics, and a written one reads back.
func FuzzManifest(f *testing.F) {
	f.Add([]byte("Bdgr\x00\x00\x00\x08"))
	f.Add([]byte("Bdgr\x00\x00\x00\x08\x00\x00\x00\x04abcdefgh"))
	f.Fuzz(func(t *testing.T, text []byte) {
		changes, ok := readManifest(text)
		if !ok {
			return
		}
		kept, _ := undo(changes, func(id uint64) bool { return id%3 != 0 })
		name := filepath.Join(t.TempDir(), "MANIFEST")
		if writeManifest(name, []byte("Bdgr\x00\x00\x00\x08"), kept, smallTables(filepath.Dir(name))) != nil {
			return // Badger would read it differently
		}
		again := testkit.Call(os.ReadFile(name)).Must(t)
		if read, ok := readManifest(again); !ok || len(read) != 1 || fmt.Sprint(read[0].Changes) != fmt.Sprint(kept.Changes) {
			t.Errorf("wrote %v, read %v", kept, read)
		}
	})
}

// heldTables returns the tables considered held, and those in Badger just before or after.
func heldTables(t *testing.T, s *Database) (held, known map[uint64]bool) {
	known = tablesOf(s)
	mark := testkit.Call(s.levels.now()).Must(t)
	testkit.Must(t, s.View(func(txn *badger.Txn) error {
		txn.NewIterator(badger.IteratorOptions{}).Close()
		return nil
	}))
	testkit.Call(s.levels.now()).Must(t)
	maps.Copy(known, tablesOf(s))
	s.levels.mu.Lock()
	defer s.levels.mu.Unlock()
	held = map[uint64]bool{}
	for id, at := range s.levels.in {
		if at <= mark {
			held[id] = true
		}
	}
	return held, known
}

// TestLevels compares levels with Badger's own levels during compactions.
func TestLevels(t *testing.T) {
	path := t.TempDir()
	makeTables(t, path, 20)
	s := openSmall(t, path)
	rng := rand.New(rand.NewPCG(1, 2))
	most := 0
	var compactions sync.WaitGroup
	for round := range testkit.Rounds(40, 150) {
		testkit.Must(t, putKeys(s, rng, 500))
		if round%15 == 10 {
			compactions.Wait()
			compactions.Go(func() {
				if err := s.Flatten(1); err != nil {
					t.Error(err)
				}
			})
		}
		held, known := heldTables(t, s)
		for id := range held {
			if !known[id] {
				t.Errorf("table %d is taken for one in its level, and Badger does not know it", id)
			}
		}
		most = max(most, len(held))
	}
	compactions.Wait()
	testkit.Must(t, s.Close())
	if most < 15 {
		t.Errorf("at most %d tables were known: this test means little", most)
	}
	s = openSmall(t, s.Path())
	defer func() { testkit.Must(t, s.Close()) }()
	held, known := heldTables(t, s)
	for id := range known {
		if !held[id] {
			t.Errorf("table %d was there before the store was opened, and is not known", id)
		}
	}
}

// TestLevelsAnew: after Badger rewrites the manifest, only certain tables stay certain.
func TestLevelsAnew(t *testing.T) {
	path := t.TempDir()
	for id := range uint64(12) {
		testkit.Must(t, os.WriteFile(tableName(path, id), nil, 0o644))
	}
	name := filepath.Join(path, badger.ManifestFilename)
	var l *levels
	check := func(when string, want ...uint64) {
		t.Helper()
		mark := testkit.Call(l.now()).Must(t)
		var got []uint64
		for id := range uint64(12) {
			if l.holds(id, mark) {
				got = append(got, id)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %d, want %d", when, got, want)
		}
	}
	text := withChange(t, []byte("Bdgr\x00\x00\x00\x08"))
	text = withChange(t, text, madeAt(6, 0, 1)...)
	testkit.Must(t, os.WriteFile(name, text, 0o644))
	l = readLevels(path)
	defer l.close()
	check("at first", 0, 1)

	add := func(changes ...*pb.ManifestChange) {
		text = withChange(t, text, changes...)
		testkit.Must(t, os.WriteFile(name, text, 0o644))
	}
	add(made(2)...)
	check("a memtable is written", 0, 1)
	add(made(3)...)
	check("and the next", 0, 1, 2)
	add(append(madeAt(6, 4, 5), removed(1, 2)...)...)
	check("a compaction has not let go of what it replaces", 0)
	testkit.Must(t, os.Remove(tableName(path, 2)))
	check("now it has", 0, 4, 5)
	whole := text
	text = append(withChange(t, text, made(6)...), 0, 0, 0)
	testkit.Must(t, os.WriteFile(name, text[:len(text)-6], 0o644))
	check("half a change", 0, 4, 5)
	testkit.Must(t, os.WriteFile(name, text, 0o644))
	check("the whole of it", 0, 3, 4, 5)

	text = withChange(t, whole[:manifestHead:manifestHead], madeAt(6, 0, 3, 5, 6, 7)...)
	testkit.Must(t, os.WriteFile(name+".new", text, 0o644))
	testkit.Must(t, os.Rename(name+".new", name))
	check("the manifest was written anew", 0, 3, 5)
	add(made(8)...)
	check("a memtable after that", 0, 3, 5, 6)
	testkit.Must(t, os.WriteFile(name, append(text, "\x00\x00\x00\x01garbage"...), 0o644))
	if _, err := l.now(); err == nil || l.holds(0, l.seen) {
		t.Errorf("a manifest that is damaged: %v, table 0 held: %v", err, l.holds(0, l.seen))
	}
}

func madeAt(level uint32, ids ...uint64) []*pb.ManifestChange {
	changes := made(ids...)
	for _, c := range changes {
		c.Level = level
	}
	return changes
}

func withChange(t *testing.T, text []byte, changes ...*pb.ManifestChange) []byte {
	t.Helper()
	body := testkit.Call(proto.Marshal(&pb.ManifestChangeSet{Changes: changes})).Must(t)
	text = binary.BigEndian.AppendUint32(text, uint32(len(body)))
	text = binary.BigEndian.AppendUint32(text, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	return append(text, body...)
}
