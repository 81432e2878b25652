package graph

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"fossick/internal/reading"
)

// openText opens a file, decompressed when its name ends in .gz or .zst.
func openText(path string) (io.ReadCloser, error) {
	f, err := reading.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() == 0 && strings.HasSuffix(path, ".zst") {
		// The decoder takes it for the end of a sound archive.
		return nil, errors.Join(fmt.Errorf("%s: %w; the file is empty, fetch it again", path, io.ErrUnexpectedEOF), f.Close())
	}
	return reading.Unpacked(f, path, 0)
}

// IsFile says whether a file begins as a graph file does. Folders and what cannot be
// read do not.
func IsFile(path string) bool {
	f, err := reading.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // opened for reading: nothing can be lost
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}
