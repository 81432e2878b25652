package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// keepSynced syncs what was committed, and looks at the disk, until Close.
func (s *Store) keepSynced() {
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.hearSync(syncLogs(s.mapped))
			s.watch()
		case <-s.stop:
			return
		}
	}
}

// hearSync lets a disk that could not take what was committed fail the next commit: the
// logs are mapped, and writing to them is no error. That files could not be opened
// passes, and the next sync will do.
func (s *Store) hearSync(err error) {
	if errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) {
		s.log.hear(err.Error())
	}
}

// keepTrimmed gives memory back beside the writer, and looks how full the disk is,
// until Close. It has a goroutine of
// its own: a sync may wait for the disk for seconds, while a compaction maps more.
func (s *Store) keepTrimmed() {
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = s.trim(false) // no harm if it cannot: see trimAfter
			s.watchRoom()     // another program fills a disk in less than syncEvery
		case <-s.stop:
			return
		}
	}
}

// syncLogs syncs the logs of the database in dir: the memtables' first, then the
// value log's end, so that what they point to is there when it returns. Badger's own
// Sync holds a lock meanwhile that every commit and every look-up needs: every
// five seconds the whole crawl stood still for as long as the disk took. Syncing a
// file by a descriptor of our own writes its mapped pages just as well (fsync(2)).
func syncLogs(dir string) error {
	memtables, err1 := filepath.Glob(filepath.Join(dir, "*.mem"))
	values, err2 := filepath.Glob(filepath.Join(dir, "*.vlog"))
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("store %s: %w", dir, err)
	}
	slices.Sort(values) // all names have six digits at least
	values = values[max(0, len(values)-2):]
	for _, name := range append(memtables, values...) {
		if err := syncFile(name); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	return nil
}

func syncFile(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a memtable that is in a table by now, which Badger syncs itself
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
