package graph

import (
	"errors"

	"golang.org/x/sys/unix"

	"fossick/internal/fileio"
)

// mapFile maps a file read-only; the kernel loads pages on use.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	f, err := fileio.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if info.Size() == 0 { // empty files cannot be mapped
		return nil, func() error { return nil }, nil
	}
	if data, err = unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED); err != nil {
		return nil, nil, err
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
