// Package export takes the pages of a collection to what others read.
//
// In: pages as a stream, in order. Out: each page to every Sink, which turns it into one
// format. One pass serves all formats. Each sink has a goroutine of its own behind a short
// queue, so the slowest sets the pace and memory stays bounded.
//
// It knows no store and no format: those are in the rooms below it. The same pages give the
// same bytes: nothing in a file depends on the clock, on goroutines or on the order of maps.
// docs/export.md has the design.
//
// Start with Run.
//
// Files: sink.go what a format is; run.go the pass.
package export
