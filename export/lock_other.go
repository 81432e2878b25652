//go:build !unix

package export

import (
	"os"

	"fossick/internal/fileio"
)

func lockFolder(dir string) (*os.File, error) { return fileio.OpenFolder(dir) }

func lockAlone(dir string) (_ *os.File, alone bool, err error) {
	f, err := fileio.OpenFolder(dir)
	return f, err == nil, err
}

func unlock(lock *os.File) error { return lock.Close() }

func removeStale(dir, prefix string) {}

func syncAll(string) error { return nil }
