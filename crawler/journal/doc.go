// Package journal is what the engine of a crawl needs of a store, as an interface.
//
// In: the results of each exchange, in batches. Out: the records of a URL, a host or a
// page's content. The engine writes every decision here before it acts on it, and a resumed
// crawl starts from these records.
//
// Three promises hold for every Journal; the conformance test asks each of them.
//
//   - Atomicity. A batch is stored whole or not at all, whatever kills the process.
//   - Durability. A commit without an error survives the process, except in Memory.
//   - Visibility and order. A batch reads its own writes. Other readers see it once Commit
//     has returned, and never without the batches committed before it. They must not rely
//     on seeing, or not seeing, the changes of an open batch.
//
// One goroutine writes, with one batch open at a time. The reads of Journal are safe
// for concurrent use beside it.
//
// The records are those of package store, byte for byte as the crawl's users read them. Data
// that only these users need (lives of URLs, marks, bodies of pages) is left to the store.
// Memory exists because virtual crawls of 2,000 pages of Wikispeedia took 44 s of processor
// time with Badger on a RAM disk, and 35 s with Memory.
//
// Start with Journal, then Batch.
//
// Files: journal.go the interfaces; disk.go a store; memory.go a crawl that is not resumed.
package journal
