package badgerfiles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
	"google.golang.org/protobuf/proto"

	"fossick/internal/reading"
	"fossick/internal/wholefile"
)

// Badger's manifest is the list of its tables, as the changes that led to it:
//
//	"Bdgr" · number (2 bytes) · version (2) · change…
//	change = length (4) · CRC-32C of the rest (4) · what was made and what removed
//
// A table is made, then entered here, then what it replaces is removed. When
// the disk fails between the first two, Badger removes the table again, but
// leaves the entry that it could not sync. Nobody can open such a store, though
// all that was in the table is still in the log, or in the tables, that it was
// made of.

// manifestHead is the length of what stands before the changes.
const manifestHead = 8

// missingTables returns the tables that the manifest names and that are not there.
func missingTables(path string, tables map[uint64]*pb.ManifestChange) (missing []uint64) {
	for _, id := range slices.Sorted(maps.Keys(tables)) {
		if !hasTable(path, id) {
			missing = append(missing, id)
		}
	}
	return missing
}

func tableName(path string, id uint64) string {
	return filepath.Join(path, tableFile(id))
}

func tableFile(id uint64) string { return fmt.Sprintf("%06d.sst", id) }

func hasTable(path string, id uint64) bool {
	_, err := os.Stat(tableName(path, id))
	return !errors.Is(err, fs.ErrNotExist)
}

// readsAs asks Badger to read a manifest; an error unless it finds these tables. What we
// make of a manifest must be what Badger does before it is written anew.
func readsAs(name string, o badger.Options, want map[uint64]*pb.ManifestChange) error {
	f, err := reading.Open(name)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer f.Close() // it is only read
	m, _, err := badger.ReplayManifestFile(f, 0, o)
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", name, err)
	}
	same := len(m.Tables) == len(want)
	for id, t := range m.Tables {
		c := want[id]
		same = same && c != nil && uint32(t.Level) == c.Level && t.KeyID == c.KeyId && uint32(t.Compression) == c.Compression
	}
	if !same {
		return fmt.Errorf("%s: Badger and this build find different tables in it; nothing was changed", name)
	}
	return nil
}

// net returns the tables that are left after all changes.
func net(changes []*pb.ManifestChangeSet) map[uint64]*pb.ManifestChange {
	tables := map[uint64]*pb.ManifestChange{}
	for _, set := range changes {
		for _, c := range set.Changes {
			if c.Op == pb.ManifestChange_DELETE {
				delete(tables, c.Id)
			} else {
				tables[c.Id] = c
			}
		}
	}
	return tables
}

// readChanges returns the changes that text begins with, and their length, without a last
// one that is cut off; false when something else comes after them.
func readChanges(text []byte) (changes []*pb.ManifestChangeSet, length int, ok bool) {
	for rest := text; len(rest) >= 8; {
		n, sum := binary.BigEndian.Uint32(rest), binary.BigEndian.Uint32(rest[4:])
		rest = rest[8:]
		if uint64(n) > uint64(len(rest)) {
			break
		}
		var set pb.ManifestChangeSet
		if Checksum(rest[:n]) != sum || proto.Unmarshal(rest[:n], &set) != nil {
			return changes, length, false
		}
		changes, rest, length = append(changes, &set), rest[n:], length+8+int(n)
	}
	return changes, length, true
}

// undo returns the tables that there are, as one change, and those that are named and
// not there. A change that was to replace tables by such a one never came to its end. It
// is left out as a whole when all that it replaces is still there.
func undo(changes []*pb.ManifestChangeSet, there func(uint64) bool) (_ *pb.ManifestChangeSet, missing []uint64) {
	removed := map[uint64]int{} // table → the change that removed it
	for i, set := range changes {
		for _, c := range set.Changes {
			if c.Op == pb.ManifestChange_DELETE {
				removed[c.Id] = i
			}
		}
	}
	tables := map[uint64]*pb.ManifestChange{}
	for i, set := range changes {
		lacks, whole, replaces := false, true, false
		for _, c := range set.Changes {
			replaces = replaces || c.Op == pb.ManifestChange_DELETE
			_, gone := removed[c.Id]
			switch {
			case c.Op == pb.ManifestChange_DELETE && !there(c.Id), c.Op == pb.ManifestChange_CREATE && gone && removed[c.Id] > i:
				whole = false // what came of it was used since
			case c.Op == pb.ManifestChange_CREATE && !gone && !there(c.Id):
				lacks = true
				missing = append(missing, c.Id)
			}
		}
		if lacks && whole && replaces {
			continue
		}
		for _, c := range set.Changes {
			if c.Op == pb.ManifestChange_DELETE {
				delete(tables, c.Id)
			} else if there(c.Id) {
				tables[c.Id] = c
			}
		}
	}
	return listOf(tables), missing
}

// listOf returns a change that makes these tables.
func listOf(tables map[uint64]*pb.ManifestChange) *pb.ManifestChangeSet {
	list := &pb.ManifestChangeSet{}
	for _, id := range slices.Sorted(maps.Keys(tables)) {
		list.Changes = append(list.Changes, tables[id])
	}
	return list
}

// writeManifest replaces the manifest with one of a single change, at once: a kill
// leaves the old one or the new. Badger reads the new one first.
func writeManifest(name string, head []byte, change *pb.ManifestChangeSet, o badger.Options) error {
	body, err := proto.Marshal(change)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	text := bytes.Clone(head)
	text = binary.BigEndian.AppendUint32(text, uint32(len(body)))
	text = binary.BigEndian.AppendUint32(text, Checksum(body))
	text = append(text, body...)
	err = wholefile.Write(name, 0o600, func(f *os.File) error {
		if _, err := f.Write(text); err != nil {
			return err
		}
		return readsAs(f.Name(), o, net([]*pb.ManifestChangeSet{change}))
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
