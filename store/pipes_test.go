//go:build unix

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"fossick/internal/reading"
	"fossick/internal/tries"
)

// TestPipes: whatever file of a store is a pipe, or leads to a device, no way to open it waits.
func TestPipes(t *testing.T) {
	class := tries.Of(t, "pipes and devices in a store")
	whole := filepath.Join(t.TempDir(), "whole")
	s, err := Create(whole, Info{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	names := []string{"bad", database + "/LOCK", database + "/999999.sst", database + "/000009.vlog", database + "/reached", Derived + "/x", "model.fossick", "seeds.txt", "nats/jetstream/x"}
	if err := filepath.WalkDir(whole, func(path string, d fs.DirEntry, err error) error {
		if name, _ := filepath.Rel(whole, path); err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		for kind, put := range map[string]func(path string) error{
			"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"a device": func(path string) error { return os.Symlink("/dev/zero", path) },
		} {
			dir := filepath.Join(t.TempDir(), "store")
			at := filepath.Join(dir, name)
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), put(at)); err != nil {
				t.Fatal(err)
			}
			for how, open := range map[string]func() (*Store, error){
				"open": func() (*Store, error) { return Open(dir) }, "read": func() (*Store, error) { return OpenToRead(dir) },
				"create": func() (*Store, error) { return Create(dir, Info{}) }, "repair": func() (*Store, error) { _, err := RepairAll(t.Context(), dir); return nil, err },
			} {
				ended := make(chan error, 1)
				go func() { _, err := open(); ended <- err }()
				select {
				case err := <-ended:
					class.Try(errors.Is(err, reading.ErrKind) || errors.Is(err, ErrNone), "%s where %s is %s: %v", how, name, kind, err)
				case <-time.After(20 * time.Second):
					class.Try(false, "%s where %s is %s waits", how, name, kind)
				}
			}
		}
	}
}
