package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"fossick/internal/usage"
	"fossick/internal/wholefile"
)

// ErrInUse reports a folder that another process is making.
var ErrInUse = errors.New("is being made by another process; wait for it, or give another place with -o")

// Kept is a folder that may take several runs: all is written to a hidden folder beside it,
// .NAME.work, which a kill or an error leaves as it is, until Commit gives it its name.
type Kept struct {
	path, hidden string
	lock         *os.File
}

// Keep begins such a folder, or goes on with it. Close it in the end. It is an error when
// path is there already and is no empty folder; ErrInUse when another process has it.
func Keep(path, work string) (*Kept, error) {
	path = filepath.Clean(path)
	if filepath.Base(path) == "." || filepath.Base(path) == ".." || filepath.Dir(path) == path {
		return nil, usage.Errorf("-o %s: it has no name of its own; give the name of a new folder", path)
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, usage.Errorf("-o %s: it is a file; give a folder", path)
	} else if err == nil && !emptyFolder(path) {
		return nil, fmt.Errorf("%s %w", path, ErrThere)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	hidden := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+work)
	if err := os.MkdirAll(hidden, 0o755); err != nil {
		return nil, fmt.Errorf("-o %s: %w; give a place that can be written to", path, err)
	}
	lock, alone, err := lockAlone(hidden)
	if err != nil {
		return nil, err
	}
	if !alone {
		return nil, fmt.Errorf("%s %w", path, ErrInUse)
	}
	if _, err := os.Stat(hidden); err != nil { // its maker named it between our two looks
		return nil, errors.Join(fmt.Errorf("%s %w", path, ErrInUse), unlock(lock))
	}
	return &Kept{path: path, hidden: hidden, lock: lock}, nil
}

// Dir is where the folder is written until Commit.
func (k *Kept) Dir() string { return k.hidden }

// Commit gives the folder its name. What is in it must be on the disk.
func (k *Kept) Commit() error {
	err := os.Remove(k.path) // an empty folder
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %w", k.path, ErrThere)
	}
	if err := wholefile.SyncFolder(k.hidden); err != nil {
		return err
	}
	if err := os.Rename(k.hidden, k.path); err != nil {
		return err
	}
	return wholefile.SyncFolder(filepath.Dir(k.path))
}

// Discard removes the folder: it was needed for a while only.
func (k *Kept) Discard() error {
	return errors.Join(os.RemoveAll(k.hidden), wholefile.SyncFolder(filepath.Dir(k.hidden)))
}

// Close ends the use of the folder.
func (k *Kept) Close() error { return unlock(k.lock) }
