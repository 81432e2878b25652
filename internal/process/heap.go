package process

import (
	"os"
	"runtime/debug"
)

// LimitHeap has the garbage collector work harder where the heap would pass a size in
// bytes, unless GOMEMLIMIT says otherwise.
func LimitHeap(size int64) (restore func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(size)
	return func() { debug.SetMemoryLimit(before) }
}
