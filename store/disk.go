package store

import (
	"fmt"

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
