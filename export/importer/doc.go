// Package importer makes a store of pages that others have collected.
//
// In: a set of pages: a web archive, saved pages, a table, a corpus. Out: a store as a crawl
// of them would have left it, with the times at which they were fetched, so that whatever
// reads a store reads it.
//
// It is the crawl engine itself that runs, with one worker and no rests. Its start pages are
// the set's pages in order, its web is the set, read once more from the front, and no link
// leads anywhere else.
//
// Files: importer.go Run; web.go the set as a web; labels.go its labels.
package importer
