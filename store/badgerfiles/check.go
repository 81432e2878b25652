package badgerfiles

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"golang.org/x/sys/unix"

	"fossick/internal/fileio"
)

// Damage is a part of a database's files that differs from what Badger wrote.
type Damage struct {
	File string // name, without the database's folder
	What string // what is wrong
	Done string // how Mend repairs it
	Lost bool   // records may be lost with it
}

// findings collects the damage of a closed database, and what its repair needs.
type findings struct {
	path   string
	damage []Damage

	tables map[uint64]*pb.ManifestChange // tables to use
	relist bool                          // the manifest must be rewritten

	spoilt     map[uint64]bool // tables with unreadable blocks
	memlogs    []string        // logs of memtables with unreadable entries
	heads      []string        // value logs with a bad header
	values     bool            // Badger would truncate the newest value log
	expendable []string        // bad files that Badger makes anew
}

func (f *findings) found(file string, lost bool, done, format string, args ...any) {
	f.damage = append(f.damage, Damage{File: file, What: fmt.Sprintf(format, args...), Done: done, Lost: lost})
}

func (f *findings) err(dir string) error {
	if len(f.damage) == 0 {
		return nil
	}
	more := ""
	if n := len(f.damage) - 1; n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	return fmt.Errorf("%s: %w: %s%s; fossick repair %s keeps all that can be read, and the rest for later",
		filepath.Join(f.path, f.damage[0].File), ErrDamaged, f.damage[0].What, more, dir)
}

// examine checks the files of the closed, locked database in path: every block of every table, the
// manifest, and the logs that Badger replays. Badger itself checks a block only when it reads it.
// Its compaction takes a damaged block for the end of the table, drops the rest and deletes the old
// table.
func examine(path string) (*findings, error) {
	f := &findings{path: path, spoilt: map[uint64]bool{}}
	if err := f.readList(); err != nil || f.tables == nil {
		return f, err
	}
	for _, check := range []func() error{f.checkTables, f.checkLogs, f.checkSmall} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *findings) checkTables() error {
	var buf []byte
	for _, id := range slices.Sorted(maps.Keys(f.tables)) {
		if f.tables[id].KeyId != 0 {
			continue // encrypted: opening reports it
		}
		var err error
		if buf, err = readFile(tableName(f.path, id), buf); err != nil {
			return fmt.Errorf("store: %w", err)
		}
		bad, err := checkTable(buf, badgeroptions.CompressionType(f.tables[id].Compression))
		if err == nil {
			continue
		}
		f.spoilt[id] = true
		more := ""
		if bad > 1 {
			more = fmt.Sprintf(" (%d blocks are damaged)", bad)
		}
		f.found(tableFile(id), true, "the readable part is kept in a table of its own", "%v%s", err, more)
	}
	return nil
}

// checkSmall checks Badger's key registry, without keys only sixteen random bytes and a word, and the
// size of its discard statistics, beyond which it would write.
func (f *findings) checkSmall() error {
	text, err := fileio.All(filepath.Join(f.path, badger.KeyRegistryFileName), 64<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(text) == 28 && string(text[16:]) == "Hello Badger":
	case err != nil:
		return fmt.Errorf("store: %w", err)
	case slices.ContainsFunc(slices.Collect(maps.Values(f.tables)), func(c *pb.ManifestChange) bool { return c.KeyId != 0 }):
		// encrypted: opening reports it
	default:
		f.expendable = append(f.expendable, badger.KeyRegistryFileName)
		f.found(badger.KeyRegistryFileName, false, "written again: nothing is encrypted", "it should be an empty list of keys, and is not")
	}
	if info, err := os.Stat(filepath.Join(f.path, statistics)); err == nil && info.Size() > 0 && info.Size() < statisticsBytes {
		f.expendable = append(f.expendable, statistics)
		f.found(statistics, false, "written again", "it has %d bytes, %d are missing", info.Size(), statisticsBytes-info.Size())
	}
	return nil
}

// statistics is Badger's file of dead bytes per value log; statisticsBytes is its least size.
const (
	statistics      = "DISCARD"
	statisticsBytes = 1 << 20
)

// readList reads the manifest. f.tables stays nil for a new database.
func (f *findings) readList() error {
	name := filepath.Join(f.path, badger.ManifestFilename)
	text, err := fileio.All(name, 64<<20)
	there, listErr := tablesIn(f.path)
	what, done := "", "written again from the existing tables"
	switch {
	case listErr != nil:
		return listErr
	case errors.Is(err, fs.ErrNotExist):
		if len(there) == 0 {
			return nil
		}
		what = "the list of tables is missing"
	case err != nil:
		return fmt.Errorf("store: %w", err)
	case len(text) < manifestHead || string(text[:4]) != emptyList[:4]:
		what = "the list of tables cannot be read"
	case string(text[:manifestHead]) != emptyList:
		return fmt.Errorf("%s: another version of Badger made it; nothing was changed", name)
	}
	if what != "" {
		text = []byte(emptyList)
	}
	changes, length, ok := readChanges(text[manifestHead:])
	others := slices.DeleteFunc(there, func(id uint64) bool { return named(changes, id) })
	if !ok || length < len(text)-manifestHead && len(others) > 0 {
		what = fmt.Sprintf("the list of tables is damaged %d bytes after its header", length)
		done = "written again from its readable part and the existing tables"
	}
	if f.relist = what != ""; f.relist {
		f.found(badger.ManifestFilename, false, done, "%s", what)
	}
	f.tables = undo(changes, func(id uint64) bool { return hasTable(f.path, id) })
	damaged := f.relist
	for _, id := range slices.Sorted(maps.Keys(net(changes))) {
		if !hasTable(f.path, id) {
			f.relist = true
			f.found(tableFile(id), !damaged, "removed from the list of tables; other errors show whether it held records",
				"the list of tables names it, but it is missing, as after a disk failure")
		}
	}
	if !f.relist {
		return nil // a kill leaves unlisted tables, whose records are also elsewhere; Badger removes them
	}
	for _, id := range others {
		compression, err := f.compressionOf(id)
		if err != nil {
			return err
		}
		f.tables[id] = &pb.ManifestChange{Id: id, Op: pb.ManifestChange_CREATE, Compression: uint32(compression), EncryptionAlgo: pb.EncryptionAlgo_aes}
	}
	return nil
}

func named(changes []*pb.ManifestChangeSet, id uint64) bool {
	return slices.ContainsFunc(changes, func(set *pb.ManifestChangeSet) bool {
		return slices.ContainsFunc(set.Changes, func(c *pb.ManifestChange) bool { return c.Id == id })
	})
}

// compressionOf finds out how an unlisted table is compressed.
func (f *findings) compressionOf(id uint64) (badgeroptions.CompressionType, error) {
	text, err := readFile(tableName(f.path, id), nil)
	if err != nil {
		return badgeroptions.None, fmt.Errorf("store: %w", err)
	}
	if len(wholeBlocks(text, badgeroptions.None)) == 0 && len(wholeBlocks(text, badgeroptions.Snappy)) > 0 {
		return badgeroptions.Snappy, nil
	}
	return badgeroptions.None, nil
}

func tablesIn(path string) (ids []uint64, err error) {
	names, err := filepath.Glob(filepath.Join(path, tableFiles))
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	for _, name := range names {
		if id, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(name), ".sst"), 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// checkLogs checks the logs that Badger replays (those of memtables and the newest value log), and
// the headers of all. Other value logs are checked when read.
func (f *findings) checkLogs() error {
	memlogs, err1 := logsOf(f.path, memtableFiles)
	values, err2 := logsOf(f.path, valueFiles)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	for _, name := range memlogs {
		damaged, err := damagedLog(name)
		if err != nil {
			return err
		}
		if damaged {
			f.memlogs = append(f.memlogs, name)
			f.found(filepath.Base(name), true, "a log of the readable entries replaces it", "it has entries after one that cannot be read")
		}
	}
	for _, name := range values {
		encrypted, err := saysEncrypted(name)
		if err != nil {
			return err
		}
		if encrypted {
			f.heads = append(f.heads, name)
			f.found(filepath.Base(name), false, "put right: nothing is encrypted", "it claims to be encrypted")
		}
	}
	if len(values) == 0 {
		return nil
	}
	newest := values[len(values)-1]
	damaged, err := damagedLog(newest)
	if err == nil && damaged {
		f.values = true
		f.found(filepath.Base(newest), true, "left as it is, and followed by a new one", "one of its values cannot be read")
	}
	return err
}

// logsOf returns the logs of one kind, oldest first.
func logsOf(path, kind string) (names []string, err error) {
	entries, err := os.ReadDir(path) // filepath.Glob would treat a [ in path as a pattern
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("store: %w", err)
	}
	for _, e := range entries {
		if ours, _ := filepath.Match(kind, e.Name()); ours {
			names = append(names, filepath.Join(path, e.Name()))
		}
	}
	slices.Sort(names) // names have at least six digits
	return names, nil
}

// saysEncrypted reports whether a log's header names an encryption key.
func saysEncrypted(name string) (bool, error) {
	file, err := fileio.Open(name)
	if err != nil {
		return false, fmt.Errorf("store: %w", err)
	}
	defer file.Close()
	var head [8]byte
	_, err = io.ReadFull(file, head[:])
	return err == nil && binary.BigEndian.Uint64(head[:]) != 0, nil // too short: see readLog
}

// damagedLog reports whether a log is damaged. That of a memtable also is if its header names a key.
func damagedLog(name string) (damaged bool, err error) {
	err = withLog(name, func(text []byte) {
		damaged = readLog(text).damaged || filepath.Ext(name) == ".mem" && len(text) >= logHead && binary.BigEndian.Uint64(text) != 0
	})
	return damaged, err
}

// withLog calls f with a mapped log, without the final hole that a killed writer leaves.
func withLog(name string, f func(text []byte)) error {
	file, err := fileio.Open(name)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if info.Size() == 0 {
		f(nil)
		return nil
	}
	// Keep some zeros: a log that ends with neither an entry nor a zero is damaged.
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

// endOfData returns the end of a file's data before its final hole, or the size if unknown.
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

// CheckEvery is the interval at which CheckNext should check a table (2 MiB) of an open database.
const CheckEvery = time.Second

// CheckNext checks the next table by number, cyclically; false means that it need not be called
// again. Badger does not report an unreadable block: a look-up finds nothing, and a compaction
// drops the rest of the table. So damage ends the use of the database, like a failing disk.
func (d *Database) CheckNext() (goOn bool) {
	if d.Failure() != nil {
		return false
	}
	compressions := d.levels.listed()
	ids := slices.Sorted(maps.Keys(compressions))
	if len(ids) == 0 {
		return true
	}
	id := ids[0]
	if i := slices.IndexFunc(ids, func(id uint64) bool { return id > d.checked }); i >= 0 {
		id = ids[i]
	}
	d.checked = id
	err := d.checkNow(id, compressions[id])
	if err == nil {
		return true
	}
	// A replaced table is emptied and then removed.
	if _, ok := d.levels.listed()[id]; !ok {
		return true
	}
	if info, statErr := os.Stat(tableName(d.path, id)); statErr != nil || info.Size() == 0 {
		return true
	}
	d.log.end(fmt.Errorf("%s: %w: %w; mend the store with fossick repair %s, which keeps what can be read, and go on with --resume",
		tableName(d.path, id), ErrDamaged, err, d.dir))
	return false
}

func (d *Database) checkNow(id uint64, compression badgeroptions.CompressionType) error {
	text, err := readFile(tableName(d.path, id), nil)
	if err != nil {
		return nil // it was removed, or the disk fails, which is reported elsewhere
	}
	_, err = checkTable(text, compression)
	return err
}

// CheckValues checks all value logs of the closed database in path. When Badger rewrites a log, it
// reads only up to the first unreadable entry and then removes the log.
func CheckValues(path string) error {
	names, err := logsOf(path, valueFiles)
	if err != nil {
		return err
	}
	for _, name := range names {
		damaged, err := damagedLog(name)
		if err != nil {
			return err
		}
		if damaged {
			return fmt.Errorf("%s: %w: one of its values cannot be read; the file stays as it is, to keep the others", name, ErrDamaged)
		}
	}
	return nil
}
