// Package store keeps a crawl on disk in one Badger database: pages, bodies, the history of every
// URL and the state of every host.
//
// In: a Batch for each group of finished exchanges, committed atomically. Out: pages by number, by
// URL or in crawl order.
//
// A kill at any instant leaves either all that follows from an exchange or nothing of it.
// Discovery, place in the queue, visits and outcome of a URL are separate small records, written
// without a prior read. docs/store.md lists the keys and says when they are synced. The store
// knows nothing of scores or topics. Readers may run beside the one Batch; a second process is
// refused.
//
// Start with Create or Open. Files: store.go opens and closes; record.go records and keys;
// batch.go writes; read.go and urls.go read; exchange.go exchanges for no queued URL, and
// compression; near.go near-duplicates; mark.go marks, ranks and other small records; forget.go
// forgetting pages on their owners' request, and compaction; wire.go headers of exchanges; resource.go what rendered
// pages are made of.
//
// Crawls by several agents: outbox.go messages between agents; replica.go replicas and snapshots.
// Performance: seen.go Bloom filters; upkeep.go syncing, memory and disk space. verify.go and
// verifypages.go check the invariants; repair.go mends violations.
package store
