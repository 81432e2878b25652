// Package badgerfiles is what fossick knows of Badger that Badger does not
// promise. That is its manifest, the ends of its tables, the names of its
// files, where it maps them, and what its errors say. No other package does.
//
// In: a folder and Badger's options. Out: a Database, which is Badger's own with memory
// given back and logs synced without a lock. What Badger would try for ever has an end.
// OpenToRead is for what only reads, Mend for a database that is damaged.
//
// It knows one version of Badger (version.go). A build with another one, or with plain,
// runs without all this: Badger then maps what it likes, and GOMEMLIMIT bounds the heap
// alone. So a new Badger fails a test of this package, and no store.
//
// Start with Open. Files: database.go opening, committing and closing, lock.go
// who may. check.go, checklogs.go and list.go what is damaged, watch.go what is
// damaged later, mend.go what is made of it, view.go that for readers.
// complaints.go what Badger says of the disk; manifest.go, tables.go, blocks.go
// and entries.go what stands in its files; logs.go their names. reached.go how
// far commits came, salvage.go what the value log has of those that are lost;
// levels.go which tables are in use. lend.go transactions for who must not
// wait; trim_linux.go memory given back.
package badgerfiles
