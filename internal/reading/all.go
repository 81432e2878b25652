package reading

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// ErrSize reports more bytes than there may be.
var ErrSize = errors.New("too large")

// All reads a regular file of at most so many bytes. A larger one is ErrSize, and is not
// read.
func All(path string, most int64) ([]byte, error) {
	return all(path, most, func(fs.FileInfo) error { return nil })
}

// all is All of a file whose description passes a check.
func all(path string, most int64, check func(fs.FileInfo) error) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading: nothing can be lost
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
	return Rest(f, path, most) // which may grow meanwhile; those of /proc have no size
}

// Rest reads what is left of r, at most so many bytes; path is r's name for the error.
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

// ErrShared reports a secret that others than its owner may read.
var ErrShared = errors.New("others may read it")

// Secret is All of a file with a key: one that its owner's group or anybody may read or
// write is ErrShared.
func Secret(path string, most int64) ([]byte, error) {
	return all(path, most, func(info fs.FileInfo) error {
		if info.Mode().Perm()&0o077 != 0 {
			return fmt.Errorf("%s: %w; chmod 600 %s", path, ErrShared, path)
		}
		return nil
	})
}
