package main

import (
	"os"
	"runtime/debug"
)

// crawlMemory is the heap at which the garbage collector of a crawl works
// harder instead of letting it grow. The store's mapped files come on top, 64 MiB
// and some 100 more for a moment; the whole is to stay below 512 MiB. A broad crawl has
// about 180 MiB in use, more while the store compacts; collection is a third of its
// processor time then. With 320 here and a scorer that remembered half as much again,
// 525 MiB were resident at the peak.
const crawlMemory = 288 << 20

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
