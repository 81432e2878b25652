package badgerfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"

	"fossick/internal/reading"
)

// Damage is something in the files of a database that is not as Badger wrote it.
type Damage struct {
	File string // in the database's folder
	What string // is the matter
	Done string // what Mend does about it
	Lost bool   // records may be gone with it
}

// findings is what is the matter with a closed database, and what can be made of it.
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

// err is what is the matter as an error with what to do, nil when nothing is.
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

// examine looks at the files of the closed database in path, which is locked. It looks
// at each block of each table, the list of tables, and the logs that Badger plays back.
// Badger looks at a block when it reads it. A compaction takes a damaged one for the
// end of its table, drops the rest and deletes the old table.
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

// checkTables looks at each block of the tables.
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

// checkRegistry looks at Badger's list of keys, which is of no key: sixteen random bytes and
// a word. Badger refuses a database without it that has one that is damaged.
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

// checkStatistics looks at the size of what Badger knows of dead values: it writes to places
// in it that need not be there.
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
