package badgerfiles

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4/y"
	"golang.org/x/sys/unix"

	"fossick/internal/reading"
)

// checkLogs looks at the logs that Badger plays back, those of memtables and the newest of
// values, and at the heads of all. What stands in another value log is looked at when it is
// read.
func (f *findings) checkLogs() error {
	values, err := logsOf(f.path, valueFiles)
	if err != nil {
		return err
	}
	memlogs, err := logsOf(f.path, memtableFiles)
	if err != nil {
		return err
	}
	for _, name := range append(memlogs, values...) {
		if err := f.checkHead(name); err != nil {
			return err
		}
	}
	err = f.eachMemlog(func(name string, log logRead) {
		newest := uint64(0)
		for _, e := range log.committed() {
			newest = max(newest, y.ParseTs(e.key))
		}
		f.inLogs[logNumber(name)] = newest
		if log.damaged {
			f.memlogs = append(f.memlogs, name)
			f.found(filepath.Base(name), true, "a log of the readable entries replaces it", "it has entries after one that cannot be read")
		}
	})
	if err != nil || len(values) == 0 {
		return err
	}
	newest := values[len(values)-1]
	return withLog(newest, func(text []byte) {
		if log := readLog(text); log.damaged {
			f.values = true
			f.found(filepath.Base(newest), true, "left as it is, and followed by a new one", "one of its values cannot be read")
		}
	})
}

// logsOf returns the logs of a database of one kind, the oldest first.
func logsOf(path, kind string) (names []string, err error) {
	entries, err := os.ReadDir(path) // filepath.Glob would take a [ in path for a pattern
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("store: %w", err)
	}
	for _, e := range entries {
		if ours, _ := filepath.Match(kind, e.Name()); ours {
			names = append(names, filepath.Join(path, e.Name()))
		}
	}
	slices.Sort(names) // all names have six digits at least
	return names, nil
}

// eachMemlog calls f with each log of a memtable, which is valid only inside it.
func (f *findings) eachMemlog(do func(name string, log logRead)) error {
	names, err := logsOf(f.path, memtableFiles)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := withLog(name, func(text []byte) { do(name, readLog(text)) }); err != nil {
			return err
		}
	}
	return nil
}

// checkHead looks at the number of the key that a log says it is encrypted with.
func (f *findings) checkHead(name string) error {
	file, err := reading.Open(name)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer file.Close() // it is only read
	var head [logHead]byte
	if n, err := file.ReadAt(head[:], 0); err != nil && n < len(head) {
		return nil // shorter: see readLog
	}
	if binary.BigEndian.Uint64(head[:]) != 0 {
		f.heads = append(f.heads, name)
		lost := filepath.Ext(name) == ".mem" // of a log that is nonsense from its first byte, nothing tells what was in it
		f.found(filepath.Base(name), lost, "put right: nothing is encrypted", "it claims to be encrypted")
	}
	return nil
}

// withLog calls f with the content of a log, mapped, without the zeros behind
// it that are not on the disk. A killed writer leaves up to 256 MiB of them.
func withLog(name string, f func(text []byte)) error {
	file, err := reading.Open(name)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer file.Close() // it is only read
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if info.Size() == 0 {
		f(nil)
		return nil
	}
	// Some zeros stay: a log that ends with neither an entry nor a zero is damaged.
	size := min(info.Size(), endOfData(file, info.Size())+logHead)
	text, err := unix.Mmap(int(file.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("store: %s: %w", name, err)
	}
	f(text)
	if err := unix.Munmap(text); err != nil {
		return fmt.Errorf("store: %s: %w", name, err)
	}
	return nil
}

// endOfData returns where a file has but zeros that are not on the disk from, its size where
// the system cannot tell.
func endOfData(file *os.File, size int64) (end int64) {
	for {
		data, err := file.Seek(end, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return end
		}
		if err == nil {
			end, err = file.Seek(data, unix.SEEK_HOLE)
		}
		if err != nil {
			return size
		}
	}
}
