package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A store whose folder is removed or moved says so, and can be closed.
func TestFolderGone(t *testing.T) {
	for name, away := range map[string]func(dir string) error{
		"removed": os.RemoveAll,
		"moved":   func(dir string) error { return os.Rename(dir, dir+".moved") },
		"replaced": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".moved"), os.MkdirAll(filepath.Join(dir, database), 0o755))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			s, err := Create(dir, Info{})
			must(t, err)
			put := func(id ID) error {
				b := s.Batch()
				return errors.Join(b.PutBirth(id, Birth{URL: u1}), b.Commit())
			}
			must(t, put(1))
			s.disk.look()
			must(t, put(2))
			must(t, away(dir))
			s.disk.look()
			if err := put(3); !errors.Is(err, ErrGone) {
				t.Errorf("commit: %v, want ErrGone", err)
			}
			closed := make(chan error, 1)
			go func() { closed <- s.Close() }()
			select {
			case err := <-closed:
				if !errors.Is(err, ErrGone) {
					t.Errorf("close: %v, want ErrGone", err)
				}
			case <-time.After(20 * time.Second):
				t.Fatal("close does not end")
			}
			if name == "removed" {
				return
			}
			// This process still holds the lock of the folder itself, until it ends.
			copyTo(t, dir+".copy", dir+".moved")
			s, err = Open(dir + ".copy")
			must(t, err)
			for id := range ID(2) {
				if b, err := s.URLs().Birth(id + 1); err != nil || b.URL != u1 {
					t.Errorf("birth %d: %+v, %v", id+1, b, err)
				}
			}
			must(t, s.Close())
		})
	}
}

// TestFolderBack: nothing is dropped without a word when the folder was away for a while.
func TestFolderBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s, err := Create(dir, Info{})
	must(t, err)
	must(t, os.Rename(dir, dir+".moved"))
	s.disk.look()
	must(t, os.Rename(dir+".moved", dir))
	alter(t, s, func(b *Batch) { must(t, b.PutBirth(1, Birth{URL: u1})) })
	if b, err := s.URLs().Birth(1); err != nil || b.URL != u1 {
		t.Errorf("birth: %+v, %v", b, err)
	}
	must(t, s.Close())
}
