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
	head   []byte                        // first bytes of the manifest
	relist bool                          // the manifest must be rewritten
	untold bool                          // a part of the manifest is unreadable and may have named more tables

	spoilt     map[uint64]bool // tables with unreadable blocks
	memlogs    []string        // logs of memtables with unreadable entries
	heads      []string        // logs with a bad header
	values     bool            // Badger would truncate the newest value log
	expendable []string        // bad files that Badger makes anew

	inTables  uint64            // newest version in the tables
	inLogs    map[uint64]uint64 // log number of a memtable → newest version in it
	unreached bool              // there were later commits, see reached.go
	has       uint64            // newest version that is left
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
	f.checkReached()
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

// checkRegistry checks Badger's key registry, without keys only sixteen random bytes and a word.
func (f *findings) checkRegistry() error {
	text, err := fileio.All(filepath.Join(f.path, badger.KeyRegistryFileName), 64<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("store: %w", err)
	}
	for _, c := range f.tables {
		if c.KeyId != 0 {
			return nil // opening reports it
		}
	}
	if len(text) == 28 && string(text[16:]) == "Hello Badger" {
		return nil
	}
	f.expendable = append(f.expendable, badger.KeyRegistryFileName)
	f.found(badger.KeyRegistryFileName, false, "written again: nothing is encrypted", "it should be an empty list of keys, and is not")
	return nil
}

// checkStatistics checks the size of Badger's discard statistics, which it would write beyond.
func (f *findings) checkStatistics() error {
	info, err := os.Stat(filepath.Join(f.path, statistics))
	if err == nil && info.Size() > 0 && info.Size() < statisticsBytes {
		f.expendable = append(f.expendable, statistics)
		f.found(statistics, false, "written again", "it has %d bytes, %d are missing", info.Size(), statisticsBytes-info.Size())
	}
	return nil // if it is missing, Badger makes one
}

// statistics is Badger's file of dead bytes per value log; statisticsBytes is its least size.
const (
	statistics      = "DISCARD"
	statisticsBytes = 1 << 20
)

// emptyList is the header of a manifest.
const emptyList = "Bdgr\x00\x00\x00\x08"

// readList reads the manifest. f.tables stays nil for a new database.
func (f *findings) readList(o badger.Options) (removed map[uint64]bool, err error) {
	name := filepath.Join(f.path, badger.ManifestFilename)
	text, err := fileio.All(name, 64<<20)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if ids, err := tablesIn(f.path); err != nil || len(ids) == 0 {
			return nil, err
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

// checkUnlisted checks the tables that the manifest does not name and Badger would delete. A kill
// leaves replaced tables, which the manifest names as removed, and unfinished ones, whose records
// are also elsewhere. A record that is nowhere else means that the manifest lost its end; then the
// table is used again.
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
		_ = b.each(func(key, _ []byte) error { // the checksum was right; see tableOf
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

// strike removes from r the records that are in a used table or in a log.
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
			continue // the index shows no overlap
		}
		for i, at := range places {
			if i+1 < len(places) && y.CompareKeys(places[i+1].key, r.first) < 0 || y.CompareKeys(at.key, r.last) > 0 {
				continue
			}
			if b, err := readBlock(buf[at.from:at.to], compressionOf(f.tables[id])); err == nil {
				_ = b.each(func(key, _ []byte) error { // the checksum was right
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

// checkLogs checks the logs that Badger replays (those of memtables and the newest value log), and
// the headers of all. Other value logs are checked when read.
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

// checkHead checks that a log's header names no encryption key.
func (f *findings) checkHead(name string) error {
	file, err := fileio.Open(name)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer file.Close()
	var head [logHead]byte
	if n, err := file.ReadAt(head[:], 0); err != nil && n < len(head) {
		return nil // too short: see readLog
	}
	if binary.BigEndian.Uint64(head[:]) != 0 {
		f.heads = append(f.heads, name)
		lost := filepath.Ext(name) == ".mem" // a log that is garbage from its first byte does not show what it held
		f.found(filepath.Base(name), lost, "put right: nothing is encrypted", "it claims to be encrypted")
	}
	return nil
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
		return nil // it was removed, or the disk fails, which is reported elsewhere
	}
	_, err = checkTable(text, compression)
	return err
}

// CheckValues checks all value logs of the closed database in path. When Badger rewrites a log, it
// reads only up to the first unreadable entry and then removes the log.
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
