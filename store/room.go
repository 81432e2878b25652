package store

import (
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// room is what a file system has left.
type room struct {
	bytes uint64
	files uint64 // how many more it can hold; the largest number where it sets no limit
}

// minFreeBytes is where a crawl stops. Badger maps its files into memory, and a
// write to a page that the disk has no room for kills the process. So the store
// refuses while there still is room for a memtable and its flush.
const minFreeBytes = 256 << 20

// minFreeFiles is where it stops, too. Up to 13 tables are in the making at
// once, and Badger takes one that cannot be made for a reason to try for ever.
const minFreeFiles = 64

// minOpenBytes and minOpenFiles are what opening needs: it begins new logs, which are
// mapped too.
const (
	minOpenBytes = 16 << 20
	minOpenFiles = 8
)

// minCloseBytes is what closing needs: the memtables become tables. With less it is
// left to the next opening, as after a kill.
const minCloseBytes = 64 << 20

func freeRoom(dir string) (room, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return room{}, fmt.Errorf("free space of %s: %w", dir, err)
	}
	// Signed on FreeBSD: below zero is what only root may use.
	r := room{bytes: uint64(max(st.Bavail, 0)) * uint64(st.Bsize), files: uint64(max(st.Ffree, 0))}
	if st.Files == 0 { // btrfs, for one: files need no number that was set aside
		r.files = math.MaxUint64
	}
	return r, nil
}

// shortOf returns ErrDiskFull with what is missing of want, nil when there is enough.
func (r room) shortOf(want room, dir string) error {
	switch {
	case r.bytes < want.bytes:
		return fmt.Errorf("%s: %w (%d MiB free, %d MiB are needed)", dir, ErrDiskFull, r.bytes>>20, want.bytes>>20)
	case r.files < want.files:
		return fmt.Errorf("%s: %w (it can hold %d more files, %d are needed; see df -i)", dir, ErrDiskFull, r.files, want.files)
	}
	return nil
}

// roomToMake refuses to make a store that could not be written to.
func roomToMake(dir string) error {
	if free, err := freeRoom(dir); err == nil {
		if err := free.shortOf(room{minFreeBytes, minFreeFiles}, dir); err != nil {
			return fmt.Errorf("%w; make room first, or give a folder on another disk", err)
		}
	}
	return nil
}

// writable says whether the database can be changed, or made, and there is room
// for it. A store is written to even when it is only read, to recover what a
// kill left.
func writable(dir, path string) error {
	if _, err := os.Stat(path); err != nil {
		path = dir
	}
	if err := unix.Access(path, unix.W_OK); err != nil {
		return fmt.Errorf("%s: the store cannot be written to, which opening it needs: %w; change its permissions or its disk, or work on a copy", dir, err)
	}
	if free, err := freeRoom(path); err == nil {
		if err := free.shortOf(room{minOpenBytes, minOpenFiles}, dir); err != nil {
			return fmt.Errorf("%w; make room first", err)
		}
	}
	return nil
}
