//go:build unix

package export

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"fossick/internal/reading"
)

// lockFolder marks a folder as in use, until the file is closed or the process ends.
func lockFolder(dir string) (*os.File, error) {
	f, err := reading.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) // where there are no locks, stale folders stay
	return f, nil
}

// lockAlone locks a folder that no other process may have; false when one has it.
func lockAlone(dir string) (_ *os.File, alone bool, err error) {
	f, err := reading.OpenFolder(dir)
	if err != nil {
		return nil, false, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil, false, f.Close()
	}
	return f, true, nil // where there are no locks, no one is known to have it
}

// unlock ends a lock. To close its file is not enough: a process that is being started has a
// copy of it until it runs its program.
func unlock(lock *os.File) error {
	_ = unix.Flock(int(lock.Fd()), unix.LOCK_UN) // closing does it soon, too
	return lock.Close()
}

func removeStale(dir, prefix string) {
	entries, _ := os.ReadDir(dir) // a folder that stays costs room alone
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		f, err := reading.OpenFolder(path)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(path)
		}
		_ = f.Close()
	}
}

func syncAll(string) error {
	unix.Sync()
	return nil
}
