package fileio

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Write replaces the file at path by a temporary file beside it, which write fills, once that is
// synced. write may read the temporary file by its name. Errors are from os or write.
func Write(path string, perm fs.FileMode, write func(f *os.File) error) error {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(perm))
	if err != nil {
		return err
	}
	defer f.Cleanup() // no effect after the replacement
	if err := write(f.File); err != nil {
		return err
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// WritePage writes text for people; its errors advise them.
func WritePage(path string, write func(io.Writer) error) error {
	err := Write(path, 0o644, func(f *os.File) error { return write(f) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("page %s: %w; give a file in an existing folder", path, err)
	case err != nil:
		return fmt.Errorf("page %s: %w", path, err)
	}
	return nil
}

// SyncFolder syncs the names in a folder to disk.
func SyncFolder(path string) error {
	f, err := OpenFolder(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
