// Package store keeps a crawl on disk: pages, bodies, the life of every URL and
// the state of every host, in one Badger database.
//
// In: a Batch for each group of finished exchanges, committed atomically. Out:
// the same by number, by URL or in the order of the crawl.
//
// What belongs together is written together, so a kill at any instant leaves either all
// that follows from an exchange or nothing of it. Records are small and written blind
// (no read before a write). A URL's birth, its place in the queue, its visits and its
// fate are records of their own. docs/store.md has the keys, and what is synced to disk
// when.
//
// The store knows nothing of scores or topics: it keeps what it is given.
// Readers may run beside the one Batch; a second process is refused.
//
// Start with Create or Open. Files: store.go opens and closes, options.go has the database's
// settings, key.go the keys, record.go the records. batch.go writes, compress.go packs
// bodies, read.go reads.
//
// urls.go has a URL from its discovery to its end, life.go its whole story, known.go all
// URLs and pages in one pass, exchange.go exchanges that are for no URL. near.go and
// nearindex.go find near-duplicates, rank.go has ranks, mark.go what people say of pages.
// refresh.go has pages that changed, versions.go their former bodies, history.go and rounds.go visits to them, forget.go
// pages whose owners want them gone. wire.go has headers of exchanges; wirepack.go and
// wiredict.go are how these are packed.
//
// Of crawls by several agents: duplicates.go has pages that others have too, addresses.go
// sites of several agents at one address. outbox.go has what is for other agents, spans.go
// between which numbers, replica.go what follows a store elsewhere.
//
// filter.go and seen.go are before the seen-set and before what pages are compared by;
// lately.go remembers what was asked last. sync.go does what is done beside the writer.
// disk.go watches the disk and the folder, room.go free space.
//
// snapshot.go copies one moment for readers of a store that is written to. mend.go
// opens stores that are damaged, compact.go gives space back, foreign.go tells what is
// no store of ours. infofile.go has what a store says of itself beside its database.
//
// verify.go and the files that begin with verify have the invariants; findings.go,
// repair.go and renumber.go what is made of a breach.
package store
