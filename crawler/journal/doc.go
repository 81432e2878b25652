// Package journal is what the engine of a crawl needs of a store, as an interface.
//
// In: what follows from each exchange, in batches. Out: what was known of a URL, a host
// or a page's content. The engine writes down every decision here before it shows in its
// memory to anybody else, and a crawl that is resumed begins with what is here.
//
// Three promises hold for every Journal; the conformance test asks each of them.
//
//   - Atomicity. All of a batch is there or nothing of it, whatever kills the process.
//   - Durability. What Commit returned without an error outlives the process, where
//     the journal does: Memory does not.
//   - Visibility and order. A batch reads what it wrote. For all others it is there once
//     Commit has returned, and never without the batches that were committed before it.
//     Beside an open batch its changes may show early or not: nobody relies on either.
//
// One goroutine writes, with one batch open at a time. The reads of Journal are safe
// for concurrent use beside it.
//
// The records are those of package store: they are what a crawl's users read, byte for
// byte. It leaves to the store what only they ask for: lives of URLs, marks, the bodies
// of pages. Start with Journal, then Batch.
//
// Files: journal.go the interfaces; disk.go a store; places.go what it remembers of the
// queue; memory.go, memorybatch.go and urls.go a crawl that nobody resumes.
package journal
