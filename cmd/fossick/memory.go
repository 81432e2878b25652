package main

import (
	"os"
	"runtime/debug"
)

// crawlMemory is the heap at which the garbage collector of a crawl works
// harder instead of letting it grow. The store's mapped files come on top, 64 MiB, the
// program's own 27 among them, and some 50 more for a moment; the heap itself came to 277.
// The whole is to stay below 512 MiB. A broad crawl has
// about 170 MiB in use after a million pages, 100 more while the store compacts; collection is a
// third of its processor time then. With 288 here and a scorer that remembered a fifth
// more targets and twice the fetched pages, 521 and 599 MiB were resident at the peaks.
const crawlMemory = 272 << 20

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
