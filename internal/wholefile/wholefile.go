// Package wholefile writes files of which there is never a half: a kill, or an error,
// leaves the file as it was.
package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"fossick/internal/reading"
)

// Write gives the file at path the content that write puts into a temporary file beside it,
// which takes its name once it is on the disk. write may read that file by its name. Errors are
// os's and write's own.
func Write(path string, perm fs.FileMode, write func(f *os.File) error) error {
	f, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithStaticPermissions(perm))
	if err != nil {
		return err
	}
	defer f.Cleanup() // of no effect after the replacement
	if err := write(f.File); err != nil {
		return err
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// Page writes a page, or other text, for people: an error says what they can do.
func Page(path string, write func(io.Writer) error) error {
	err := Write(path, 0o644, func(f *os.File) error { return write(f) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("page %s: %w; give a file in an existing folder", path, err)
	case err != nil:
		return fmt.Errorf("page %s: %w", path, err)
	}
	return nil
}

// SyncFolder brings the names in a folder to the disk.
func SyncFolder(path string) error {
	f, err := reading.OpenFolder(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
