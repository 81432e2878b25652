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
)

// Damage is something in the files of a database that is not as Badger wrote it.
type Damage struct {
	File string // in the database's folder
	What string // is the matter
	Done string // what Mend does about it
}

// findings is what is the matter with a closed database, and what can be made of it.
type findings struct {
	path   string
	damage []Damage
	list   *pb.ManifestChangeSet         // the manifest to write, nil when the one that is there will do
	head   []byte                        // and what it begins with
	spoilt map[uint64]*pb.ManifestChange // tables with blocks that cannot be read
}

func (f *findings) found(file, done, format string, args ...any) {
	f.damage = append(f.damage, Damage{File: file, What: fmt.Sprintf(format, args...), Done: done})
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

// examine looks at the files of the closed database in path, which is locked: at each
// block of each table. Badger looks at a block when it reads it; a compaction takes one
// that is damaged for the end of its table, drops the rest and deletes the old table.
func examine(path string, o badger.Options) (*findings, error) {
	f := &findings{path: path, spoilt: map[uint64]*pb.ManifestChange{}}
	name := filepath.Join(path, badger.ManifestFilename)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil // a new database
	}
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	changes, ok := readManifest(text)
	if !ok {
		return f, nil // opening says so
	}
	tables := net(changes)
	if missing := missingTables(path, tables); len(missing) > 0 {
		if err := readsAs(name, o, tables); err != nil {
			return nil, err
		}
		f.list, _ = undo(changes, func(id uint64) bool { return hasTable(path, id) })
		f.head = text[:manifestHead]
		for _, id := range missing {
			f.found(tableFile(id), "taken off the list of tables; what else is found says if records were in it",
				"the list of tables names it, and it is not there, as after a disk that failed")
		}
		tables = net([]*pb.ManifestChangeSet{f.list})
	}
	return f, f.checkTables(tables)
}

// checkTables looks at each block of these tables.
func (f *findings) checkTables(tables map[uint64]*pb.ManifestChange) error {
	var buf []byte
	for _, id := range slices.Sorted(maps.Keys(tables)) {
		if tables[id].KeyId != 0 {
			continue // encrypted: opening says so
		}
		var err error
		if buf, err = readFile(tableName(f.path, id), buf); err != nil {
			return fmt.Errorf("store: %w", err)
		}
		bad, err := checkTable(buf, badgeroptions.CompressionType(tables[id].Compression))
		if err == nil {
			continue
		}
		f.spoilt[id] = tables[id]
		more := ""
		if bad > 1 {
			more = fmt.Sprintf(" (%d blocks are damaged)", bad)
		}
		f.found(tableFile(id), "what can be read is kept in a table of its own", "%v%s", err, more)
	}
	return nil
}
