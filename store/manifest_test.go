package store

import (
	"context"
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
			kept, problems := undo(changes, func(id uint64) bool { return slices.Contains(c.there, id) })
			var got []uint64
			for _, k := range kept.Changes {
				got = append(got, k.Id)
			}
			if !slices.Equal(got, c.want) || len(problems) != c.problems {
				t.Errorf("tables %v, want %v; %d problems, want %d: %v", got, c.want, len(problems), c.problems, problems)
			}
		})
	}
}

// TestMendTables: a store whose manifest names a table that is not there is refused
// with what to do; that brings back all that was in the log.
func TestMendTables(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := Create(dir, Info{})
	must(t, err)
	for n := range uint64(50) {
		change(t, s, func(b *Batch) { must(t, putExchange(s, b, n+1), b.PutCounts(&Counts{URLs: n + 1, Pages: n + 1})) })
	}
	must(t, os.CopyFS(dir+".copy", os.DirFS(dir)), s.Close())
	dir += ".copy" // as a kill leaves it: all is in the log
	name := filepath.Join(dir, database, badger.ManifestFilename)
	text, err := os.ReadFile(name)
	must(t, err)
	changes, ok := readManifest(text)
	if !ok || len(changes) == 0 {
		t.Fatalf("%d changes, %v", len(changes), ok)
	}
	var all []*pb.ManifestChange
	for _, set := range changes {
		all = append(all, set.Changes...)
	}
	must(t, writeManifest(name, text[:manifestHead], &pb.ManifestChangeSet{Changes: append(all, made(77)...)}))

	if _, err = Open(dir); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "fossick repair") {
		t.Fatalf("open: %v, want ErrDamaged and what to do", err)
	}
	problems, err := MendTables(dir)
	must(t, err)
	if len(problems) != 1 || problems[0].Key != "table 77" {
		t.Errorf("found %v, want table 77", problems)
	}
	s, err = Open(dir)
	must(t, err)
	if _, err := MendTables(dir); !errors.Is(err, ErrBusy) {
		t.Errorf("a store in use: %v, want ErrBusy", err)
	}
	if found, err := s.Verify(context.Background()); err != nil || len(found) > 50+1 { // the exchanges have no hosts
		t.Errorf("verify: %d problems, %v", len(found), err)
	}
	for n := range uint64(50) {
		body, err := s.Body(n + 1)
		if must(t, err); string(body) != string(bodyOf(n+1)) {
			t.Fatalf("page %d has another body", n+1)
		}
	}
	must(t, s.Close())
	if problems, err := MendTables(dir); err != nil || len(problems) != 0 {
		t.Errorf("a sound store: %v, %v", problems, err)
	}
	if problems, err := MendTables(t.TempDir()); err != nil || len(problems) != 0 {
		t.Errorf("no store: %v, %v", problems, err)
	}
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
		must(t, writeManifest(name, []byte("Bdgr\x00\x00\x00\x08"), kept))
		again, err := os.ReadFile(name)
		must(t, err)
		if read, ok := readManifest(again); !ok || len(read) != 1 || fmt.Sprint(read[0].Changes) != fmt.Sprint(kept.Changes) {
			t.Errorf("wrote %v, read %v", kept, read)
		}
	})
}
