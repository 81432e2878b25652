package badgerfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/y"

	"fossick/internal/reading"
)

// emptyList is what a manifest begins with.
const emptyList = "Bdgr\x00\x00\x00\x08"

// readList reads the manifest: the tables to use, and those that it took off its list. There
// are none to use, not even an empty set, in a new database.
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

// useListed uses the tables that the list names, as far as they are there.
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

// tablesIn returns the tables in a folder, by number.
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

// checkUnlisted looks at the tables that the list does not name, which Badger deletes.
// A kill leaves such: tables that were replaced, which the list says, and tables in the
// making, of which all is in other tables and logs. What is nowhere else is a loss of
// the list, as when its end is missing. These tables are used as the newest, since each
// record has its version.
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

// blocksOf returns the blocks of a table that no list says the compression of.
func blocksOf(text []byte) (badgeroptions.CompressionType, []block) {
	for _, c := range []badgeroptions.CompressionType{badgeroptions.None, badgeroptions.Snappy} {
		if blocks := wholeBlocks(text, c); len(blocks) > 0 {
			return c, blocks
		}
	}
	return badgeroptions.None, nil
}

// records are the keys of a table, with their versions.
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

// strike takes out those records that are in a table that is used, or in a log.
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
