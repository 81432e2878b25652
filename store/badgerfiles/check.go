package badgerfiles

import (
	"encoding/binary"
	"errors"
	"fmt"
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
	"github.com/dgraph-io/badger/v4/y"
	"golang.org/x/sys/unix"

	"fossick/internal/reading"
)

// Damage is a part of a database's files that differs from what Badger wrote.
type Damage struct {
	File string // in the database's folder
	What string // is the matter
	Done string // what Mend does about it
	Lost bool   // records may be gone with it
}

// findings describes a closed database: its damage, and what repairs it.
type findings struct {
	path   string
	damage []Damage

	tables map[uint64]*pb.ManifestChange // those to use
	head   []byte                        // what the manifest begins with
	relist bool                          // it must be written anew
	untold bool                          // a part of it cannot be read, which may have said more

	spoilt     map[uint64]bool // tables with blocks that cannot be read
	memlogs    []string        // logs of memtables likewise
	heads      []string        // logs whose head is not ours
	values     bool            // Badger would cut the newest value log off
	expendable []string        // files that Badger makes anew

	inTables  uint64            // the newest version in the tables
	inLogs    map[uint64]uint64 // and in each memtable's log, by its number
	unreached bool              // commits came further, see reached.go
	has       uint64            // than this version
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

// examine checks the files of the closed, locked database in path: each block of each table, the
// list of tables, and the logs that Badger replays. Badger checks a block only when it reads it; a
// compaction takes a damaged one for the end of its table, drops the rest and deletes the old table.
func examine(path string, o badger.Options) (*findings, error) {
	f := &findings{path: path, spoilt: map[uint64]bool{}, inLogs: map[uint64]uint64{}}
	removed, err := f.readList(o)
	if err != nil || f.tables == nil {
		return f, err
	}
	for _, check := range []func() error{f.checkTables, f.checkLogs, f.checkRegistry, f.checkStatistics} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	if err := f.checkUnlisted(removed); err != nil {
		return nil, err
	}
	return f, f.checkReached()
}

func (f *findings) checkTables() error {
	var buf []byte
	for _, id := range slices.Sorted(maps.Keys(f.tables)) {
		if f.tables[id].KeyId != 0 {
			continue // encrypted: opening says so
		}
		var err error
		if buf, err = readFile(tableName(f.path, id), buf); err != nil {
			return fmt.Errorf("store: %w", err)
		}
		bad, err := checkTable(buf, compressionOf(f.tables[id]))
		if err == nil {
			f.inTables = max(f.inTables, newestIn(buf))
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

func compressionOf(c *pb.ManifestChange) badgeroptions.CompressionType {
	return badgeroptions.CompressionType(c.Compression)
}

// checkRegistry checks Badger's key registry, which holds no key: sixteen random bytes and a word.
// Badger refuses a database with a damaged one.
func (f *findings) checkRegistry() error {
	text, err := reading.All(filepath.Join(f.path, badger.KeyRegistryFileName), 64<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // Badger makes one
	case err != nil:
		return fmt.Errorf("store: %w", err)
	}
	for _, c := range f.tables {
		if c.KeyId != 0 {
			return nil // opening says so
		}
	}
	if len(text) == 28 && string(text[16:]) == "Hello Badger" {
		return nil
	}
	f.expendable = append(f.expendable, badger.KeyRegistryFileName)
	f.found(badger.KeyRegistryFileName, false, "written again: nothing is encrypted", "it should be an empty list of keys, and is not")
	return nil
}

// checkStatistics checks the size of Badger's file of dead values: Badger writes to places in it
// that may not exist.
func (f *findings) checkStatistics() error {
	info, err := os.Stat(filepath.Join(f.path, statistics))
	if err == nil && info.Size() > 0 && info.Size() < statisticsBytes {
		f.expendable = append(f.expendable, statistics)
		f.found(statistics, false, "written again", "it has %d bytes, %d are missing", info.Size(), statisticsBytes-info.Size())
	}
	return nil // without it Badger makes one
}

// statistics is the file of dead values by value log, at least of this size.
const (
	statistics      = "DISCARD"
	statisticsBytes = 1 << 20
)

// emptyList is the head of a manifest.
const emptyList = "Bdgr\x00\x00\x00\x08"

// readList reads the manifest: the tables to use, and those it removed. A new database has no set of
// tables, not even an empty one.
func (f *findings) readList(o badger.Options) (removed map[uint64]bool, err error) {
	name := filepath.Join(f.path, badger.ManifestFilename)
	text, err := reading.All(name, 64<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if ids, err := tablesIn(f.path); err != nil || len(ids) == 0 {
			return nil, err // a new database
		}
		f.found(badger.ManifestFilename, false, "written again from the existing tables", "the list of tables is missing")
	case err != nil:
		return nil, fmt.Errorf("store: %w", err)
	case len(text) < manifestHead || string(text[:4]) != emptyList[:4]:
		f.found(badger.ManifestFilename, false, "written again from the existing tables", "the list of tables cannot be read")
		text, f.untold = nil, true
	}
	f.relist = len(text) == 0
	if f.relist {
		text = []byte(emptyList)
	}
	f.head = text[:manifestHead:manifestHead]
	changes, length, ok := readChanges(text[manifestHead:])
	if !ok {
		f.found(badger.ManifestFilename, false, "written again from its readable part and the existing tables",
			"the list of tables is damaged %d bytes after its header", length)
		f.relist, f.untold = true, true
	} else if !f.relist {
		if err := readsAs(name, o, net(changes)); err != nil {
			return nil, err
		}
	}
	f.useListed(changes)
	removed = map[uint64]bool{}
	for _, set := range changes {
		for _, c := range set.Changes {
			removed[c.Id] = c.Op == pb.ManifestChange_DELETE
		}
	}
	return removed, nil
}

func (f *findings) useListed(changes []*pb.ManifestChangeSet) {
	f.tables = net(changes)
	missing := missingTables(f.path, f.tables)
	if len(missing) == 0 {
		return
	}
	list, _ := undo(changes, func(id uint64) bool { return hasTable(f.path, id) })
	f.tables, f.relist = net([]*pb.ManifestChangeSet{list}), true
	for _, id := range missing {
		f.found(tableFile(id), !f.untold, "removed from the list of tables; other errors show whether it held records",
			"the list of tables names it, but it is missing, as after a disk failure")
	}
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

// checkUnlisted checks the tables that the list does not name, which Badger deletes. A kill leaves
// replaced tables, which the list says, and unfinished ones, whose records are in other tables and
// logs. A record that is nowhere else means that the list lost its end; such a table is used again.
func (f *findings) checkUnlisted(removed map[uint64]bool) error {
	ids, err := tablesIn(f.path)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if f.tables[id] != nil || removed[id] {
			continue
		}
		text, err := readFile(tableName(f.path, id), nil)
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
		compression, blocks := blocksOf(text)
		lone := newRecords(blocks)
		if err := f.strike(lone); err != nil {
			return err
		}
		if len(lone.at) == 0 {
			continue
		}
		f.relist = true
		made := &pb.ManifestChange{Id: id, Op: pb.ManifestChange_CREATE, Compression: uint32(compression), EncryptionAlgo: pb.EncryptionAlgo_aes}
		if _, err := checkTable(text, compression); err != nil {
			f.spoilt[id] = true
			f.found(tableFile(id), true, "the readable part is kept in a table of its own", "the list of tables does not name it, and %v", err)
		} else {
			f.inTables = max(f.inTables, newestIn(text))
			f.found(tableFile(id), false, "added to the list again", "the list of tables does not name it, but it has records that are nowhere else")
		}
		f.tables[id] = made
	}
	return nil
}

func blocksOf(text []byte) (badgeroptions.CompressionType, []block) {
	for _, c := range []badgeroptions.CompressionType{badgeroptions.None, badgeroptions.Snappy} {
		if blocks := wholeBlocks(text, c); len(blocks) > 0 {
			return c, blocks
		}
	}
	return badgeroptions.None, nil
}

type records struct {
	at          map[string]struct{}
	first, last []byte
}

func newRecords(blocks []block) *records {
	r := &records{at: map[string]struct{}{}}
	for _, b := range blocks {
		_ = b.each(func(key, _ []byte) error { // its checksum is right; see tableOf
			r.at[string(key)] = struct{}{}
			if r.first == nil {
				r.first = slices.Clone(key)
			}
			r.last = append(r.last[:0], key...)
			return nil
		})
	}
	return r
}

// strike removes the records that are in a used table or in a log.
func (f *findings) strike(r *records) error {
	var buf []byte
	for _, id := range slices.Sorted(maps.Keys(f.tables)) {
		if len(r.at) == 0 {
			return nil
		}
		var err error
		if buf, err = readFile(tableName(f.path, id), buf); err != nil {
			return fmt.Errorf("store: %w", err)
		}
		places, err := readIndex(buf)
		if err != nil || y.CompareKeys(places[0].key, r.last) > 0 {
			continue // nothing of it, as far as its index says
		}
		for i, at := range places {
			if i+1 < len(places) && y.CompareKeys(places[i+1].key, r.first) < 0 || y.CompareKeys(at.key, r.last) > 0 {
				continue
			}
			if b, err := readBlock(buf[at.from:at.to], compressionOf(f.tables[id])); err == nil {
				_ = b.each(func(key, _ []byte) error { // its checksum is right
					delete(r.at, string(key))
					return nil
				})
			}
		}
	}
	return f.eachMemlog(func(_ string, log logRead) {
		for _, e := range log.committed() {
			delete(r.at, string(e.key))
		}
	})
}

// checkLogs checks the logs that Badger replays (memtables', and the newest of values) and the heads
// of all. Other value logs are checked when read.
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

// logsOf returns the logs of one kind, the oldest first.
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

// checkHead checks the encryption key number of a log.
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

// withLog maps a log without the trailing zeros that are not on disk, of which a killed writer
// leaves up to 256 MiB.
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

// endOfData returns the end of a file's data before its final hole, the size where the system cannot
// tell.
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

// CheckEvery is how often one more table (2 MiB) of an open database should be checked.
const CheckEvery = time.Second

// CheckNext checks the next table by number, cyclically, and returns false when that is of no use
// any more. Badger reports no unreadable block: a look-up finds nothing, and a compaction drops the
// rest of the table. So damage ends the use of the database, as a failing disk does.
func (d *Database) CheckNext() (goOn bool) {
	if d.plain || d.Failure() != nil {
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
		return nil // it is gone, or the disk says so elsewhere
	}
	_, err = checkTable(text, compression)
	return err
}

// CheckValues checks all value logs of the closed database in path: to rewrite a log, Badger reads
// it up to the first unreadable entry and then removes it.
func CheckValues(path string, plain bool) error {
	if plain || unknownVersion() != "" {
		return nil
	}
	names, err := logsOf(path, valueFiles)
	if err != nil {
		return err
	}
	for _, name := range names {
		damaged := false
		if err := withLog(name, func(text []byte) { damaged = readLog(text).damaged }); err != nil {
			return err
		}
		if damaged {
			return fmt.Errorf("%s: %w: one of its values cannot be read; the file stays as it is, to keep the others", name, ErrDamaged)
		}
	}
	return nil
}
