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
	badgeroptions "github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
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
		err = fmt.Errorf("%s: %w after it was mended: %s", filepath.Join(path, d.File), ErrDamaged, d.What)
	}
	return f.damage, err
}

// mend replaces what is damaged. The manifest comes last: until then the tables that it
// names are there.
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
	if len(empty) > 0 {
		if err := f.dropTables(empty); err != nil {
			return err
		}
	}
	if f.list != nil {
		if err := writeManifest(filepath.Join(f.path, badger.ManifestFilename), f.head, f.list, o); err != nil {
			return err
		}
	}
	for _, id := range empty {
		if err := os.Remove(tableName(f.path, id)); err != nil {
			return fmt.Errorf("store: %w", err)
		}
	}
	return syncFolder(f.path)
}

// dropTables takes tables off the list.
func (f *findings) dropTables(ids []uint64) error {
	if f.list == nil {
		text, err := os.ReadFile(filepath.Join(f.path, badger.ManifestFilename))
		if err != nil {
			return fmt.Errorf("store: %w", err)
		}
		changes, _ := readManifest(text)
		f.head, f.list = text[:manifestHead], listOf(net(changes))
	}
	f.list.Changes = slices.DeleteFunc(f.list.Changes, func(c *pb.ManifestChange) bool { return slices.Contains(ids, c.Id) })
	return nil
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
	compression := badgeroptions.CompressionType(f.spoilt[id].Compression)
	mended := tableOf(wholeBlocks(text, compression), compression, o)
	if mended == nil {
		return false, nil
	}
	return true, replaceFile(name, mended)
}

// replaceFile gives a file another content, at once: a kill leaves the old one or the new.
func replaceFile(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), "mended-*")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer os.Remove(f.Name()) // of no effect once it has its name
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
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
			return syncFolder(folder)
		case !errors.Is(err, fs.ErrExist):
			return fmt.Errorf("store: %w", err)
		case sameContent(to, name):
			return nil
		}
		to = filepath.Join(folder, fmt.Sprintf("%s.%d", filepath.Base(name), n))
	}
}

func copyFile(to, from string) error {
	r, err := os.Open(from)
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
	x, err1 := os.ReadFile(a)
	y, err2 := os.ReadFile(b)
	return err1 == nil && err2 == nil && bytes.Equal(x, y)
}
