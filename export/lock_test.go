package export

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"fossick/internal/testkit"
)

// TestLockBesideACopy: closing frees a folder even while a child process holds a copy of the descriptor.
func TestLockBesideACopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	kept, err := Keep(path, "work")
	if err != nil {
		t.Fatal(err)
	}
	descriptor, err := unix.Dup(int(kept.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(descriptor)
	testkit.Must(t, kept.Close())
	again, err := Keep(path, "work")
	if err != nil {
		t.Fatalf("after its release: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
