// Package store keeps a crawl on disk: pages, bodies, the life of every URL and
// the state of every host, in one Badger database.
//
// In: a Batch for each group of finished exchanges, committed atomically. Out:
// the same by number, by URL or in the order of the crawl.
//
// What belongs together is written together, so a kill at any instant leaves
// either all that follows from an exchange or nothing of it. Records are small
// and written blind (no read before a write): a URL's birth, its place in the
// queue, its visits and its fate are records of their own. docs/store.md has
// the keys, and what is synced to disk when.
//
// The store knows nothing of scores or topics: it keeps what it is given.
// Readers may run beside the one Batch; a second process is refused.
//
// Start with Create or Open. Files: store.go open and close; key.go the keys;
// record.go the records; batch.go writing, compress.go bodies; read.go and waiters.go reading;
// filter.go and seen.go filters before the seen-set and what pages are compared by;
// lately.go what was asked of it last; sync.go what is done beside the writer; disk.go
// whether the disk and the folder are still good for it, room.go free space;
// options.go the database's settings; mend.go stores that are damaged; snapshot.go
// a copy of one moment, for readers of a store that is written to; life.go
// one URL's whole story; exchange.go exchanges that are for no URL, and all visits;
// near.go the index of near-duplicates; mark.go what people say of pages; rank.go
// ranks; foreign.go what is no store of ours, infofile.go what a store
// says of itself beside its database; verify.go,
// idset.go, verifyurls.go, verifypages.go, verifyhosts.go, verifynear.go, verifymarks.go and
// verifyranks.go the invariants; findings.go, repair.go and renumber.go what is made of a breach.
package store
