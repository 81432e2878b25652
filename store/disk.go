package store

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// minFreeBytes is where a crawl stops. Badger maps its files into memory, and
// a write to a page that the disk has no room for kills the process; so the
// store refuses while there still is room for a memtable and its flush.
const minFreeBytes = 256 << 20

func freeBytes(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return st.Bavail * uint64(st.Bsize), nil
}

// minOpenBytes is what opening needs: it begins new logs, which are mapped too.
const minOpenBytes = 16 << 20

// writable says whether the database can be changed, or made, and there is room for
// it: a store is written
// to even when it is only read, to recover what a kill left.
func writable(dir, path string) error {
	if _, err := os.Stat(path); err != nil {
		path = dir
	}
	if err := unix.Access(path, unix.W_OK); err != nil {
		return fmt.Errorf("%s: the store cannot be written to, which opening it needs: %w; change its rights or its disk, or work on a copy", dir, err)
	}
	if free, err := freeBytes(path); err == nil && free < minOpenBytes {
		return fmt.Errorf("%s: %w (%d KiB free, opening the store needs %d MiB); make room first", dir, ErrDiskFull, free>>10, minOpenBytes>>20)
	}
	return nil
}
