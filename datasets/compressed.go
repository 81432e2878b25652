package datasets

import (
	"io"

	"fossick/internal/reading"
)

// OpenFile opens a file, decompressed when its name ends in .gz or .zst.
func OpenFile(path string) (io.ReadCloser, error) {
	f, err := reading.OpenNamed(path)
	if err != nil {
		return nil, err
	}
	return reading.Unpacked(f, path, 1)
}
