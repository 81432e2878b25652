package urlfrontier

import (
	"fmt"

	"golang.org/x/sys/unix"

	"fossick/store/badgerfiles"
)

// minFreeBytes is what the disk must have left for a batch. The database maps its files
// into memory, and a write to a page without room for it kills the process; as in package
// store, room for a memtable and its flush is kept.
const minFreeBytes = 256 << 20

func freeBytes(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return uint64(max(st.Bavail, 0)) * uint64(st.Bsize), nil
}

// room is an error while the disk is nearly full. It is no failure: with room again
// URLs are taken in.
func (f *Frontier) room() error {
	free, err := f.opt.free(f.db.Path())
	if err != nil || free >= minFreeBytes {
		return nil // where it is not known, the database tells in its own way
	}
	return fmt.Errorf("%s: %w (%d MiB free, %d are needed); make room", f.db.Path(), badgerfiles.ErrDiskFull, free>>20, minFreeBytes>>20)
}
