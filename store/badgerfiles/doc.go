// Package badgerfiles holds what fossick knows of Badger beyond its promises: the formats and names
// of its files, where it maps them, and the texts of its errors.
//
// In: a folder and Badger's options. Out: a Database, which is Badger's with memory given back, logs
// synced without a lock, and an end to endless retries. OpenToRead is for readers, Mend for damaged
// databases.
//
// It knows one version of Badger. A build with another one, or with plain, runs without all this:
// Badger then maps what it likes, and GOMEMLIMIT bounds the heap alone. So a new Badger fails a test
// of this package, and no store.
//
// Files: database.go opening, committing, closing, disk failures; lock.go the lock, and views for
// readers; check.go what is damaged; mend.go repair, merging of tables; manifest.go, tables.go,
// logs.go the formats; reached.go how far commits came; trim_linux.go memory given back.
package badgerfiles
