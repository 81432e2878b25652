//go:build !unix

package graph

import (
	"fossick/internal/fileio"
)

// mapFile reads the file where mapping is unavailable.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	data, err = fileio.All(path, 1<<40)
	return data, func() error { return nil }, err
}
