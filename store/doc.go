// Package store keeps a crawl on disk: pages, bodies, the life of every URL and the state of every
// host, in one Badger database.
//
// In: a Batch for each group of finished exchanges, committed atomically. Out: the same by number,
// by URL or in the order of the crawl.
//
// A kill at any instant leaves either all that follows from an exchange or nothing of it. Records
// are small and written without a read before. A URL's discovery, its place in the queue, its visits
// and its outcome are records of their own. docs/store.md has the keys, and when they are synced.
// The store knows nothing of scores or topics. Readers may run beside the one Batch; a second
// process is refused.
//
// Start with Create or Open. Files: store.go opens and closes; record.go records and keys; batch.go
// writes; read.go and urls.go read; exchange.go exchanges for no URL, and bodies' compression;
// near.go near-duplicates; mark.go marks, ranks and other small records; forget.go pages whose
// owners want them gone, and compaction; wire.go headers of exchanges.
//
// Crawls by several agents: outbox.go what agents tell each other; replica.go copies of a store
// elsewhere, and snapshots. Performance: seen.go filters before the seen-set; upkeep.go syncing,
// memory and disk space. verify.go and verifypages.go have the invariants, repair.go what is made of
// a breach.
package store
