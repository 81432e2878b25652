package export

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"fossick/internal/fileio"
)

// lockAlone locks a folder until unlock or the end of the process; alone is false when another process holds the lock.
func lockAlone(dir string) (_ *os.File, alone bool, err error) {
	f, err := fileio.OpenFolder(dir)
	if err != nil {
		return nil, false, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil, false, f.Close()
	}
	return f, true, nil // on file systems without locks, no other user is known
}

// unlock releases a lock. Closing the file is not enough, since a starting child process has a copy of it.
func unlock(lock *os.File) error {
	_ = unix.Flock(int(lock.Fd()), unix.LOCK_UN) // closing releases it later at the latest
	return lock.Close()
}

func removeStale(dir, prefix string) {
	entries, _ := os.ReadDir(dir) // a folder left behind costs only disk space
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		lock, alone, err := lockAlone(path)
		if err != nil || !alone {
			continue
		}
		_ = os.RemoveAll(path)
		_ = unlock(lock)
	}
}
