package badgerfiles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"google.golang.org/protobuf/proto"

	"fossick/internal/fileio"
)

// Badger's manifest is the list of its tables, as the changes that led to it:
//
//	"Bdgr" · number (2 bytes) · version (2) · change…
//	change = length (4) · CRC-32C of the rest (4) · tables made and removed
//
// Badger makes a table, enters it here, then removes the tables it replaces. If the disk fails
// between the first two steps, Badger removes the table but leaves the entry. Then nobody can open
// the store, though the data is still in the log or the tables that it came from.

const manifestHead = 8

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

// readsAs checks that Badger reads the same tables from a manifest as we do, before we rewrite it.
func readsAs(name string, o badger.Options, want map[uint64]*pb.ManifestChange) error {
	f, err := fileio.Open(name)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer f.Close()
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

// net returns the tables that exist after all changes.
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

// readChanges returns the complete changes and their length; false if anything else follows.
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

// undo returns the existing tables as one change, and the tables that are named but missing. It
// leaves out a whole change that replaces tables by a missing one, if all replaced tables still
// exist: the change was never completed.
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
				whole = false // its results have been used since
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

func listOf(tables map[uint64]*pb.ManifestChange) *pb.ManifestChangeSet {
	list := &pb.ManifestChangeSet{}
	for _, id := range slices.Sorted(maps.Keys(tables)) {
		list.Changes = append(list.Changes, tables[id])
	}
	return list
}

// writeManifest atomically replaces the manifest by a single change that Badger can read.
func writeManifest(name string, head []byte, change *pb.ManifestChangeSet, o badger.Options) error {
	body, err := proto.Marshal(change)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	text := bytes.Clone(head)
	text = binary.BigEndian.AppendUint32(text, uint32(len(body)))
	text = binary.BigEndian.AppendUint32(text, Checksum(body))
	text = append(text, body...)
	err = fileio.Write(name, 0o600, func(f *os.File) error {
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

// levels tracks which tables are in Badger's levels, where an iterator finds and holds them.
// Badger's own Tables would read every index: 110 MiB in 1,750 tables for a crawl of a million
// pages.
//
// It follows the manifest. Badger enters a table there before it adds it to its level, and removes
// it there first. So a listed table that was once in its level still is. This is certain
//
//   - for tables listed before the database was opened;
//   - for a compaction's output, once a file of its input is gone;
//   - for a flushed memtable, once the next one is flushed.
//
// It never becomes certain for tables entered while Badger rewrites the manifest. Safe for
// concurrent use.
type levels struct {
	path string

	mu      sync.Mutex
	file    *os.File          // the manifest being read; kept open so that its inode is not reused
	read    int64             // bytes read so far
	seen    int               // counts the looks at the manifest
	live    map[uint64]listed // listed tables
	in      map[uint64]int    // tables certainly in their levels → value of seen when that became certain
	pending []replacement     // replacements not certain yet
	flushed []uint64          // table of the last flushed memtable, not certain yet
}

type listed struct {
	level       uint32
	compression badgeroptions.CompressionType
}

// listed returns the present tables with their compression; none if the manifest is unreadable.
func (l *levels) listed() map[uint64]badgeroptions.CompressionType {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen++ // what becomes certain now must not count for earlier marks
	if l.look() != nil {
		return nil
	}
	tables := make(map[uint64]badgeroptions.CompressionType, len(l.live))
	for id, t := range l.live {
		tables[id] = t.compression
	}
	return tables
}

// replacement is a compaction's output and input.
type replacement struct{ made, removed []uint64 }

func readLevels(path string) *levels {
	l := &levels{path: path, in: map[uint64]int{}, live: map[uint64]listed{}}
	_ = l.look() // Badger reports an unreadable manifest
	for id := range l.live {
		l.in[id] = 0
	}
	l.pending, l.flushed = nil, nil
	return l
}

func (l *levels) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

// now reads new changes of the manifest and returns a mark for holds.
func (l *levels) now() (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen++
	return l.seen, l.look()
}

// holds reports whether a table was certainly in its level at the mark, and still is.
func (l *levels) holds(id uint64, mark int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.in[id]
	return ok && at <= mark
}

func (l *levels) look() error {
	name := filepath.Join(l.path, badger.ManifestFilename)
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if !l.reads(info) {
		err = l.readAnew(name)
	} else if info.Size() > l.read {
		err = l.readOn()
	}
	if err != nil {
		return err
	}
	l.settle()
	return nil
}

func (l *levels) reads(info os.FileInfo) bool {
	if l.file == nil || info.Size() < l.read {
		return false
	}
	own, err := l.file.Stat()
	return err == nil && os.SameFile(own, info)
}

// readAnew starts over with a rewritten manifest. Tables that were certain stay certain.
func (l *levels) readAnew(name string) error {
	f, err := fileio.Open(name)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if l.file != nil {
		_ = l.file.Close()
	}
	l.file, l.read, l.live = f, 0, map[uint64]listed{}
	if err := l.readOn(); err != nil {
		return err
	}
	for id := range l.in {
		if _, ok := l.live[id]; !ok {
			delete(l.in, id)
		}
	}
	return nil
}

// readOn reads new changes, and leaves an unfinished one for later.
func (l *levels) readOn() error {
	from := max(l.read, manifestHead)
	text, err := io.ReadAll(io.NewSectionReader(l.file, from, 1<<40))
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	changes, length, ok := readChanges(text)
	if !ok {
		clear(l.in) // nothing is certain any more
		return fmt.Errorf("store: %s cannot be read", l.file.Name())
	}
	for i, set := range changes {
		l.apply(set, l.read == 0 && i == 0)
	}
	l.read = from + int64(length)
	return nil
}

// apply applies a change. A manifest's first change lists existing tables, not their origin.
func (l *levels) apply(set *pb.ManifestChangeSet, first bool) {
	var r replacement
	for _, c := range set.Changes {
		if c.Op == pb.ManifestChange_DELETE {
			r.removed = append(r.removed, c.Id)
			delete(l.live, c.Id)
			delete(l.in, c.Id)
			continue
		}
		r.made = append(r.made, c.Id)
		l.live[c.Id] = listed{c.Level, compressionOf(c)}
	}
	switch {
	case first:
	case len(r.removed) > 0:
		l.pending = append(l.pending, r)
	case len(r.made) == 1 && l.live[r.made[0]].level == 0: // a flushed memtable
		l.certain(l.flushed)
		l.flushed = r.made
	}
}

// settle finds the compactions whose input is being removed.
func (l *levels) settle() {
	l.pending = slices.DeleteFunc(l.pending, func(r replacement) bool {
		there := func(id uint64) bool { return hasTable(l.path, id) }
		if !slices.ContainsFunc(r.removed, func(id uint64) bool { return !there(id) }) {
			return false
		}
		l.certain(r.made)
		return true
	})
}

func (l *levels) certain(tables []uint64) {
	for _, id := range tables {
		if _, ok := l.live[id]; ok {
			l.in[id] = l.seen
		}
	}
}
