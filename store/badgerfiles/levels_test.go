package badgerfiles

import (
	"encoding/binary"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"fossick/internal/fulltest"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
	"google.golang.org/protobuf/proto"
)

// heldTables returns the tables that trim takes for held by an iterator, and those that
// Badger has just before or after that began.
func heldTables(t *testing.T, s *Database) (held, known map[uint64]bool) {
	known = tablesOf(s)
	mark, err := s.levels.now()
	must(t, err)
	must(t, s.View(func(txn *badger.Txn) error {
		txn.NewIterator(badger.IteratorOptions{}).Close()
		return nil
	}))
	_, err = s.levels.now()
	must(t, err)
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

// TestLevels compares what is known of Badger's levels with what Badger says, while it
// compacts: what is held is there, and when all is quiet hardly a table is missing.
func TestLevels(t *testing.T) {
	path := t.TempDir()
	makeTables(t, path, 20)
	s := openSmall(t, path)
	rng := rand.New(rand.NewPCG(1, 2))
	most := 0
	var compactions sync.WaitGroup
	for round := range fulltest.Rounds(40, 400) {
		must(t, putKeys(s, rng, 500))
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
	must(t, s.Close())
	if most < 15 {
		t.Errorf("at most %d tables were known: this test means little", most)
	}
	s = openSmall(t, s.Path())
	defer func() { must(t, s.Close()) }()
	held, known := heldTables(t, s)
	for id := range known {
		if !held[id] {
			t.Errorf("table %d was there before the store was opened, and is not known", id)
		}
	}
}

// TestLevelsAnew writes the manifest anew, as Badger does when most of it is of tables
// that are gone: what was certain stays so, what came meanwhile is not.
func TestLevelsAnew(t *testing.T) {
	path := t.TempDir()
	for id := range uint64(12) {
		must(t, os.WriteFile(tableName(path, id), nil, 0o644))
	}
	name := filepath.Join(path, badger.ManifestFilename)
	var l *levels
	check := func(when string, want ...uint64) {
		t.Helper()
		mark, err := l.now()
		must(t, err)
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
	must(t, os.WriteFile(name, text, 0o644))
	l = readLevels(path)
	defer l.close()
	check("at first", 0, 1)

	add := func(changes ...*pb.ManifestChange) {
		text = withChange(t, text, changes...)
		must(t, os.WriteFile(name, text, 0o644))
	}
	add(made(2)...)
	check("a memtable is written", 0, 1)
	add(made(3)...)
	check("and the next", 0, 1, 2)
	add(append(madeAt(6, 4, 5), removed(1, 2)...)...)
	check("a compaction has not let go of what it replaces", 0)
	must(t, os.Remove(tableName(path, 2)))
	check("now it has", 0, 4, 5)
	whole := text
	text = append(withChange(t, text, made(6)...), 0, 0, 0)
	must(t, os.WriteFile(name, text[:len(text)-6], 0o644))
	check("half a change", 0, 4, 5)
	must(t, os.WriteFile(name, text, 0o644))
	check("the whole of it", 0, 3, 4, 5)

	text = withChange(t, whole[:manifestHead:manifestHead], madeAt(6, 0, 3, 5, 6, 7)...)
	must(t, os.WriteFile(name+".new", text, 0o644))
	must(t, os.Rename(name+".new", name))
	check("the manifest was written anew", 0, 3, 5)
	add(made(8)...)
	check("a memtable after that", 0, 3, 5, 6)
	must(t, os.WriteFile(name, append(text, "\x00\x00\x00\x01garbage"...), 0o644))
	if _, err := l.now(); err == nil || l.holds(0, l.seen) {
		t.Errorf("a manifest that is damaged: %v, table 0 held: %v", err, l.holds(0, l.seen))
	}
}

// madeAt is made on a level.
func madeAt(level uint32, ids ...uint64) []*pb.ManifestChange {
	changes := made(ids...)
	for _, c := range changes {
		c.Level = level
	}
	return changes
}

// withChange appends one change to a manifest.
func withChange(t *testing.T, text []byte, changes ...*pb.ManifestChange) []byte {
	t.Helper()
	body, err := proto.Marshal(&pb.ManifestChangeSet{Changes: changes})
	must(t, err)
	text = binary.BigEndian.AppendUint32(text, uint32(len(body)))
	text = binary.BigEndian.AppendUint32(text, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	return append(text, body...)
}
