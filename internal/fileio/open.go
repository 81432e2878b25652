package fileio

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

var ErrKind = errors.New("want a regular file")

// Open opens a regular file, following links, without ever blocking; else ErrKind.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) || errors.Is(err, syscall.EOPNOTSUPP) { // Linux; BSD and macOS
		return nil, fmt.Errorf("%s is a socket; %w", path, ErrKind)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is %s; %w", path, kind(info.Mode()), ErrKind)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// OpenFolder opens a folder, to lock or sync it, without ever blocking.
func OpenFolder(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder; %w", path, ErrKind)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// OnlyFiles refuses a folder with a pipe or device, which may block a library that opens its files.
func OnlyFiles(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && (d.IsDir() || d.Type().IsRegular() || d.Type()&fs.ModeSocket != 0):
			return nil
		case err != nil:
			return err
		}
		info, err := os.Stat(path) // the target of a link
		if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is %s; %w: move it away", path, kind(info.Mode()), ErrKind)
		}
		return nil
	})
}

// OpenNamed is Open that also opens terminals and pipes. The caller must bound the reading.
func OpenNamed(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0 {
		return os.Open(path)
	}
	return Open(path)
}

func Regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Folder is a folder as an fs.FS of regular files.
type Folder string

func (f Folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	return Open(filepath.Join(string(f), filepath.FromSlash(name)))
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "no file"
}

var ErrSize = errors.New("too large")

// All reads a regular file of at most most bytes, or returns ErrSize.
func All(path string, most int64) ([]byte, error) {
	return all(path, most, func(fs.FileInfo) error { return nil })
}

func all(path string, most int64, check func(fs.FileInfo) error) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = check(info)
	}
	if err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, fmt.Errorf("%s has %s: %w, it may have %s", path, size(info.Size()), ErrSize, size(most))
	}
	return Rest(f, path, most) // the file may grow meanwhile; files in /proc have no size
}

// Rest reads the rest of r, at most most bytes; path names r in the error.
func Rest(r io.Reader, path string, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s has more than %s: %w", path, size(most), ErrSize)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

func size(bytes int64) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes >= 1<<10:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d bytes", bytes)
}

var ErrShared = errors.New("others may read it")

// Secret is All for a key file; it returns ErrShared if group or others have access.
func Secret(path string, most int64) ([]byte, error) {
	return all(path, most, func(info fs.FileInfo) error {
		if info.Mode().Perm()&0o077 != 0 {
			return fmt.Errorf("%s: %w; chmod 600 %s", path, ErrShared, path)
		}
		return nil
	})
}

// Within returns why an entry found below a folder must not be read as part of it, or "". A link
// may lead to any file inside the folder but to none outside. The folder itself may be a link.
func Within(folder, path string, entry fs.DirEntry) string {
	switch {
	case entry.Type().IsRegular():
		return ""
	case entry.Type()&fs.ModeSymlink == 0:
		return "not a regular file"
	}
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "a link that leads nowhere"
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "a link that leads nowhere"
	}
	if rel, err := filepath.Rel(root, target); err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "a link that leads out of the folder"
	}
	if !Regular(target) {
		return "not a regular file"
	}
	return ""
}
