package reading

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrKind reports a path at which there is no file that can be read to its end.
var ErrKind = errors.New("want a regular file")

// Open opens a regular file; links to one are followed. It never waits, as for the
// writer of a pipe. Errors are ErrKind, or the system's with the path.
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

// OpenFolder opens a folder, to lock it or to bring its names to the disk. It never waits.
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

// OnlyFiles says what is wrong with a folder of files that a library opens by itself: a pipe
// or a device among them would have it wait without end. Sockets are nobody's to open.
func OnlyFiles(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && (d.IsDir() || d.Type().IsRegular() || d.Type()&fs.ModeSocket != 0):
			return nil
		case err != nil:
			return err
		}
		info, err := os.Stat(path) // a link: what it leads to
		if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is %s; %w: move it away", path, kind(info.Mode()), ErrKind)
		}
		return nil
	})
}

// OpenNamed is Open for what a person named: it also opens pipes, and waits for their
// writers, and terminals and such devices. Who reads to the end bounds what is read.
func OpenNamed(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0 {
		return os.Open(path)
	}
	return Open(path)
}

// Regular says whether a regular file is at path; links to one are followed.
func Regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Folder is a folder as a file system of which only regular files can be opened.
type Folder string

// Open implements fs.FS.
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
