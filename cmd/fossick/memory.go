package main

import (
	"os"
	"runtime/debug"
)

// crawlMemory is the heap at which the garbage collector of a crawl works
// harder instead of letting it grow. The store's mapped files come on top; the
// whole stays below 512 MiB.
const crawlMemory = 256 << 20

// limitMemory holds a crawl to crawlMemory, unless GOMEMLIMIT says otherwise.
func limitMemory() (restore func()) {
	if os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetMemoryLimit(crawlMemory)
	return func() { debug.SetMemoryLimit(before) }
}
