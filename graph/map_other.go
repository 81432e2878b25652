//go:build !unix

package graph

import "os"

// mapFile reads a file into memory, where there is no mapping.
func mapFile(path string) (data []byte, unmap func() error, err error) {
	data, err = os.ReadFile(path)
	return data, func() error { return nil }, err
}
