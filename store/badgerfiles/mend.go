package badgerfiles

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/y"

	"fossick/internal/fileio"
)

// Mend makes a database that Badger can open from the readable part of the closed one in path, and
// returns the damage. It first puts replaced files into the folder quarantine, unless that is "".
// It can be repeated after a kill.
func Mend(dir, path, quarantine string, o badger.Options, plain bool) ([]Damage, error) {
	if plain || unknownVersion() != "" {
		return nil, nil // opening reports its errors
	}
	held, err := lockFolder(dir, path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotFolder) {
		return nil, nil // opening reports that there is no store
	}
	if err != nil {
		return nil, err
	}
	defer held.release()
	return mend(path, quarantine, o)
}

func mend(path, quarantine string, o badger.Options) ([]Damage, error) {
	f, err := examine(path, o)
	if err != nil || len(f.damage) == 0 {
		return nil, err
	}
	if err := f.mend(quarantine, o); err != nil {
		return nil, err
	}
	again, err := examine(path, o)
	if err == nil && len(again.damage) > 0 {
		d := again.damage[0]
		err = fmt.Errorf("%s: %w after the repair: %s", filepath.Join(path, d.File), ErrDamaged, d.What)
	}
	return f.damage, err
}

// mend replaces damaged files. The manifest comes last, when all its tables exist.
func (f *findings) mend(quarantine string, o badger.Options) error {
	var empty []uint64
	for _, id := range slices.Sorted(maps.Keys(f.spoilt)) {
		kept, err := f.mendTable(id, quarantine, o)
		if err != nil {
			return err
		}
		if !kept {
			empty = append(empty, id)
		}
	}
	if err := f.mendLogs(quarantine); err != nil {
		return err
	}
	if f.unreached {
		if err := f.salvage(); err != nil {
			return err
		}
	}
	for _, name := range f.expendable {
		if err := putAway(quarantine, filepath.Join(f.path, name)); err != nil {
			return err
		}
	}
	for _, id := range empty {
		delete(f.tables, id)
	}
	if f.relist || len(empty) > 0 {
		name := filepath.Join(f.path, badger.ManifestFilename)
		if err := keepIn(quarantine, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := writeManifest(name, f.head, listOf(f.tables), o); err != nil {
			return err
		}
	}
	for _, id := range empty {
		if err := os.Remove(tableName(f.path, id)); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	// The database is now complete by definition.
	if err := putAway(quarantine, filepath.Join(f.path, reachedFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fileio.SyncFolder(f.path)
}

// mendTable replaces a table by its readable blocks; false if there are none.
func (f *findings) mendTable(id uint64, quarantine string, o badger.Options) (kept bool, err error) {
	name := tableName(f.path, id)
	text, err := readFile(name, nil)
	if err != nil {
		return false, fmt.Errorf("store: %w", err)
	}
	if err := keepIn(quarantine, name); err != nil {
		return false, err
	}
	compression := compressionOf(f.tables[id])
	mended := tableOf(wholeBlocks(text, compression), compression, o)
	if mended == nil {
		return false, nil
	}
	return true, replaceFile(name, mended)
}

// mendLogs rewrites the logs of memtables, which Badger replays only up to the first unreadable
// entry. It adds an empty value log, because Badger would truncate the newest one at that point.
func (f *findings) mendLogs(quarantine string) error {
	for _, name := range f.heads {
		if err := mendHead(quarantine, name); err != nil {
			return err
		}
	}
	for _, name := range f.memlogs {
		var mended []byte
		if err := withLog(name, func(text []byte) { mended = logOf(readLog(text).committed()) }); err != nil {
			return err
		}
		if err := keepIn(quarantine, name); err != nil {
			return err
		}
		if err := replaceFile(name, mended); err != nil {
			return err
		}
	}
	if f.values {
		return addLog(f.path)
	}
	return nil
}

// mendHead clears the key number in a log's header and puts the old header into quarantine.
func mendHead(quarantine, name string) error {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	head := make([]byte, logHead)
	if _, err = file.ReadAt(head, 0); err == nil && quarantine != "" {
		if err = os.MkdirAll(quarantine, 0o755); err == nil {
			err = replaceFile(filepath.Join(quarantine, filepath.Base(name)+".head"), head)
		}
	}
	if err == nil {
		_, err = file.WriteAt(make([]byte, 8), 0)
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

func putAway(quarantine, name string) error {
	if err := keepIn(quarantine, name); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

func replaceFile(name string, text []byte) error {
	err := fileio.Write(name, 0o600, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// keepIn links or copies a file into a folder, unless that is "", and overwrites nothing.
func keepIn(folder, name string) error {
	if folder == "" {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	to := filepath.Join(folder, filepath.Base(name))
	for n := 1; ; n++ {
		err := os.Link(name, to)
		if err != nil && !errors.Is(err, fs.ErrExist) { // the file system has no hard links
			err = copyFile(to, name)
		}
		switch {
		case err == nil:
			return fileio.SyncFolder(folder)
		case !errors.Is(err, fs.ErrExist):
			return fmt.Errorf("store: %w", err)
		case sameContent(to, name):
			return nil
		}
		to = filepath.Join(folder, fmt.Sprintf("%s.%d", filepath.Base(name), n))
	}
}

func copyFile(to, from string) error {
	r, err := fileio.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	if err = errors.Join(err, w.Sync(), w.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

func sameContent(a, b string) bool {
	x, err1 := fileio.All(a, 1<<40)
	y, err2 := fileio.All(b, 1<<40)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}

// Flags of entries. A pointer replaces a value in a value log: the log's number, the entry's length
// and its offset, 4 bytes each in native order.
const (
	isDelete     = 1 << 0
	isPointer    = 1 << 1
	pointerBytes = 12
)

// maxSalvaged bounds a log that salvage writes, of which Badger makes a memtable.
const maxSalvaged = 4 << 20

// salvage recovers commits newer than all that is left: it turns their entries in the value logs
// (bodies and long page records) into logs of memtables.
func (f *findings) salvage() error {
	logs, err := logsOf(f.path, valueFiles)
	if err != nil {
		return err
	}
	memlogs, err := logsOf(f.path, memtableFiles)
	if err != nil {
		return err
	}
	next := uint64(1)
	if n := len(memlogs); n > 0 {
		next = logNumber(memlogs[n-1]) + 1
	}
	for i := len(logs) - 1; i >= 0; i-- {
		var found [][]byte
		if err := withLog(logs[i], func(text []byte) { found = f.pointersInto(logNumber(logs[i]), text) }); err != nil {
			return err
		}
		if len(found) == 0 {
			return nil // older logs have only older entries
		}
		for _, text := range found {
			if err := replaceFile(filepath.Join(f.path, fmt.Sprintf("%05d.mem", next)), text); err != nil {
				return err
			}
			next++
		}
	}
	return nil
}

func (f *findings) pointersInto(log uint64, text []byte) (logs [][]byte) {
	made := make([]byte, logHead)
	for _, e := range readLog(text).entries {
		if y.ParseTs(e.key) <= f.has || e.marks()&isDelete != 0 {
			continue
		}
		at := cap(text) - cap(e.text) // e.text is a part of text
		made = appendPointer(made, e.key, uint32(log), uint32(len(e.text)), uint32(at))
		if len(made) > maxSalvaged {
			logs, made = append(logs, made), make([]byte, logHead)
		}
	}
	if len(made) > logHead {
		logs = append(logs, made)
	}
	return logs
}

func appendPointer(text, key []byte, log, length, at uint32) []byte {
	from := len(text)
	text = append(text, isPointer, 0)
	text = binary.AppendUvarint(text, uint64(len(key)))
	text = binary.AppendUvarint(text, pointerBytes)
	text = append(text, 0) // no expiry
	text = append(text, key...)
	for _, n := range [...]uint32{log, length, at} {
		text = binary.NativeEndian.AppendUint32(text, n)
	}
	return binary.BigEndian.AppendUint32(text, Checksum(text[from:]))
}

// Merge merges all tables of a store's closed database, so that no replaced or deleted record
// remains and the dead share of each value log is known. When ctx ends, it stops between two steps.
// The guard may be nil.
func Merge(ctx context.Context, g *Guard, dir string, o badger.Options, plain bool) error {
	// The newest tables go into the last level, and none into those between.
	o = o.WithCompactL0OnClose(true).WithBaseLevelSize(math.MaxInt64 / 2)
	for newest, before := math.MaxInt, 0; newest != 0 && newest != before; {
		before = newest
		err := session(ctx, g, dir, o, plain, func(d *Database) error {
			err := d.Flatten(1)
			newest = d.Levels()[0].NumTables
			return err
		})
		if err != nil {
			return err
		}
	}
	return session(ctx, g, dir, o, plain, (*Database).span)
}

// session does a step of Merge: Flatten merges levels, closing merges the newest with the last.
func session(ctx context.Context, g *Guard, dir string, o badger.Options, plain bool, do func(d *Database) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	d, err := OpenUnder(g, dir, o, plain)
	if err != nil {
		return err
	}
	if !d.Bounded(func() { err = do(d) }) {
		return d.Failure()
	}
	if g != nil {
		*g = *d.Keep()
	}
	if err = errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("merging its tables: %w", err)
	}
	return nil
}

// span deletes a key before and one after all others, so that the table covers the whole range.
// Otherwise a last level would stay unmerged, with versions that were kept for a reader.
func (d *Database) span() error {
	txn := d.NewTransaction(true)
	defer txn.Discard()
	for _, key := range [][]byte{{0}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}} {
		if err := txn.Delete(key); err != nil {
			return err
		}
	}
	if err := d.Commit(txn); err != nil {
		return err
	}
	d.settle()
	return nil
}

// watermarks is how many marks can wait for Badger's goroutine that tracks readers.
const watermarks = 100

// settle waits until compactions may drop all replaced versions. They keep what the oldest reader
// may read; its end reaches Badger's goroutine in order with the marks of later readers, so enough
// new readers flush it.
func (d *Database) settle() {
	d.lent.replace(nil)
	for range watermarks/2 + 1 {
		d.NewTransaction(false).Discard()
	}
}
