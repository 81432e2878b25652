package badgerfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/dgraph-io/badger/v4"
)

// Files of a database.
const (
	tableFiles    = "*.sst"
	memtableFiles = "*.mem"
	valueFiles    = "*.vlog"
)

// Exists says whether there is a database in path, even one that lost its list of tables.
func Exists(path string) bool {
	if _, err := os.Stat(filepath.Join(path, badger.ManifestFilename)); err == nil {
		return true
	}
	tables, err := tablesIn(path)
	return err == nil && len(tables) > 0
}

// SyncLogs syncs the logs of the database. The memtables' come first, then the value
// log's end, so that what they point to is there when it returns. Badger's own Sync
// meanwhile holds a lock that every commit and look-up needs: the whole crawl stood
// still as long as the disk took. Syncing a file by a descriptor of our own writes its
// mapped pages just as well (fsync(2)).
func (d *Database) SyncLogs() error {
	if d.plain {
		return d.Sync()
	}
	reached := d.progress.last() // before the logs are listed, or it might be of a newer one
	memtables, err := syncLogs(d.path)
	if err == nil {
		d.progress.synced(memtables, reached)
	}
	if errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS) {
		// The logs are mapped, and writing to them is no error: the next commit must
		// fail. That files could not be opened passes, and the next sync will do.
		d.log.fail(err.Error())
	}
	return err
}

// syncLogs returns which logs of memtables it synced, the oldest first.
func syncLogs(path string) (memtables []string, err error) {
	memtables, err1 := logsOf(path, memtableFiles)
	values, err2 := logsOf(path, valueFiles)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	values = values[max(0, len(values)-2):]
	for _, name := range slices.Concat(memtables, values) {
		if err := syncFile(name); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	return memtables, nil
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

// Size is what the files of a closed database take.
type Size struct {
	Tables     int
	TableBytes int64
	LargestLog int64
}

// SizeOf returns the size of the database in path.
func SizeOf(path string) (s Size, err error) {
	tables, err1 := filepath.Glob(filepath.Join(path, tableFiles))
	logs, err2 := filepath.Glob(filepath.Join(path, valueFiles))
	if err := errors.Join(err1, err2); err != nil {
		return s, fmt.Errorf("store %s: %w", path, err)
	}
	s.Tables = len(tables)
	for i, name := range append(tables, logs...) {
		info, err := os.Stat(name)
		if err != nil {
			return s, fmt.Errorf("store: %w", err)
		}
		if i < len(tables) {
			s.TableBytes += info.Size()
		} else {
			s.LargestLog = max(s.LargestLog, info.Size())
		}
	}
	return s, nil
}
