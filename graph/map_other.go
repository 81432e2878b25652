//go:build !unix

package graph

import (
	"fossick/internal/reading"
)

// mapFile reads a file into memory, where there is no mapping.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	data, err = reading.All(path, 1<<40)
	return data, func() error { return nil }, err
}
