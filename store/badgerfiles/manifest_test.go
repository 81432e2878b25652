package badgerfiles

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
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

// TestUndo: changes that never came to their end are taken back as far as the files
// that are there allow it.
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

// TestMend: a database whose manifest names a table that is not there is refused with
// what to do; that brings back all that was in the log.
func TestMend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	d := openSmall(t, path)
	for n := range 50 {
		must(t, put(d, fmt.Appendf(nil, "key %d", n), fmt.Appendf(nil, "%300d", n)))
	}
	must(t, os.CopyFS(path+".copy", os.DirFS(path)), d.Close())
	path += ".copy" // as a kill leaves it: all is in the log
	name := filepath.Join(path, badger.ManifestFilename)
	text, err := os.ReadFile(name)
	must(t, err)
	must(t, os.WriteFile(name, withChange(t, text, made(77)...), 0o644))

	if _, err = Open(path, smallTables(path), false); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "fossick repair") {
		t.Fatalf("open: %v, want ErrDamaged and what to do", err)
	}
	if missing, err := Mend(path, path, "", smallTables(path), true); err != nil || len(missing) != 0 {
		t.Errorf("plain: %v, %v; want nothing done", missing, err)
	}
	missing, err := Mend(path, path, "", smallTables(path), false)
	if must(t, err); len(missing) != 1 || missing[0].File != "000077.sst" {
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
	must(t, d.Close())
	if missing, err := Mend(path, path, "", smallTables(path), false); err != nil || len(missing) != 0 {
		t.Errorf("a sound database: %v, %v", missing, err)
	}
	if missing, err := Mend(path, filepath.Join(path, "none"), "", smallTables(path), false); err != nil || len(missing) != 0 {
		t.Errorf("no database: %v, %v", missing, err)
	}
}

// TestMendAsksBadger: a manifest that Badger reads otherwise than we do is not written
// anew, and neither is one put in place that Badger would.
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
		must(t, os.WriteFile(name, test.text, 0o644))
		if missing, err := mend(path, "", smallTables(path)); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("%s: %v, %v", test.what, missing, err)
		}
		if now, err := os.ReadFile(name); err != nil || string(now) != string(test.text) {
			t.Errorf("%s: it was changed", test.what)
		}
	}
	must(t, os.WriteFile(name, text, 0o644))
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

// readManifest returns the changes; false when something else is there.
func readManifest(text []byte) (changes []*pb.ManifestChangeSet, ok bool) {
	if len(text) < manifestHead {
		return nil, false
	}
	changes, _, ok = readChanges(text[manifestHead:])
	return changes, ok
}

// FuzzManifest: no manifest makes reading it panic, and what is written is read again.
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
			return // Badger would read it otherwise
		}
		again, err := os.ReadFile(name)
		must(t, err)
		if read, ok := readManifest(again); !ok || len(read) != 1 || fmt.Sprint(read[0].Changes) != fmt.Sprint(kept.Changes) {
			t.Errorf("wrote %v, read %v", kept, read)
		}
	})
}
