package badgerfiles

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestLockBesideACopy: a lock that is released is free at once, also while a process that
// is being started has a copy of its descriptor.
func TestLockBesideACopy(t *testing.T) {
	path := t.TempDir()
	held, err := lockFolder(path, path)
	must(t, err)
	descriptor, err := unix.Dup(int(held))
	must(t, err)
	defer unix.Close(descriptor)
	held.release()
	if err := Free(path, path); err != nil {
		t.Errorf("after its release: %v", err)
	}
}
