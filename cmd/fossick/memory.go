package main

import (
	"os"
	"runtime/debug"
)

// crawlMemory is the heap at which the garbage collector of a crawl works
// harder instead of letting it grow. The store's mapped files come on top; the
// whole stays below 512 MiB.
const crawlMemory = 352 << 20

// limitMemory holds a crawl to crawlMemory, unless GOMEMLIMIT says otherwise.
func limitMemory() (restore func()) { return limitHeap(crawlMemory) }

// limitHeap has the garbage collector work harder where the heap would pass a size,
// unless GOMEMLIMIT says otherwise.
func limitHeap(size byteSize) (restore func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(int64(size))
	return func() { debug.SetMemoryLimit(before) }
}
