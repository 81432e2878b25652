package badgerfiles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/reading"
	"fossick/internal/wholefile"
)

// Mend makes the closed database in path one that Badger can open, out of all that can be
// read, and returns what was the matter. Files that it replaces are in the folder
// quarantine before, under their names, unless that is "". dir is the store's folder, for
// errors. A kill leaves a database that can be mended.
func Mend(dir, path, quarantine string, o badger.Options, plain bool) ([]Damage, error) {
	if plain || unknownVersion() != "" {
		return nil, nil // opening says what it thinks of it
	}
	held, err := lockFolder(dir, path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotFolder) {
		return nil, nil // no store, which opening says
	}
	if err != nil {
		return nil, err
	}
	defer held.release()
	return mend(path, quarantine, o)
}

// mend is Mend for the database in path, which nobody uses.
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

// mend replaces what is damaged. The list of tables comes last: until then the tables that
// it names are there.
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
	// What is there now is all that there is.
	if err := putAway(quarantine, filepath.Join(f.path, reachedFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return wholefile.SyncFolder(f.path)
}

// mendTable replaces a table by one of its blocks that can be read, under its name; false
// when there are none.
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

// mendLogs replaces logs of memtables, whose entries Badger plays back up to the first that
// it cannot read. It would cut the newest value log off there; so that one gets a successor.
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

// mendHead says in a log's head that it is not encrypted. The old head goes into quarantine.
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

// putAway moves a file into quarantine.
func putAway(quarantine, name string) error {
	if err := keepIn(quarantine, name); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// replaceFile gives a file another content.
func replaceFile(name string, text []byte) error {
	err := wholefile.Write(name, 0o600, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// keepIn gives a file another name in a folder, or puts a copy there, unless the folder is
// "". It keeps all that was put there under its name before.
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
		if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without links
			err = copyFile(to, name)
		}
		switch {
		case err == nil:
			return wholefile.SyncFolder(folder)
		case !errors.Is(err, fs.ErrExist):
			return fmt.Errorf("store: %w", err)
		case sameContent(to, name):
			return nil
		}
		to = filepath.Join(folder, fmt.Sprintf("%s.%d", filepath.Base(name), n))
	}
}

func copyFile(to, from string) error {
	r, err := reading.Open(from)
	if err != nil {
		return err
	}
	defer r.Close() // it is only read
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
	x, err1 := reading.All(a, 1<<40)
	y, err2 := reading.All(b, 1<<40)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}
